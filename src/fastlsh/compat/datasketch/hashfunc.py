"""The hash functions that sketches use by default."""

from collections.abc import Callable
from hashlib import sha1
from struct import Struct
from typing import Any

from numpy.typing import NDArray

HashFunction = Callable[[Any], Any]

WORD32, WORD64 = Struct("<I"), Struct("<Q")


def sha1_hash32(data: Any) -> int:
    """Return the first four bytes of the SHA-1 digest as a little-endian number.

    Parameters
    ----------
    data
        bytes, or whatever offers its bytes as a buffer.
    """
    number: int = WORD32.unpack_from(sha1(data, usedforsecurity=False).digest())[0]
    return number


def sha1_hash64(data: Any) -> int:
    """Return the first eight bytes of the SHA-1 digest, likewise."""
    number: int = WORD64.unpack_from(sha1(data, usedforsecurity=False).digest())[0]
    return number


def fmix(values: NDArray[Any], width: int) -> NDArray[Any]:
    """Mix hashes by MurmurHash3's finaliser, which "affine32" and "affine64" do to each.

    Parameters
    ----------
    values
        uint32 for the width 32, uint64 for 64.
    """
    shifts, factors = FMIX[width]
    kind = values.dtype.type
    for shift, factor in zip(shifts, factors, strict=True):
        values = (values ^ values >> kind(shift)) * kind(factor)
    mixed: NDArray[Any] = values ^ values >> kind(shifts[0])
    return mixed


FMIX = {
    32: ((16, 13), (0x85EBCA6B, 0xC2B2AE35)),
    64: ((33, 33), (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)),
}

DEFAULT_HASHFUNC: dict[str, HashFunction] = {
    "affine32": sha1_hash32,
    "affine64": sha1_hash64,
    "legacy": sha1_hash32,
}
