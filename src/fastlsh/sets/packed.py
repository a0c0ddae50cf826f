"""Signatures of a few bits for each minimum: to be stored, and to estimate similarities from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.candidates import check_signatures
from fastlsh.parallel import batches
from fastlsh.sets.similarity import pair_arrays

VALUES = 1 << 22
"""Minima, or bytes of packed signatures, that are worked on at a time."""

LEAST_BITS = 64
"""Of a packed signature: so many distinguish an empty document, all ones, from others."""


def pack_signatures(signatures: NDArray[np.uint32], bits: int = 1) -> NDArray[np.uint8]:
    """Return signatures with only some bits of each minimum: 4, 8, 16 or 32 times smaller.

    b-bit minwise hashing (Li and König, WWW 2010). Each minimum is mixed first, so that its bits
    depend on all 32.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm), as `MinHasher.signatures` returns them.
    bits
        1, 2, 4 or 8, of each minimum.

    Returns
    -------
    ndarray of uint8, shape (n, ceil(num_perm * bits / 8))
        The minima in order, each byte filled from its least bits; docs/signature-spec.md,
        section 10. The row of an empty document is all ones.

    Raises
    ------
    TypeError, ValueError
        The array or `bits` are unsuitable, or a document would have fewer than 64 bits.

    Examples
    --------
    >>> from fastlsh import MinHasher
    >>> pack_signatures(MinHasher(128).signatures(["one text", "another one"])).shape
    (2, 16)
    """
    signatures = check_signatures(signatures)
    bits, num_perm = _check_width(bits, signatures.shape[1])
    lanes = 8 // bits
    packed = np.empty((len(signatures), -(-num_perm // lanes)), np.uint8)
    shifts = np.arange(lanes, dtype=np.uint8) * np.uint8(bits)
    for start, stop in batches(len(signatures), max(VALUES // num_perm, 1)):
        rows = signatures[start:stop]
        values = np.zeros((len(rows), packed.shape[1] * lanes), np.uint8)
        values[:, :num_perm] = _mixed(rows) & np.uint32((1 << bits) - 1)
        values <<= np.tile(shifts, packed.shape[1])
        packed[start:stop] = np.bitwise_or.reduce(values.reshape(len(rows), -1, lanes), axis=2)
        packed[start:stop][(rows == np.uint32(0xFFFFFFFF)).all(axis=1)] = 0xFF
    return packed


def estimate_jaccard_packed(
    packed: NDArray[np.uint8], pairs: Any, *, num_perm: int, bits: int = 1
) -> NDArray[np.float64]:
    """Return the estimated Jaccard similarity of each pair of packed signatures.

    A share of 2^-bits of the unequal minima agree by chance. If E is the share of minima that
    agree, the estimate is (E - 2^-bits) / (1 - 2^-bits). It is unbiased, so it can be below 0 for
    dissimilar documents.

    Parameters
    ----------
    packed
        uint8, as `pack_signatures` returns them, all from the same MinHasher.
    pairs
        `Pairs`, or a tuple (left, right) of integer arrays, or an array (m, 2).
    num_perm, bits
        Those that the signatures were made with.

    Returns
    -------
    ndarray of float64, shape (m,)
        The standard error is sqrt(E (1 - E) / num_perm) / (1 - 2^-bits). It is 0 for empty
        documents.

    Raises
    ------
    TypeError, ValueError, IndexError
        An array of another type or width, or pairs outside of it.

    Examples
    --------
    >>> from fastlsh import MinHasher
    >>> packed = pack_signatures(MinHasher(128).signatures(["one text", "one text"]))
    >>> estimate_jaccard_packed(packed, [(0, 1)], num_perm=128).tolist()
    [1.0]
    """
    bits, num_perm = _check_width(bits, check_integer(num_perm, "num_perm"))
    width = -(-num_perm * bits // 8)
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8:
        raise TypeError("packed must be an array of uint8, as pack_signatures returns it")
    if packed.ndim != 2 or packed.shape[1] != width:
        raise ValueError(
            f"packed has shape {packed.shape}: {num_perm} minima of {bits} bits take {width} bytes"
        )
    left, right = pair_arrays(pairs, len(packed))
    lanes = np.arange(256, dtype=np.uint16)[:, None] >> np.arange(0, 8, bits, dtype=np.uint16)
    unequal = ((lanes & ((1 << bits) - 1)) != 0).sum(axis=1).astype(np.uint8)  # by XOR of bytes
    out = np.empty(len(left))
    by_chance = 0.5**bits
    for start, stop in batches(len(left), max(VALUES // width, 1)):
        a, b = packed[left[start:stop]], packed[right[start:stop]]
        agreeing = 1.0 - unequal[a ^ b].sum(axis=1) / num_perm
        estimate = (agreeing - by_chance) / (1.0 - by_chance)
        estimate[(a == 0xFF).all(axis=1) | (b == 0xFF).all(axis=1)] = 0.0
        out[start:stop] = estimate
    return out


def _mixed(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return fmix32 of each value."""
    mixed = values ^ values >> np.uint32(16)
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    return mixed


def _check_width(bits: Any, num_perm: int) -> tuple[int, int]:
    bits = check_integer(bits, "bits")
    if 8 % bits:
        raise ValueError(f"bits must be 1, 2, 4 or 8, got {bits}")
    if num_perm * bits < LEAST_BITS:
        raise ValueError(
            f"{num_perm} minima of {bits} bits are too few to tell empty documents from others:"
            f" num_perm * bits must be at least {LEAST_BITS}"
        )
    return bits, num_perm
