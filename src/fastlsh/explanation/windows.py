"""Numbers for the shingles of two documents: equal ones for equal shingles, and for no others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = 2**63


def unit_numbers(a: Any, b: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the units of two documents, arrays of uint32 or lists of str, as numbers."""
    if isinstance(a, np.ndarray):
        return a.astype(np.int64), b.astype(np.int64)
    numbers: dict[str, int] = {}
    return _numbered(a, numbers), _numbered(b, numbers)


def _numbered(words: Sequence[str], numbers: dict[str, int]) -> NDArray[np.int64]:
    return np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)


def window_numbers(
    a: NDArray[np.int64], b: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each shingle of two documents, in order, int64.

    A document with fewer than `size` units has one shingle, itself; without a unit none. Numbers
    are below the number of shingles. No hash is involved: runs of w units have numbers, and so
    have those of up to 2 w, as pairs of these. Cost O(n log n log size).
    """
    if min(len(a), len(b)) < size:
        return _with_a_short_one(a, b, size)
    both = np.concatenate([a, b])
    width, limit = 1, int(both.max()) + 1
    while width < size:
        if limit * limit > ROOM:
            both = np.unique(both, return_inverse=True)[1].reshape(-1)
            limit = int(both.max()) + 1
        step = min(width, size - width)
        # Also where it begins in a and ends in b; these are dropped in the end.
        both = both[:-step] * limit + both[step:]
        limit *= limit
        width += step
    kept = np.ones(len(both), np.bool_)
    kept[len(a) - size + 1 : len(a)] = False
    numbers = np.unique(both[kept], return_inverse=True)[1].reshape(-1)
    return numbers[: len(a) - size + 1], numbers[len(a) - size + 1 :]


def _with_a_short_one(
    a: NDArray[np.int64], b: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return these numbers where a document has less than a shingle, and is one itself.

    The other one has it only if it is the same.
    """
    if len(a) < size and len(b) < size:
        same = np.array_equal(a, b)
        return np.zeros(min(len(a), 1), np.int64), np.full(min(len(b), 1), int(not same))
    # The longer one by itself: against itself, which is as long.
    longer = window_numbers(max(a, b, key=len), max(a, b, key=len), size)[0]
    short = np.full(min(len(a), len(b), 1), len(longer), np.int64)
    return (short, longer) if len(a) < len(b) else (longer, short)
