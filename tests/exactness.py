"""Compares hash values with those of the installed datasketch: ``python tests/exactness.py``.

Random documents of every scheme, through the default hash and as ready hashes; for "legacy" also
documents that are made against the 32-bit filter. Exits with 1 at the first difference.
"""

import argparse
import random
import sys

import datasketch
import numpy as np

from fastlsh import _kernels
from fastlsh.compat import datasketch as ours

SCHEMES = ("affine32", "affine64", "legacy")
NUM_PERMS = (128, 128, 128, 1, 17, 64, 100, 256)
CHUNK = 1000


def ready(element):
    return element


def tokens(draw):
    """Return documents of tokens of all lengths around SHA-1's blocks; some repeat tokens."""
    words = [draw.randbytes(draw.choice((1, 4, 8, 12, 20, 55, 56, 64, 70))) for _ in range(500)]
    return [draw.choices(words, k=int(draw.expovariate(1 / 20))) for _ in range(CHUNK)]


def hashes(draw, scheme):
    """Return documents of element hashes of the scheme's width."""
    numbers = np.random.default_rng(draw.getrandbits(64))
    dtype = np.uint32 if scheme == "affine32" else np.uint64
    top = 2**64 if scheme == "affine64" or draw.random() < 0.5 else 2**32
    lengths = [int(draw.expovariate(1 / 40)) for _ in range(CHUNK)]
    return [numbers.integers(0, top, n, np.uint64).astype(dtype) for n in lengths]


def against_filter(draw, num_perm, seed):
    """Return documents whose t = a * h + b mod 2^64 has edge values for a function of odd a.

    Low halves next to 0 and 2^32, where adding wraps around; and remainders next to 2^61 - 1,
    where the carry counts.
    """
    a, b = datasketch.MinHash(num_perm, seed, scheme="legacy").permutations
    odd = [j for j in range(num_perm) if a[j] & np.uint64(1)]
    documents = []
    for _ in range(CHUNK if odd else 0):
        j = draw.choice(odd)
        inverse = pow(int(a[j]), -1, 2**64)
        document = []
        for _ in range(draw.choice((1, 3, 17, 33, 64, 100, 300))):
            low = draw.choice((draw.randrange(24), 2**32 - 1 - draw.randrange(24), 2**31))
            t = draw.choice((0, 0, draw.getrandbits(29), 2**29 - 1)) << 32 | low
            t |= draw.randrange(8) << 61
            document.append((t - int(b[j])) * inverse % 2**64)
        documents.append(np.array(document, np.uint64))
    return documents


def differences(documents, **how):
    """Return how many MinHash of these documents differ."""
    theirs = datasketch.MinHash.bulk(documents, **how)
    mine = ours.MinHash.bulk(documents, **how)
    assert len(theirs) == len(mine) == len(documents)
    return sum(
        t.hashvalues.dtype != m.hashvalues.dtype or not np.array_equal(t.hashvalues, m.hashvalues)
        for t, m in zip(theirs, mine, strict=True)
    )


def compare(documents, first=0):
    """Compare so many random documents with each scheme; return how many were, and differed."""
    compared = differing = 0
    chunks = -(-documents // CHUNK)
    for number in range(first, first + chunks):
        draw = random.Random(number)
        for scheme in SCHEMES:
            how = {
                "num_perm": draw.choice(NUM_PERMS), "seed": draw.getrandbits(32), "scheme": scheme,
            }  # fmt: skip
            parts = [
                (tokens(draw)[: CHUNK // 2], {}),
                (hashes(draw, scheme)[: CHUNK // 2], {"hashfunc": ready}),
            ]
            if scheme == "legacy":
                made = against_filter(draw, how["num_perm"], how["seed"])[: CHUNK // 10]
                parts.append((made, {"hashfunc": ready}))
            for part, more in parts:
                compared += len(part)
                differing += differences(part, **how, **more)
        if differing:
            break
        if number % 50 == 49:
            print(f"{compared:,} compared, {differing} differ", flush=True)
    return compared, differing


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000, help="of each scheme")
    parser.add_argument("--first", type=int, default=0, help="number of the first thousand")
    options = parser.parse_args()
    compared, differing = compare(options.documents, options.first)
    print(
        f"{compared:,} MinHash of {len(SCHEMES)} schemes compared with datasketch "
        f"{datasketch.__version__} ({_kernels.isa}): {differing} differ"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
