"""The similarity of any pairs of documents, by sorted sets within bounded memory."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.sets import _sets
from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.parallel import RunOptions, batches, batches_by_work, run_batches
from fastlsh.sets.shingle_sets import compared, distinct, tiled
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts, shingle_set_steps

HASHED = 1 << 22
"""Characters that are made sets at a time: about a tenth of a second."""

Start = NDArray[np.int64]


def all_sets(
    texts: Texts, shingler: Shingler, options: RunOptions
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the sets of all documents.

    Returns
    -------
    hashes
        uint64: the sets one after the other, each ascending.
    size
        int64 (n,): of each; 0: an empty document.
    """
    parts: dict[int, NDArray[np.uint64]] = {}

    def keep(first: int, hashes: NDArray[np.uint64], start: Start, count: Start) -> None:
        parts[first] = hashes[ranges_of(start, count)]

    size = _make(texts, shingler, options, keep)
    hashes, end = np.empty(int(size.sum()), np.uint64), 0
    for first in sorted(parts):  # one by one, for Ctrl-C
        part = parts.pop(first)
        start, end = end, end + len(part)
        hashes[start:end] = part
    return hashes, size


def set_sizes(texts: Texts, shingler: Shingler, options: RunOptions) -> NDArray[np.int64]:
    """Return how many shingles each document has, int64 (n,); the sets are not kept."""
    return _make(texts, shingler, options, lambda *_: None)


def _make(
    texts: Texts,
    shingler: Shingler,
    options: RunOptions,
    use: Callable[[int, NDArray[np.uint64], Start, Start], None],
) -> NDArray[np.int64]:
    n = len(texts)
    size = np.empty(n, np.int64)

    def work(first: int, last: int) -> Iterator[None]:
        gathered = shingler.gather(texts, first, last)
        lengths = gathered.lengths()
        for begin, end in batches_by_work(lengths, HASHED, last - first):
            start = offsets_of(shingler.most_shingles(lengths[begin:end]))
            hashes = np.empty(start[-1], np.uint64)
            count = size[first + begin : first + end]
            yield from shingle_set_steps(
                gathered.part(begin, end), lengths[begin:end], shingler.hashing, hashes, start,
                count,
            )  # fmt: skip
            use(first + begin, hashes, start[:-1], count)
            yield

    advance = options.progress.stage("sets", n)
    run_batches(work, batches(n, batch_size(texts)), options.threads, advance)
    return size


ROOM = 7 << 20
"""Hashes that are held at a time: 56 MB, more only if two documents need it."""
BATCH = 1 << 17
"""Hashes that are made at a time."""


class SortedSets:
    """The sets of two tiles of documents, each in a half of the room.

    Parameters
    ----------
    texts, shingler
        The collection and what its sets are made of.
    documents
        int64 (m,): which of its documents. All numbers below are rows of this array.
    lengths
        int64 (m,): code points (bytes, tokens) of each.
    threads
        How many make sets and compare them.
    """

    def __init__(
        self,
        texts: Texts,
        shingler: Shingler,
        documents: NDArray[np.int64],
        lengths: NDArray[np.int64],
        threads: int,
    ) -> None:
        self._texts = texts
        self._shingler = shingler
        self._documents = documents
        self._threads = threads
        self._max_size = shingler.most_shingles(lengths)
        before = np.cumsum(self._max_size) - self._max_size
        self._tile = (before // max(ROOM // 2, 1)).astype(np.int32)
        self._half = int(np.bincount(self._tile, self._max_size).max(initial=0))
        self._held = [-1, -1]  # the tile in each half
        self._end = [0, self._half]
        self._hashes = np.empty(2 * self._half, np.uint64)
        self._start = np.zeros(len(documents), np.int64)
        self._count = np.full(len(documents), -1, np.int64)

    def similarities(
        self, left: NDArray[np.int64], right: NDArray[np.int64], *, contained: bool = False
    ) -> NDArray[Any]:
        """Return the exact similarity of each pair, float64 (m,).

        Or, with `contained`, the share of the left set that is in the right one.
        """
        out = np.empty(len(left))
        for chosen in tiled(self._tile[left], self._tile[right]):
            a, b = left[chosen], right[chosen]
            rows = distinct(a, b)
            for tile, half in self._halves(sorted({int(t) for t in self._tile[[a[0], b[0]]]})):
                self._make(rows[self._tile[rows] == tile], half)
            sets = self._hashes, self._start, self._count
            out[chosen] = jaccard = compared(_sets.set_jaccard, sets, a, b, 0.0, self._threads)
            if contained:
                out[chosen] = share_of_left(jaccard, self._count[a], self._count[b])
        return out

    def _halves(self, tiles: list[int]) -> Iterator[tuple[int, int]]:
        """Yield each tile with its half; what is held already stays where it is."""
        for tile in tiles:
            if tile not in self._held:
                half = 0 if self._held[0] not in tiles else 1
                self._count[self._tile == self._held[half]] = -1
                self._held[half] = tile
                self._end[half] = half * self._half
            yield tile, self._held.index(tile)

    def _make(self, rows: NDArray[np.int64], half: int) -> None:
        """Make the sets of these documents that are not there."""
        missing = rows[self._count[rows] < 0]
        if not len(missing):
            return
        bounds = self._end[half] + offsets_of(self._max_size[missing])
        counts = np.empty(len(missing), np.int64)

        def work(first: int, last: int) -> Iterator[None]:
            gathered = self._shingler.take(self._texts, self._documents[missing[first:last]])
            return shingle_set_steps(
                gathered, gathered.lengths(), self._shingler.hashing, self._hashes,
                bounds[first : last + 1], counts[first:last],
            )  # fmt: skip

        run_batches(work, batches_by_work(self._max_size[missing], BATCH, 4096), self._threads)
        self._start[missing] = bounds[:-1]
        self._count[missing] = counts
        self._end[half] = int(bounds[-1])


def share_of_left(
    jaccard: NDArray[np.float64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return |A n B| / |A| from |A n B| / |A u B| and the sizes; 0 if A is empty.

    The overlap is an integer, which the quotient gives back without an error up to 2^50.
    """
    common = np.rint(jaccard * (left + right) / (1.0 + jaccard))
    return common / np.maximum(left, 1)
