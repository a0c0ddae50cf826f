"""The whole of fastlsh in straightforward Python: what the kernels are measured against.

Same results, bit for bit. Python integers, sets and dictionaries, each shingle hashed once.
"""

from collections import defaultdict
from functools import cache
from itertools import combinations

import numpy as np

M32 = 2**32 - 1
M64 = 2**64 - 1
BASE = 0x243F6A8885A308D5
UNITS = 0x6A09E667F3BCC909


def fmix32(h: int) -> int:
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


def fmix64(h: int) -> int:
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
    return h ^ h >> 33


@cache
def mix(character: str) -> int:
    h = (ord(character) + 1) * 0x9E3779B97F4A7C15 & M64
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & M64
    return h ^ h >> 32


def shingles(text: str, size: int = 9) -> set[str]:
    """Return the distinct shingles."""
    if not text:
        return set()
    return {text[i : i + size] for i in range(max(len(text) - size, 0) + 1)}


def shingle_hash(shingle: str) -> int:
    """Return the 64-bit hash of one shingle."""
    h = 0
    for character in shingle:
        h = (h * BASE + mix(character)) & M64
    return fmix64((h + len(shingle) * UNITS) & M64)


def element(h: int) -> int:
    """Return the 32-bit element that a 64-bit hash stands for: lo ^ fmix32(hi)."""
    return (h & M32) ^ fmix32(h >> 32)


def coefficients(num_perm: int = 128, seed: int = 1) -> list[tuple[int, int]]:
    """Return (a, b) of each hash function."""
    draw = np.random.RandomState(seed)
    half = draw.randint(0, 2**31, num_perm, np.uint32).tolist()
    b = draw.randint(0, 2**32, num_perm, np.uint32).tolist()
    return [(2 * a + 1, b) for a, b in zip(half, b, strict=True)]


FUNCTIONS = coefficients()


def signature(text: str) -> list[int]:
    """Return the minima over a text's shingles."""
    xs = [fmix32(element(shingle_hash(shingle))) for shingle in shingles(text)]
    if not xs:
        return [M32] * len(FUNCTIONS)
    return [min([(a * x + b) & M32 for x in xs]) for a, b in FUNCTIONS]


def near_duplicates(
    texts: list[str], threshold: float, bands: int, rows: int
) -> list[tuple[int, int, float]]:
    """Return the verified pairs (left, right, similarity), sorted."""
    buckets: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for d, text in enumerate(texts):
        if text:
            row = signature(text)
            for band in range(bands):
                buckets[(band, *row[band * rows : (band + 1) * rows])].append(d)
    candidates = {pair for bucket in buckets.values() for pair in combinations(bucket, 2)}
    sets = {d: shingles(texts[d]) for pair in candidates for d in pair}
    found = []
    for left, right in sorted(candidates):
        shared = len(sets[left] & sets[right])
        similarity = shared / (len(sets[left]) + len(sets[right]) - shared)
        if similarity >= threshold:
            found.append((left, right, similarity))
    return found
