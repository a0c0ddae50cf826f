"""From signatures to candidate pairs, against the best way in plain NumPy.

Signatures of 128 values, 21 bands of 6, one in ten a planted near-duplicate (Jaccard similarity
0.7 to 1) of an earlier one. Both sides make their band keys and return each pair once, sorted;
the results are asserted to be equal. NumPy's side: keys by one multiplication for each 64 bits
and a sum (multilinear hashing) in blocks that stay in the cache; 44 bits of the key packed with
the row's number into one uint64, sorted in place; equal neighbours at distance 1, 2, ...; all
pairs sorted and made unique; at last compared by value. Where NumPy sorts by AVX-512 it is at its
best; NPY_DISABLE_CPU_FEATURES takes that away, FASTLSH_ISA takes it away from fastlsh.

Memory: the peak of a process of its own, above the signatures; the result, 24 bytes a pair, not
counted. Then the similarities of ready things: estimates from signatures, and exact ones of 400
pairs of sets of 500, 25 times over.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.pipelines.scale import peak_bytes
from fastlsh import _kernels

BANDS = fastlsh.LSHParams(21, 6)
NUM_PERM = 128
SHARE = 0.1
ROUNDS = 25
"""So many times over, for one round of sets is too short to be timed."""


def planted(n: int, seed: int = 0) -> NDArray[np.uint32]:
    """Return n signatures, one in ten a near-duplicate of an earlier one."""
    rng = np.random.default_rng(seed)
    signatures = rng.integers(0, 2**32, (n, NUM_PERM), dtype=np.uint32)
    copies = np.sort(rng.choice(np.arange(n // 2, n), int(SHARE * n), replace=False))
    origins = rng.integers(0, copies)
    for start in range(0, len(copies), 1 << 15):
        ours = copies[start : start + (1 << 15)]
        theirs = origins[start : start + (1 << 15)]
        equal = rng.random((len(ours), NUM_PERM)) < rng.uniform(0.7, 1.0, (len(ours), 1))
        signatures[ours] = np.where(equal, signatures[theirs], signatures[ours])
    return signatures


# ---- NumPy's side


def numpy_keys(signatures: NDArray[np.uint32], block: int = 1024) -> NDArray[np.uint64]:
    """Return keys of each band, uint64 (bands, n), even in their high bits."""
    half = BANDS.rows // 2
    odd = np.random.default_rng(1).integers(0, 2**64, BANDS.bands * half, np.uint64) | np.uint64(1)
    words = signatures.view(np.uint64)[:, : BANDS.bands * half]
    keys = np.empty((BANDS.bands, len(signatures)), np.uint64)
    for start in range(0, len(signatures), block):
        products = (words[start : start + block] * odd).reshape(-1, BANDS.bands, half)
        total = products[:, :, 0].copy()
        for i in range(1, half):
            total += products[:, :, i]
        keys[:, start : start + block] = total.T
    return keys


def numpy_pairs(signatures: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the pairs, left * 2**32 + right, ascending."""
    n = len(signatures)
    bits = np.uint64((n - 1).bit_length())
    low = np.uint64((1 << int(bits)) - 1)
    numbers = np.arange(n, dtype=np.uint64)
    found = []
    for key in numpy_keys(signatures):
        key &= ~low
        key |= numbers
        key.sort()
        tops = key >> bits
        at = np.flatnonzero(tops[1:] == tops[:-1])
        distance = 1
        while len(at):
            found.append((key[at] & low) << np.uint64(32) | (key[at + distance] & low))
            distance += 1
            at = at[at + distance < n]
            at = at[tops[at] == tops[at + distance]]
    pairs = np.concatenate(found)
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    left = (pairs >> np.uint64(32)).astype(np.int64)
    right = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    met = np.empty(len(pairs), np.bool_)
    for start in range(0, len(pairs), 4096):
        part = slice(start, start + 4096)
        equal = signatures[left[part]] == signatures[right[part]]
        equal = equal[:, : BANDS.bands * BANDS.rows].reshape(-1, BANDS.bands, BANDS.rows)
        met[part] = equal.all(axis=2).any(axis=1)
    result: NDArray[np.uint64] = pairs[met]
    return result


# ---- the comparison


def against_numpy(n: int, count: int) -> dict[str, Any]:
    """Compare one and two threads with NumPy: ratios of times."""
    signatures = planted(n)
    found = fastlsh.candidate_pairs(signatures, BANDS)
    pairs = found.left.astype(np.uint64) << np.uint64(32) | found.right.astype(np.uint64)
    assert np.array_equal(pairs, numpy_pairs(signatures))
    work: dict[str, Callable[[], Any]] = {"numpy": partial(numpy_pairs, signatures)}
    for threads in (1, 2):
        work[f"threads {threads}"] = partial(
            fastlsh.candidate_pairs, signatures, BANDS, threads=threads
        )
    times = common.interleave(work, count)
    return {
        "documents": n,
        "pairs": len(pairs),
        "seconds, numpy": common.summary(times["numpy"]),
        "seconds, one thread": common.summary(times["threads 1"]),
        "one thread / numpy": common.ratio(times["threads 1"], times["numpy"]),
        "two threads / numpy": common.ratio(times["threads 2"], times["numpy"]),
        "speed of two threads / one": common.ratio(times["threads 1"], times["threads 2"]),
    }


