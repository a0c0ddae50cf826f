"""datasketch's sketches in slow and obvious Python."""

import functools
import hashlib

import oracle

PRIME = 2**61 - 1


def sha1(token, width):
    return int.from_bytes(hashlib.sha1(token).digest()[: width // 8], "little")


def mix(h, width):
    """MurmurHash3's finaliser."""
    if width == 32:
        return oracle.fmix32(h)
    return oracle.fmix64(h)


def value(scheme, a, b, h):
    """Return the value of one function for one element hash."""
    if scheme in ("legacy", "prime61"):
        return (a * h + b) % 2**64 % PRIME % 2 ** (32 if scheme == "legacy" else 61)
    width = 32 if scheme == "affine32" else 64
    return (a * mix(h, width) + b) % 2**width


def minima(scheme, permutations, hashes):
    """Return the hash values of a set of element hashes."""
    functions = tuple(zip(*(map(int, row) for row in permutations), strict=True))
    return list(_minima(scheme, functions, tuple(map(int, hashes))))


@functools.lru_cache(2048)  # each is asked for with every instruction set
def _minima(scheme, functions, hashes):
    empty = 2**64 - 1 if scheme in ("affine64", "prime61") else 2**32 - 1
    return [min((value(scheme, a, b, h) for h in hashes), default=empty) for a, b in functions]
