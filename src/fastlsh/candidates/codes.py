"""Pairs as numbers by which they sort."""

import numpy as np
from numpy.typing import NDArray

CodedPairs = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Pairs as numbers, and their similarity."""


def pair_codes(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each pair as one number, by which pairs sort: lesser * 2^32 + greater."""
    return (np.minimum(a, b) << 32) | np.maximum(a, b)


def split_codes(code: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of `pair_codes`: (lesser, greater)."""
    return code >> 32, code & 0xFFFFFFFF
