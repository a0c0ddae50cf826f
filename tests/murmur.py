"""MurmurHash3 and its minima in slow and obvious Python."""

from functools import lru_cache

import numpy as np

M32 = 2**32 - 1
M64 = 2**64 - 1


def rotated(x, r, bits):
    return (x << r | x >> (bits - r)) & (1 << bits) - 1


@lru_cache(1 << 15)
def x86_32(key, seed):
    def mixed(block):
        word = int.from_bytes(block, "little") * 0xCC9E2D51 & M32
        return rotated(word, 15, 32) * 0x1B873593 & M32

    h = seed
    whole = len(key) - len(key) % 4
    for i in range(0, whole, 4):
        h = (rotated(h ^ mixed(key[i : i + 4]), 13, 32) * 5 + 0xE6546B64) & M32
    h ^= mixed(key[whole:]) ^ len(key)
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


@lru_cache(1 << 15)
def x64_128(key, seed):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F

    def first(block):
        return rotated(int.from_bytes(block, "little") * c1 & M64, 31, 64) * c2 & M64

    def second(block):
        return rotated(int.from_bytes(block, "little") * c2 & M64, 33, 64) * c1 & M64

    def finished(h):
        h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD & M64
        h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 & M64
        return h ^ h >> 33

    h1 = h2 = seed
    whole = len(key) - len(key) % 16
    for i in range(0, whole, 16):
        h1 = rotated(h1 ^ first(key[i : i + 8]), 27, 64)
        h1 = ((h1 + h2) * 5 + 0x52DCE729) & M64
        h2 = rotated(h2 ^ second(key[i + 8 : i + 16]), 31, 64)
        h2 = ((h2 + h1) * 5 + 0x38495AB5) & M64
    h1 ^= first(key[whole : whole + 8]) ^ len(key)
    h2 ^= second(key[whole + 8 :]) ^ len(key)
    h1 = (h1 + h2) & M64
    h2 = (h2 + h1) & M64
    h1, h2 = finished(h1), finished(h2)
    h1 = (h1 + h2) & M64
    return h1, (h2 + h1) & M64


def fingerprint(text, seeds, size, dtype, sentinel=False):
    """The least hash of each seed; x86_32 in the order of signed numbers."""
    short = len(text) < size
    if short and not text and not sentinel:
        return [int(np.iinfo(dtype).max)] * len(seeds)
    windows = {text[i : i + size] for i in range(len(text) - size + 1)}
    if short and not sentinel:
        windows = {text}
    if dtype is np.uint64:
        start = 2**63 - 1 if sentinel else M64
        return [min([start, *(x64_128(w, s)[0] for w in windows)]) for s in seeds]
    start = M32 if sentinel else 2**31 - 1
    hashes = [[start, *(x86_32(w, s) for w in windows)] for s in seeds]
    return [min(of_seed, key=lambda h: h - 2**32 if h >= 2**31 else h) for of_seed in hashes]
