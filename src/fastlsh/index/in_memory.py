"""The backend that keeps everything in memory: the tables of a kernel, and the ids."""

import sys
from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.index._index import BandTables
from fastlsh.arrays import unique
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.index.backend import UNIQUE_OTHERWISE, Backend, check_new, chosen
from fastlsh.index.documents import IndexDocuments, check_contents, joined_contents
from fastlsh.index.settings import Bools, Bytes, Float64s, Int64s, Settings, UInt32s
from fastlsh.index.tables import (
    Ids,
    QueryThreads,
    StoredIds,
    contents_of,
    filled_tables,
    new_tables,
    parts_of,
)
from fastlsh.parallel import batches

# Of the slots of a table. A slot has 8 bytes and each document a link of 4: at the fewest slots
# in use that is 19 bytes per band and document, 20 with the spare room for links, and 13.5 when
# compact.
MOST_USED = 0.8
USED_WHEN_GROWN = MOST_USED / 1.5
USED_WHEN_COMPACT = 0.85
SPARE = 1.25
"""Room grows by this factor at least."""

BLOCK = 4096
"""Documents that `insert_unique` makes room for at a time."""
LINKS = 1 << 20
"""Made between two looks for Ctrl-C."""
TOGETHER = 1 << 16
"""Ids or signatures that are copied between two looks for Ctrl-C."""

PIECE = 1 << 20
"""Bytes that are copied at a time: they stay in the cache."""

NOBODY = np.empty(0, np.int64)

ARRAYS = ("signatures", "links", "slots", "offsets", "contents")
"""Of the kernel; the last two only where texts or sets are kept."""