def similarities(quick: bool, count: int) -> dict[str, Any]:
    """Time estimates (Python included) and exact similarities of ready sets; million pairs/s."""
    rng = np.random.default_rng(2)
    m = 10_000 if quick else 500_000
    signatures = rng.integers(0, 2**32, (1000, NUM_PERM), dtype=np.uint32)
    left, right = rng.integers(0, 1000, (2, m))
    work: dict[str, Callable[[], Any]] = {
        "estimate, k = 128": partial(fastlsh.estimate_jaccard, signatures, (left, right), threads=1)
    }
    pairs = dict.fromkeys(work, m)
    for similarity in (0.05, 0.8):
        for threshold in (0.0, 0.8):
            for sketched in (False, True):
                name = f"exact, J = {similarity}, threshold {threshold}"
                name += ", sketched" if sketched else ""
                pairs[name] = 40 if quick else 400
                work[name] = ready_sets(rng, similarity, threshold, pairs[name], sketched)
                pairs[name] *= ROUNDS
    times = common.interleave(work, count)
    return {
        name: common.summary(pairs[name] / seconds / 1e6 for seconds in times[name])
        for name in work
    }


def ready_sets(
    rng: np.random.Generator,
    similarity: float,
    threshold: float,
    pairs: int,
    sketched: bool,
    size: int = 500,
) -> Callable[[], Any]:
    """Return the comparison of so many pairs of sets of 64-bit hashes, of this similarity."""
    shared = round(2 * size * similarity / (1 + similarity))
    texts = []
    for _ in range(pairs):  # texts of single characters: the sets can be chosen
        drawn = [chr(c) for c in rng.choice(0x100000, 2 * size - shared, replace=False) + 0x10000]
        texts += ["".join(drawn[:size]), "".join(drawn[size - shared :])]
    sizes = np.full(2 * pairs, size)
    room = np.empty_like(sizes)
    _kernels.sketch_room(sizes, room)
    start = np.concatenate([[0], np.cumsum(sizes + room)])
    hashes = np.zeros(start[-1], np.uint64)
    spans = _kernels.spans_of_list(texts)
    _kernels.shingle_sets(
        spans, None, _kernels.CHARACTERS, 1, hashes, start, sizes, sketched=sketched
    )
    left = np.tile(np.arange(0, 2 * pairs, 2), ROUNDS)
    out = np.empty(len(left))
    call = partial(
        _kernels.set_jaccard, hashes, start[:-1], sizes, left, left + 1, threshold, out,
        sketched=sketched,
    )  # fmt: skip
    call()
    exact = shared / (2 * size - shared)
    assert (out == (exact if exact >= threshold else -1.0)).all()
    return call


# ---- in processes of their own


def switched_off(instruction_set: str) -> str:
    """Return what NumPy must not use to be limited to this instruction set, too."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    wide = [name for name in found if "512" in name or name == "X86_V4"]
    return " ".join({"avx512": [], "avx2": wide}.get(instruction_set, found))


def child(options: argparse.Namespace) -> dict[str, Any]:
    """Do one part, as this process was told."""
    if options.child == "memory":
        signatures = np.load(options.signatures)
        fastlsh.candidate_pairs(signatures[:1000], BANDS, threads=options.threads)
        before = peak_bytes()
        pairs = len(fastlsh.candidate_pairs(signatures, BANDS, threads=options.threads))
        return {"bytes": (peak_bytes() - before - 24 * pairs) / len(signatures)}
    count = common.rounds(options)
    return {
        "candidates": against_numpy(50_000 if options.quick else 1_000_000, count),
        "million pairs/s": similarities(options.quick, count),
    }


def start(options: argparse.Namespace, *words: str, **environment: str) -> dict[str, Any]:
    """Run this program as a child; return what it prints."""
    command = common.module_command(
        "kernels.candidates", *words, *(["--quick"] if options.quick else [])
    )
    command += [f"--repeats={common.rounds(options)}"]
    done = subprocess.run(
        command, env={**os.environ, **environment}, cwd=common.ROOT,
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Return the bytes a document that `candidate_pairs` takes, by threads."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "signatures.npy"
        np.save(path, planted(50_000 if options.quick else 1_000_000))
        return {
            f"threads {n}": common.significant(
                start(options, "--child=memory", f"--signatures={path}", f"--threads={n}")["bytes"]
            )
            for n in (1, 2)
        }


def main() -> None:
    """Measure and write results/candidates.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--child", choices=("times", "memory"), help=argparse.SUPPRESS)
    parser.add_argument("--signatures", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options)))
        return
    results: dict[str, Any] = {
        name: start(
            options, "--child=times", FASTLSH_ISA=name,
            NPY_DISABLE_CPU_FEATURES=switched_off(name),
        )
        for name in reversed(_kernels.instruction_sets())
    }  # fmt: skip
    results["bytes a document besides signatures and result"] = memory(options)
    common.write("candidates", options, results)


if __name__ == "__main__":
    main()
