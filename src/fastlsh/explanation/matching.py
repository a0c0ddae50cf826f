"""Which shingles of two documents stand for each other, and the runs that they make."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


Numbers = NDArray[np.int64]
Chosen = NDArray[np.bool_]


class MatchingRun(NamedTuple):
    """So many shingles of a from `a` on equal those of b from `b` on."""

    a: int
    b: int
    length: int


SURE: tuple[Callable[[Numbers, Numbers], Chosen], ...] = (
    lambda a, b: a == b,
    lambda a, b: (a > 0) & (b > 0),
)
"""Which shingles come next, by how often those without a partner occur; the surest first."""


class Pairing:
    """Pairs the shingles of two documents one to one, as far as the documents agree.

    Parameters
    ----------
    a, b : ndarray of int64
        The numbers of their shingles, in order: small, not negative, equal for equal shingles.

    Attributes
    ----------
    of_a, of_b : array of int64
        The partner of each shingle, or -1.
    """

    def __init__(self, a: Numbers, b: Numbers) -> None:
        self._a, self._b = a.tolist(), b.tolist()
        kinds = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
        counts = np.bincount(b, minlength=kinds)
        ends = np.cumsum(counts)
        positions = np.argsort(b, kind="stable")
        # Where each kind is in b, and how far these positions have been tried.
        self._positions = positions.tolist()
        self._end = ends.tolist()
        self._next = (ends - counts).tolist()
        # Surest are those that occur once in either.
        once = (np.bincount(a, minlength=kinds) == 1) & (counts == 1)
        at = np.flatnonzero(once[a])
        # Not ndarrays, for these are slow where one element is read or set.
        self.of_a, self.of_b = (array("q", [-1]) * len(side) for side in (a, b))
        partners = positions[ends[a[at]] - 1]
        _view(self.of_a)[at], _view(self.of_b)[partners] = partners, at
        for run in self.runs():
            self._extend(run.a + run.length, run.b + run.length, 1)
            self._extend(run.a - 1, run.b - 1, -1)
        for sure in SURE:
            free_a, free_b = (np.flatnonzero(_view(of) < 0) for of in (self.of_a, self.of_b))
            left, right = (
                np.bincount(side, minlength=kinds) for side in (a[free_a], b[free_b])
            )  # fmt: skip
            self._pair(free_a[sure(left, right)[a[free_a]]].tolist())

    def runs(self) -> list[MatchingRun]:
        """Return the runs, ascending and disjoint in the shingles of a."""
        partner = _view(self.of_a)
        a = np.flatnonzero(partner >= 0)
        if not len(a):
            return []
        b = partner[a]
        begins = np.flatnonzero((np.diff(a) != 1) | (np.diff(b) != 1)) + 1
        first = np.concatenate([[0], begins])
        length = np.diff(np.concatenate([first, [len(a)]]))
        return list(map(MatchingRun, a[first].tolist(), b[first].tolist(), length.tolist()))

    def _pair(self, begins: list[int]) -> None:
        """Pair each of these with the first free one of its kind, and what stands around them.

        A position of b is tried once, a step of a run pairs two: linear, whatever repeats.
        """
        for i in begins:
            if self.of_a[i] < 0 and (j := self._first_free(self._a[i])) is not None:
                self._extend(i, j, 1)
                self._extend(i - 1, j - 1, -1)

    def _first_free(self, kind: int) -> int | None:
        while self._next[kind] < self._end[kind]:
            position: int = self._positions[self._next[kind]]
            if self.of_b[position] < 0:
                return position
            self._next[kind] += 1
        return None

    def _extend(self, i: int, j: int, step: int) -> None:
        a, b, of_a, of_b = self._a, self._b, self.of_a, self.of_b
        n, m = len(a), len(b)
        while 0 <= i < n and 0 <= j < m and a[i] == b[j] and of_a[i] == of_b[j] == -1:
            of_a[i], of_b[j] = j, i
            i, j = i + step, j + step


def _view(numbers: "array[int]") -> Numbers:
    return np.frombuffer(numbers, np.int64)
