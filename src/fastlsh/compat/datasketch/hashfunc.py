"""The hash functions that sketches use by default."""

from collections.abc import Callable
from hashlib import sha1
from typing import Any

HashFunction = Callable[[Any], Any]


def sha1_hash32(data: Any) -> int:
    """Return the first four bytes of the SHA-1 digest as a little-endian number.

    Parameters
    ----------
    data
        bytes, or whatever offers its bytes as a buffer.
    """
    return int.from_bytes(sha1(data, usedforsecurity=False).digest()[:4], "little")


def sha1_hash64(data: Any) -> int:
    """Return the first eight bytes of the SHA-1 digest as a little-endian number.

    Parameters
    ----------
    data
        bytes, or whatever offers its bytes as a buffer.
    """
    return int.from_bytes(sha1(data, usedforsecurity=False).digest()[:8], "little")


DEFAULT_HASHFUNC: dict[str, HashFunction] = {
    "affine32": sha1_hash32,
    "affine64": sha1_hash64,
    "legacy": sha1_hash32,
}
