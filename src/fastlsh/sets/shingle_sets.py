"""The shingle sets of documents that are to be compared, within bounded memory."""

from collections.abc import Callable, Iterator
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.common import _common
from fastlsh._kernels.sets import _sets
from fastlsh.arrays import offsets_of, unique
from fastlsh.parallel import Empty, batches, batches_by_work, run_batches
from fastlsh.texts import Shingler, Texts, shingle_set_steps

ROOM = 1 << 22
"""Shingles of the documents that are compared together: 34 to 68 MB for their numbers and sets."""
BATCH = 1 << 17
"""Shingles that are hashed at a time; smaller families share their numbers up to so many."""
COMPARED = 1 << 27
"""Elements of sets that are compared at a time: at most a tenth of a second."""


class ShingleSets:
    """The shingle sets of some documents, made when they are needed and held while there is room.

    A set is one of numbers instead of hashes: each distinct hash of a family gets one, and as its
    documents share most of them, a set is a few words of bits (`pack_numbers`), of which two are
    compared a word at a time. Sets of different families cannot be compared.

    Parameters
    ----------
    texts, shingler
        The collection and what its sets are made of.
    documents
        int64 (m,): which of its documents, families one after the other. All that follows counts
        rows of this array.
    families
        int64: where each family begins.
    lengths
        int64 (m,): code points (bytes, tokens) of each.
    threads
        How many make sets and compare them.
    empty
        Makes `start` and `count`, as `numpy.empty` does.

    Attributes
    ----------
    words, start, count
        For the kernels: uint64 sets; int64 (m,) position and size of each, -1: not there.
    """

    def __init__(
        self,
        texts: Texts,
        shingler: Shingler,
        documents: NDArray[np.int64],
        families: NDArray[np.int64],
        lengths: NDArray[np.int64],
        threads: int,
        empty: Empty = np.empty,
    ) -> None:
        self._texts = texts
        self._shingler = shingler
        self._documents = documents
        self._families = np.append(families, len(documents))
        self._threads = threads
        self._max_size = shingler.most_shingles(lengths)
        self._tile = ((np.cumsum(self._max_size) - 1) // (ROOM // 2)).astype(np.int32)
        self._groups, self._large = _groups(families, self._max_size)
        self._numbered = -1  # the large group whose numbers these are
        self._numbers = _sets.Numbers()
        self._spare: list[_sets.Numbers] = []  # for small groups, one for each thread
        self._appending = RLock()
        self._end = 0
        # Room for all sets that are mostly held together: what is not written takes no memory.
        self.words = np.empty(min(2 * int(self._max_size.sum()), 2 * ROOM), np.uint64)
        self.start, self.count = (empty(len(documents), np.int64) for _ in range(2))
        self.start.fill(0)
        self.count.fill(-1)

    def fits(self, rows: NDArray[np.int64]) -> bool:
        """Whether the sets of these documents can be held together."""
        return int(self._max_size[rows].sum()) <= ROOM

    def fitting(self, first: int, last: int) -> int:
        """Return how many of these documents, from the first on, can be held together."""
        return int(np.searchsorted(np.cumsum(self._max_size[first:last]), ROOM, "right"))

    def ensure(self, rows: NDArray[np.int64]) -> None:
        """Make the sets of these documents (distinct, ascending) that are not there."""
        missing = rows[self.count[rows] < 0]
        if not len(missing):
            return
        if self._end > ROOM:
            self.count.fill(-1)
            self._end = 0
            self._numbered = -1
            missing = rows
        groups = unique(np.searchsorted(self._groups, missing, "right") - 1)
        small = groups[~self._large[groups]]

        def make_groups(first: int, last: int) -> Iterator[None]:
            for group in small[first:last].tolist():
                numbers = self._spare.pop() if self._spare else _sets.Numbers()
                begin, end = self._groups[group : group + 2]
                first_of, last_of = np.searchsorted(self._families, (begin, end))
                families = self._families[first_of : last_of + 1] - begin
                yield from self._make(np.arange(begin, end), numbers, families)
                self._spare.append(numbers)

        run_batches(make_groups, batches(len(small), 1), self._threads)
        for group in groups[self._large[groups]].tolist():
            first, last = np.searchsorted(rows, self._groups[group : group + 2])
            self._ensure_large(group, rows[first:last])

    def _ensure_large(self, group: int, rows: NDArray[np.int64]) -> None:
        """Make sets of a family that is made in parts; its numbers are kept for the next part."""
        missing = rows[self.count[rows] < 0]
        if group != self._numbered or self._shingles(missing) + len(self._numbers) > ROOM:
            self._numbers.clear()
            self._numbered = group
            self.count[slice(*self._groups[group : group + 2])] = -1
            missing = rows

        def make(first: int, last: int) -> Iterator[None]:
            return self._make(missing[first:last], self._numbers)

        run_batches(make, batches_by_work(self._max_size[missing], BATCH, 4096), self._threads)

    def _shingles(self, rows: NDArray[np.int64]) -> int:
        return int(self._max_size[rows].sum())

    def _make(
        self,
        rows: NDArray[np.int64],
        numbers: _sets.Numbers,
        families: NDArray[np.int64] | None = None,
    ) -> Iterator[None]:
        """Make the sets of a batch of documents, step by step; `families`: their bounds."""
        shingler = self._shingler
        gathered = shingler.take(self._texts, self._documents[rows])
        start = offsets_of(self._max_size[rows])
        lists = np.empty(start[-1], np.uint64)
        count = np.empty(len(rows), np.int64)
        yield from shingle_set_steps(
            gathered, gathered.lengths(), shingler.hashing, lists, start, count, thinned=True
        )
        if families is not None:
            numbers.replace(lists, start, count, families)
            yield
        for begin, end in pieces(start, count) if families is None else ():
            numbers.replace(lists, begin, end - begin)
            yield
        sets = np.empty(len(rows) + 2 * int(count.sum()), np.uint64)
        position = np.empty(len(rows), np.int64)
        size = np.empty(len(rows), np.int64)
        packed = _sets.pack_numbers(lists, start, count, sets, position, size)
        with _common.Hold(self._appending):
            position += self._append(sets[:packed])
            self.start[rows] = position
            self.count[rows] = size

    def _append(self, sets: NDArray[np.uint64]) -> int:
        """Append to `words`; return where they begin there."""
        begin = self._end
        self._end += len(sets)
        if self._end > len(self.words):
            old = self.words[:begin]
            self.words = np.empty(max(self._end, 2 * begin), np.uint64)
            self.words[:begin] = old
        self.words[begin : self._end] = sets
        return begin

    def similarities(
        self, left: NDArray[Any], right: NDArray[Any], threshold: float
    ) -> NDArray[np.float64]:
        """Return the exact similarity of each pair, float64 (m,); -1 where below `threshold`."""
        out = np.empty(len(left))
        for chosen in tiled(self._tile[left], self._tile[right]):
            a = left[chosen].astype(np.int64)
            b = right[chosen].astype(np.int64)
            self.ensure(distinct(a, b))
            sets = self.words, self.start, self.count
            out[chosen] = compared(_sets.number_jaccard, sets, a, b, threshold, self._threads)
        return out


def pieces(
    start: NDArray[np.int64], count: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield where lists begin and end, many short ones together, and long ones cut."""
    ends = start[: len(count)] + count
    for first, last in batches_by_work(count, ROOM, max(len(count), 1)):
        if count[first] <= ROOM:
            yield start[first:last], ends[first:last]
            continue
        for begin, end in batches(int(count[first]), ROOM):
            yield start[first : first + 1] + begin, start[first : first + 1] + end


def _groups(
    families: NDArray[np.int64], max_size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where each group begins, the last one's end too, and which are large.

    A group is one large family, or as many small ones as one batch takes.
    """
    if not len(families):
        return np.zeros(1, np.int64), np.zeros(0, np.bool_)
    size = np.add.reduceat(max_size, families)
    large = size > BATCH
    batch = (np.cumsum(size) - size) // BATCH
    begins = np.ones(len(families), np.bool_)
    begins[1:] = (batch[1:] != batch[:-1]) | large[1:] | large[:-1]
    return np.append(families[begins], len(max_size)), large[begins]


def distinct(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that are in one of both arrays, ascending; they lie close together."""
    low = min(int(a.min()), int(b.min()))
    mark = np.zeros(max(int(a.max()), int(b.max())) - low + 1, np.bool_)
    mark[a - low] = True
    mark[b - low] = True
    return np.flatnonzero(mark) + low


def tiled(a: NDArray[np.int32], b: NDArray[np.int32]) -> Iterator[Any]:
    """Cut pairs by the tiles of their two documents, so that two tiles are needed at a time."""
    if not len(a):
        return
    key = np.maximum(a, b).astype(np.int64) << 32 | np.minimum(a, b)
    if (key == key[0]).all():
        yield slice(None)
        return
    order = np.argsort(key, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def compared(
    kernel: Callable[..., None],
    sets: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    threshold: float,
    threads: int,
) -> NDArray[np.float64]:
    """Return what a kernel writes for each pair of sets, float64 (m,).

    `sets`: the elements of all sets, where those of each set begin, and how many they are.
    """
    similarity = np.empty(len(a))

    def work(first: int, last: int) -> None:
        kernel(*sets, a[first:last], b[first:last], threshold, similarity[first:last])

    size = sets[2]
    if 2 * 4096 * int(size.max(initial=0)) <= COMPARED:  # most are compared in less than that
        parts = batches(len(a), 4096)
    else:
        parts = batches_by_work(size[a] + size[b], COMPARED, 4096)
    run_batches(work, parts, threads)
    return similarity
