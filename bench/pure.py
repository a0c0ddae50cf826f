"""Signatures in straightforward Python: what the kernels are measured against.

Same results, bit for bit. Python integers and sets, each shingle hashed once.
"""

from functools import cache

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
