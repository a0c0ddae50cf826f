"""Which shingles of two documents stand for each other, and the runs that they make."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Run(NamedTuple):
    """So many shingles of a from `a` on equal those of b from `b` on."""

    a: int
    b: int
    length: int


def _once(a: Numbers, b: Numbers) -> Numbers:
    wanted: Numbers = np.where((a == 1) & (b == 1), a, 0)
    return wanted


def _equally_often(a: Numbers, b: Numbers) -> Numbers:
    wanted: Numbers = np.where(a == b, a, 0)
    return wanted


SURE: tuple[Callable[[Numbers, Numbers], Numbers], ...] = (_once, _equally_often, np.minimum)
"""How many of each shingle to pair, by how often it occurs in either; the surest first."""


class Pairing:
    """Pairs the shingles of two documents one to one, as far as the documents agree.

    Parameters
    ----------
    a, b : ndarray of int64
        The numbers of their shingles, in order: small, not negative, equal for equal shingles.

    Attributes
    ----------
    of_a, of_b : ndarray of int64
        The partner of each shingle, or -1.
    """

    def __init__(self, a: Numbers, b: Numbers) -> None:
        self.a, self.b = a, b
        self.of_a, self.of_b = np.full(len(a), -1), np.full(len(b), -1)
        self._most = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
        for sure in SURE:
            self._pair(sure)

    def runs(self) -> list[Run]:
        """Return the runs, ascending and disjoint in the shingles of a."""
        paired = np.flatnonzero(self.of_a >= 0)
        return _runs(paired, self.of_a[paired])

    def _pair(self, sure: Callable[[Numbers, Numbers], Numbers]) -> None:
        """Pair what has no partner yet, the k-th of a kind with the k-th; then their neighbours."""
        free_a, free_b = np.flatnonzero(self.of_a < 0), np.flatnonzero(self.of_b < 0)
        a, b = self.a[free_a], self.b[free_b]
        count_a, count_b = (np.bincount(side, minlength=self._most) for side in (a, b))
        wanted = sure(count_a, count_b)
        left = free_a[_first_of_each(a, count_a, wanted)]
        right = free_b[_first_of_each(b, count_b, wanted)]
        self.of_a[left], self.of_b[right] = right, left
        order = np.argsort(left)
        for run in _runs(left[order], right[order]):
            self._extend(run.a + run.length, run.b + run.length, 1)
            self._extend(run.a - 1, run.b - 1, -1)

    def _extend(self, i: int, j: int, step: int) -> None:
        """Pair from i and j on what is equal; each step pairs two, so all of them are linear."""
        begin_i, begin_j = i, j
        a, b = self.a.data, self.b.data
        of_a, of_b = self.of_a.data, self.of_b.data
        while (
            0 <= i < len(a) and 0 <= j < len(b) and a[i] == b[j] and of_a[i] == of_b[j] == -1
        ):  # fmt: skip
            i, j = i + step, j + step
        paired = abs(i - begin_i)
        lowest_i, lowest_j = min(begin_i, i + 1), min(begin_j, j + 1)
        self.of_a[lowest_i : lowest_i + paired] = np.arange(lowest_j, lowest_j + paired)
        self.of_b[lowest_j : lowest_j + paired] = np.arange(lowest_i, lowest_i + paired)


def _first_of_each(values: Numbers, count: Numbers, wanted: Numbers) -> Numbers:
    """Return where the first `wanted` of each value stand, by value and then by place."""
    order = np.argsort(values, kind="stable")
    grouped = values[order]
    rank = np.arange(len(values)) - (np.cumsum(count) - count)[grouped]
    return order[rank < wanted[grouped]]


def _runs(a: Numbers, b: Numbers) -> list[Run]:
    """Cut pairs, ascending in a, where one of the two sides does not go on by one."""
    if not len(a):
        return []
    begins = np.flatnonzero((np.diff(a) != 1) | (np.diff(b) != 1)) + 1
    first = np.concatenate([[0], begins])
    length = np.diff(np.concatenate([first, [len(a)]]))
    return list(map(Run, a[first].tolist(), b[first].tolist(), length.tolist()))