class Memory(Backend):
    """A `Backend` over the tables of a kernel, or over a memory-mapped file, which is read-only.

    Not for several threads at once: `Index` has the lock. Numbers ascend in the order of
    insertion, and `compact` gives new ones in the same order.

    A change may end anywhere, by Ctrl-C or for want of memory: what it has prepared is seen by
    nobody before the kernel switches to it, in one step.

    Parameters
    ----------
    settings
        How documents are signed, banded and verified.
    kernel
        The tables, which hold the ids, too; by default, empty ones.
    file
        The absolute path of the file that is mapped.
    """

    def __init__(
        self, settings: Settings, kernel: BandTables | None = None, file: str | None = None
    ) -> None:
        self.settings = settings
        self.kernel = kernel or new_tables(settings)
        self.file = file
        self.read_only = isinstance(self.kernel.ids, StoredIds)
        """Whether this is a file, which nothing can be written to."""
        self._threads = QueryThreads(settings)
        self._wasted = 0
        """How many removed documents queries have met."""

    # ---- contents

    @property
    def ids(self) -> Ids | StoredIds:
        """The ids by number."""
        return self.kernel.ids  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of everything but the ids, spare room included."""
        return self.kernel.nbytes

    @property
    def slots(self) -> tuple[int, ...]:
        """The size of each band's table."""
        return tuple(map(self.kernel.slots, range(self.settings.bands)))

    @property
    def changing(self) -> bool:
        """Whether a thread changes the memory right now, so that a copy of it would be useless."""
        return self.kernel.changing

    @property
    def limited(self) -> int:
        """How many documents were added without being compared with every candidate."""
        return self.kernel.limited

    def __len__(self) -> int:
        return self.kernel.n - self.kernel.dead

    def find(self, name: Hashable) -> int:
        """Return the number of an id, -1 if it has no document."""
        kernel = self.kernel
        return kernel.ids.find(name, kernel.is_live)  # type: ignore[no-any-return]

    def names(self) -> Iterator[Any]:
        """Iterate over the ids of all documents as they are now, in the order of insertion."""
        if isinstance(self.ids, StoredIds):
            return iter(self.ids)
        return iter(list(self.ids.chosen(self._live().tobytes())))

    def take(self, numbers: Int64s) -> list[Any]:
        """Return the ids of some numbers."""
        if len(numbers) <= TOGETHER:
            return self.ids.take(numbers.tolist())
        names: list[Any] = []
        for first, last in batches(len(numbers), TOGETHER):
            names += self.ids.take(numbers[first:last].tolist())
        return names

    def fetch(self, names: list[Any]) -> tuple[list[Any], IndexDocuments]:
        """Return copies of documents: see `Backend`."""
        numbers = {name: number for name in names if (number := self.find(name)) >= 0}
        signatures = self._rows(np.fromiter(numbers.values(), np.int64, len(numbers)))
        if not self.settings.keeps:
            return list(numbers), IndexDocuments(signatures)
        kept = [contents_of(self.kernel, number).tobytes() for number in numbers.values()]
        return list(numbers), IndexDocuments(signatures, *joined_contents(kept))

    def documents(self) -> IndexDocuments:
        """Return a copy of all documents."""
        numbers = np.flatnonzero(self._live())
        signatures = self._rows(numbers)
        if not self.settings.keeps:
            return IndexDocuments(signatures)
        contents = self._array("contents").view(np.uint64)
        offsets = self._array("offsets").view(np.int64)
        check_contents(contents, offsets, self.kernel.n)
        return IndexDocuments(signatures, contents, offsets).with_contents_of(numbers)

    def blocks(self) -> Iterator[tuple[list[Any], IndexDocuments]]:
        """Return a copy of all documents."""
        return iter([self.candidates()])

    def candidates(self, documents: object = None) -> tuple[list[Any], IndexDocuments]:
        """Return all documents, and their ids."""
        return list(self.names()), self.documents()

    def pieces(self, name: str) -> Iterator[Bytes]:
        """Yield the bytes of an array in pieces."""
        kernel, width = self.kernel, self.settings.width
        for part, size in parts_of(name, kernel.n, width, kernel.words, self.slots):
            for first, last in batches(size, PIECE):
                piece = np.empty(last - first, np.uint8)
                kernel.read(part, first, piece)
                yield piece

    def copy(self) -> "Memory":
        """Return tables of their own that may be changed."""
        arrays = ARRAYS if self.settings.keeps else ARRAYS[:3]
        named_pieces = [(name, self.pieces(name)) for name in arrays]
        named_pieces.append(("live", iter([self._live()])))
        n, words = self.kernel.n, self.kernel.words
        kernel = filled_tables(self.settings, n, words, self.slots, named_pieces, self.ids.copy)
        return Memory(self.settings, kernel)

    def _live(self) -> Bytes:
        return np.ones(self.kernel.n, np.uint8) if self.read_only else self._array("live")

    def _array(self, name: str) -> Bytes:
        return np.concatenate([np.empty(0, np.uint8), *self.pieces(name)])

    def _rows(self, numbers: Int64s) -> UInt32s:
        out = np.empty((len(numbers), self.settings.width), np.uint32)
        for first, last in batches(len(numbers), TOGETHER):
            self.kernel.copy_rows(numbers[first:last], out[first:last])
        return out

    # ---- queries

    def query(self, documents: IndexDocuments, limit: int) -> tuple[NDArray[Any], Int64s]:
        """Find the answers to all documents: see `QueryThreads.query`."""
        answers, counts, wasted = self._threads.query(self.kernel, documents, limit)
        self._wasted += wasted
        return answers, counts

    def sharing(self, signatures: UInt32s) -> Int64s:
        """Return the ids, which are numbers, of all answers, in the order of insertion."""
        answers, _ = self.query(IndexDocuments(signatures), sys.maxsize)
        return np.array(self.take(unique(answers[:, 1].astype(np.int64))), np.int64)

    def answer(self, documents: IndexDocuments, limit: int) -> tuple[list[Any], Float64s, Int64s]:
        """Find the documents that are similar to each given one: see `Backend`."""
        answers, counts = self.query(documents, limit)
        return self.take(answers[:, 1].astype(np.int64)), answers, counts

    # ---- changes

    def add(self, names: list[Any], documents: IndexDocuments, on_known: str) -> None:
        """Add documents; if an id exists already, "raise" or "replace" the old document."""
        names, documents, replaced = chosen(self._known, names, documents, on_known)
        self.insert(names, documents, replaced)
        self.tidy()

    def insert(
        self, names: list[Any], documents: IndexDocuments, replaced: Mapping[Any, int]
    ) -> None:
        """Add documents behind the last one; those of the numbers in `replaced` are gone then."""
        kernel = self.kernel
        self.reserve(documents.n, documents.words)
        first = kernel.n
        for start, stop in batches(documents.n, max(LINKS // self.settings.bands, 1)):
            kernel.append(
                documents.signatures, documents.contents, documents.offsets, start, stop
            )  # fmt: skip
        self._show(first, names, replaced)

    def add_unique(
        self, names: list[Any], documents: IndexDocuments, max_candidates: int, with_matches: bool
    ) -> tuple[Bools, list[Any]]:
        """Add, in order, the documents that are similar to none: see `Backend`."""
        check_new(self._known, names, UNIQUE_OTHERWISE)
        fresh, matches = self.insert_unique(names, documents, max_candidates, with_matches)
        self.tidy()
        return fresh.astype(np.bool_), matches

    def insert_unique(
        self, names: list[Any], documents: IndexDocuments, max_candidates: int, with_matches: bool
    ) -> tuple[Bytes, list[Any]]:
        """Add the documents that are like none, in order; return which are, uint8 (n,).

        2: like none of those that could be compared, which were not all candidates. Also returns,
        if asked to, the ids that the others are like; None for those that were added.
        """
        kernel, settings = self.kernel, self.settings
        fresh = np.zeros(documents.n, np.uint8)
        matches = np.full(documents.n, -1, np.int64) if with_matches else None
        n_before = kernel.n
        reader = self._threads.reader()
        for start, stop in batches(documents.n, BLOCK):
            self.reserve(stop - start, documents.words_of(start, stop))
            self._wasted += kernel.insert_unique(
                documents.signatures, documents.contents, documents.offsets, start, stop, n_before,
                settings.verify, settings.threshold, min(max_candidates, MAX_DOCUMENTS), fresh,
                reader, matches,
            )  # fmt: skip
        self._threads.put_back(reader)
        new = [name for name, is_new in zip(names, fresh, strict=True) if is_new]
        self._show(n_before, new, {}, limited=int((fresh == 2).sum()))
        return fresh, [] if matches is None else self.ids_at(matches)

    def ids_at(self, numbers: Int64s) -> list[Any]:
        """Return the ids of some numbers; None for -1."""
        names = iter(self.ids.take(numbers[numbers >= 0].tolist()))
        return [next(names) if number >= 0 else None for number in numbers.tolist()]

    def discard(self, name: Hashable) -> bool:
        """Remove a document if it exists, and return whether it did."""
        if self._threads.left:
            self._threads.wait()
        if (number := self.find(name)) < 0:
            return False
        ids: Ids = self.kernel.ids
        self.kernel.remove(number)  # it stays in its chains until `compact`
        ids.forget(name, number)
        self.tidy()
        return True

    def _known(self, names: AbstractSet[Any]) -> dict[Any, int]:
        if not self.kernel.ids.maybe_known(names):
            return {}
        numbers = {name: self.find(name) for name in names}
        return {name: number for name, number in numbers.items() if number >= 0}

    def _show(
        self, first: int, names: list[Any], replaced: Mapping[Any, int], limited: int = 0
    ) -> None:
        """Switch to what was appended from number `first` on."""
        ids: Ids = self.kernel.ids
        ids.assign(first, names, replaced)
        if replaced:
            self.kernel.switch(first, np.fromiter(replaced.values(), np.int64, len(replaced)))
            ids.settle(first, replaced)
        else:
            self.kernel.switch(first, NOBODY, limited)

    # ---- room, and what removed documents leave behind

    def reserve(self, count: int, words: int) -> None:
        """Make room for `count` documents with contents of `words`.

        Raises
        ------
        ValueError, MemoryError
            Too many.
        """
        if self._threads.left:
            self._threads.wait()
        kernel = self.kernel
        needed = kernel.n + count
        if needed > MAX_DOCUMENTS:
            raise ValueError(f"at most {MAX_DOCUMENTS:,} documents, got {needed:,}")
        kernel.reserve(count, words, SPARE)
        band = -1
        while (band := kernel.crowded_band(band + 1, count, MOST_USED)) >= 0:
            kernel.resize_table(band, int((kernel.used(band) + count) / USED_WHEN_GROWN) + 2)

    def settle(self) -> None:
        """Complete a compaction that an earlier call could not complete."""
        kernel = self.kernel
        if kernel.unsettled:
            if kernel.changing:
                raise RuntimeError(
                    "this process was forked while another thread changed the index: load or "
                    "build it anew"
                )
            self._end_compaction()

    def tidy(self) -> None:
        """Drop the removed documents if they cost too much; if memory is short, do it later."""
        kernel = self.kernel
        dead, n = kernel.dead, kernel.n
        wasted = self._wasted and self._wasted > n * self.settings.bands
        if dead and (2 * dead > n or wasted):
            with suppress(MemoryError):
                self.compact()

    def pack(self) -> None:
        """Give back all spare memory."""
        self.compact(USED_WHEN_COMPACT)

    def compact(self, share: float = USED_WHEN_GROWN) -> None:
        """Drop removed documents and spare room."""
        self._threads.wait()
        kernel = self.kernel
        if kernel.dead:
            kernel.begin_compact(Ids(self.names()))
            self._end_compaction()
        self._wasted = 0
        kernel.shrink()
        for band in range(self.settings.bands):
            size = int(kernel.used(band) / share) + 2
            if size < kernel.slots(band):
                kernel.resize_table(band, size)

    def _end_compaction(self) -> None:
        """End a compaction that was interrupted: its documents have other numbers already."""
        while self.kernel.go_on():
            pass
