"""The shingle sets of documents: those to be compared, within bounded memory, or all at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.parallel import Batch, RunOptions, batches, batches_by_work, run
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts

ROOM = 7 << 20
"""Words for the sets that are held at a time: 56 MB, more only if two documents need it."""

COMPARED = 1 << 27
"""Elements of sets that are compared at a time: about a tenth of a second."""

HASHED = 1 << 22
"""Characters that are made sets at a time: about a tenth of a second."""


class ShingleSets:
    """The shingle sets of some documents, made when they are needed and held while there is room.

    Parameters
    ----------
    texts, shingler
        The collection and what its sets are made of.
    documents
        int64 (m,): which of its documents; those that are compared with each other close
        together. All that follows counts places in this array.
    lengths
        int64 (m,): code points (bytes, tokens) of each.
    threads
        How many make sets and compare them.

    Attributes
    ----------
    hashes, start, count
        For the kernels: uint64 sets with their sketches; int64 (m,) place and size of each.
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
        self._words = self._words_for(lengths)
        self._longest = int(self._words.max(initial=0))
        self._tile = ((np.cumsum(self._words) - 1) // (ROOM // 2)).astype(np.int32)
        self._end = 0
        self._uses = np.zeros(len(documents), np.int32)  # since room was made
        self.hashes = np.empty(0, np.uint64)
        self.start = np.zeros(len(documents), np.int64)
        self.count = np.full(len(documents), -1, np.int64)

    def _words_for(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an upper bound of the words that each set and its sketch take."""
        if self._shingler.unit == "word" and self._shingler.tokenizer is None:
            lengths = (lengths + 1) // 2  # words of one character, and a space
        shingles = np.maximum(lengths - self._shingler.size + 1, np.minimum(lengths, 1))
        words = np.empty_like(shingles)
        _kernels.sketch_room(shingles, words)
        words += shingles
        return words

    def fits(self, places: NDArray[np.int64]) -> bool:
        """Whether the sets of these documents can be held together."""
        return int(self._words[places].sum()) <= ROOM

    def ensure(self, places: NDArray[np.int64]) -> None:
        """Make the sets of these documents (distinct, ascending) that are not there."""
        self._uses[places] += 1
        missing = places[self.count[places] < 0]
        if not len(missing):
            return
        needed = int(self._words[missing].sum())
        if self._end + needed > len(self.hashes):
            self._forget_all_but(places, needed)
        bounds = np.empty(len(missing) + 1, np.int64)
        bounds[0] = self._end
        np.cumsum(self._words[missing], out=bounds[1:])
        bounds[1:] += self._end
        counts = np.empty(len(missing), np.int64)

        def work(first: int, last: int) -> None:
            gathered = self._shingler.take(self._texts, self._documents[missing[first:last]])
            _kernels.shingle_sets(
                gathered.units,
                gathered.offsets,
                self._shingler.kernel_unit,
                self._shingler.size,
                self.hashes,
                bounds[first : last + 1],
                counts[first:last],
                sketched=True,
            )

        parts = batches_by_work(self._words[missing], 1 << 17, 4096)
        run(work, parts, self._threads)
        self.start[missing] = bounds[:-1]
        self.count[missing] = counts
        # Repeated shingles left gaps.
        self._end = _kernels.pack_sets(self.hashes, self.start, self.count, missing, self._end)

    def _forget_all_but(self, places: NDArray[np.int64], needed: int) -> None:
        """Make room for `needed` words.

        Of the sets that are there, keep those of `places`, and those that were asked for more than
        once if there is room: a document that is often a candidate soon is one again.
        """
        self._uses[places] += 1
        kept = np.flatnonzero((self.count >= 0) & (self._uses > 1))
        if int(self._words[kept].sum()) + needed > len(self.hashes):
            kept = places[self.count[places] >= 0]
        self._uses.fill(0)
        kept = kept[np.argsort(self.start[kept])]
        counts = self.count[kept]
        self.count.fill(-1)
        self.count[kept] = counts
        self._end = _kernels.pack_sets(self.hashes, self.start, self.count, kept, 0)
        if self._end + needed > len(self.hashes):
            old = self.hashes[: self._end]
            self.hashes = np.empty(max(self._end + needed, ROOM), np.uint64)
            self.hashes[: self._end] = old

    def similarities(
        self, left: NDArray[Any], right: NDArray[Any], threshold: float
    ) -> NDArray[np.float64]:
        """Return the exact similarity of each pair, float64 (m,); -1 where below `threshold`."""
        out = np.empty(len(left))
        for chosen in self._tiled(left, right):
            a = left[chosen].astype(np.int64)
            b = right[chosen].astype(np.int64)
            self.ensure(_distinct(a, b))
            out[chosen] = self._compared(a, b, threshold)
        return out

    def _tiled(self, left: NDArray[Any], right: NDArray[Any]) -> Iterator[Any]:
        """Cut the pairs into parts whose sets can be held together: two tiles of documents."""
        a, b = self._tile[left], self._tile[right]
        if not len(a):
            return
        key = np.maximum(a, b).astype(np.int64) << 32 | np.minimum(a, b)
        if (key == key[0]).all():
            yield slice(None)
            return
        order = np.argsort(key, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(key[order])) + 1)

    def _compared(
        self, a: NDArray[np.int64], b: NDArray[np.int64], threshold: float
    ) -> NDArray[np.float64]:
        found = np.empty(len(a))

        def work(first: int, last: int) -> None:
            _kernels.set_jaccard(
                self.hashes, self.start, self.count, a[first:last], b[first:last], threshold,
                found[first:last], sketched=True,
            )  # fmt: skip

        run(work, self._comparisons(a, b), self._threads)
        return found

    def _comparisons(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Iterator[Batch]:
        """Cut pairs into batches."""
        if 2 * 4096 * self._longest <= COMPARED:  # most are compared in less than that
            return batches(len(a), 4096)
        return batches_by_work(self.count[a] + self.count[b], COMPARED, 4096)


def _distinct(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places that are in one of both, ascending; they lie close together."""
    low = min(int(a.min()), int(b.min()))
    mark = np.zeros(max(int(a.max()), int(b.max())) - low + 1, np.bool_)
    mark[a - low] = True
    mark[b - low] = True
    return np.flatnonzero(mark) + low


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
    n = len(texts)
    size = np.empty(n, np.int64)
    parts: dict[int, NDArray[np.uint64]] = {}

    def work(first: int, last: int) -> Iterator[None]:
        gathered = shingler.gather(texts, first, last)
        lengths = gathered.lengths()
        for begin, end in batches_by_work(lengths, HASHED, last - first):
            start = offsets_of(np.maximum(lengths[begin:end], 1))  # no more shingles than units
            hashes = np.empty(start[-1], np.uint64)
            count = size[first + begin : first + end]
            some = gathered.part(begin, end)
            _kernels.shingle_sets(
                some.units, some.offsets, shingler.kernel_unit, shingler.size, hashes, start, count
            )
            parts[first + begin] = hashes[places_of(start[:-1], count)]
            yield

    advance = options.progress.stage("sets", n)
    run(work, batches(n, batch_size(texts)), options.threads, advance)
    hashes, end = np.empty(int(size.sum()), np.uint64), 0
    for first in sorted(parts):  # one by one, for Ctrl-C
        part = parts.pop(first)
        start, end = end, end + len(part)
        hashes[start:end] = part
    return hashes, size


def offsets_of(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each begins if they stand one after the other, and where the last ends."""
    offsets = np.zeros(len(size) + 1, np.int64)
    np.cumsum(size, out=offsets[1:])
    return offsets


def places_of(start: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start[0], start[0] + 1, ... size[0] of them, then those of the next."""
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(int(size.sum()))
