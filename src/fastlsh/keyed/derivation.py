"""What is derived from a key, by BLAKE2b: docs/signature-spec.md, section 11."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Functions = tuple[NDArray[np.uint32], NDArray[np.uint32]]

SUMMANDS = 256 + 255 + 16
"""For each byte of a code point, the lowest first; 0 adds nothing in the upper two."""


def root_of(secret: bytes) -> bytes:
    """Return the 64 bytes that all else is derived from."""
    return blake2b(secret, digest_size=64, person=b"fastlsh root").digest()


def fingerprint_of(root: bytes) -> str:
    """Return what tells keys apart and may be known to all: 32 hexadecimal digits."""
    return blake2b(key=root, digest_size=16, person=b"fastlsh public").hexdigest()


def numbers(root: bytes, purpose: bytes, count: int, message: bytes = b"") -> NDArray[np.uint64]:
    """Return so many 64-bit numbers for a purpose, of at most 16 bytes."""
    blocks = (
        blake2b(message + i.to_bytes(8, "little"), key=root, person=purpose).digest()
        for i in range(-(-count // 8))
    )
    return np.frombuffer(b"".join(blocks), "<u8")[:count].astype(np.uint64)


def shingle_secret(root: bytes) -> NDArray[np.uint64]:
    """Return what `ShinglePlan` wants, uint64 (531,)."""
    add, first, second = numbers(root, b"fastlsh mixer", 3).tolist()
    head = np.array([_modulus(root), add, first | 1, second | 1], np.uint64)
    return np.concatenate([head, numbers(root, b"fastlsh summands", SUMMANDS)])


def coefficients(root: bytes, count: int, seed: int) -> Functions:
    """Return a and b of so many functions a * x + b mod 2^32, a odd."""
    drawn = numbers(root, b"fastlsh permute", count, seed.to_bytes(8, "little"))
    return drawn.astype(np.uint32) | np.uint32(1), (drawn >> np.uint64(32)).astype(np.uint32)


def _modulus(root: bytes) -> int:
    """Return the lower 64 terms of an irreducible polynomial over GF(2) of degree 64."""
    tried = 0
    while True:
        # One odd number in 32 will do.
        some = numbers(root, b"fastlsh modulus", tried + 64)[tried:].tolist()
        for number in some:
            if is_irreducible(1 << 64 | number):
                return int(number)
        tried += 64


def is_irreducible(polynomial: int) -> bool:
    """Tell whether a polynomial over GF(2), of degree 2 or more, has no factors (Ben-Or 1981)."""
    if not polynomial & 1 or not polynomial.bit_count() & 1:
        return False  # x or x + 1 is a factor
    power = 2  # x
    for _ in range((polynomial.bit_length() - 1) // 2):
        square = int(f"{power:b}", 4)  # digits 0 and 1 in base 4: a zero after each bit
        power = _remainder(square, polynomial)
        if _gcd(polynomial, power ^ 2) != 1:
            return False
    return True


def _remainder(a: int, b: int) -> int:
    length = b.bit_length()
    while (more := a.bit_length() - length) >= 0:
        a ^= b << more
    return a


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, _remainder(a, b)
    return a
