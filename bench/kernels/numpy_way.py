"""From signatures to candidate pairs in plain NumPy, the best way that we found.

Keys by one multiplication for each 64 bits and a sum (multilinear hashing) in blocks that stay in
the cache; 44 bits of the key packed with the row's number into one uint64, sorted in place; equal
neighbours at distance 1, 2, ...; all pairs sorted and made unique; at last compared by value.
"""

import numpy as np
from numpy.typing import NDArray

import fastlsh

BANDS = fastlsh.LSHParams(21, 6)


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
