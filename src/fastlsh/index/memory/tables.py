"""Tables that can be asked and changed."""

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BandTables
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.index.memory.documents import Documents
from fastlsh.index.memory.ids import Ids
from fastlsh.index.memory.parts import Bytes, fill, parts_of
from fastlsh.index.memory.queries import QueryableTables
from fastlsh.index.memory.stored_ids import StoredIds
from fastlsh.index.settings import Settings
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

NOBODY = np.empty(0, np.int64)

T = TypeVar("T", bound="Tables")

ARRAYS = ("signatures", "links", "slots", "offsets", "contents")
"""Of the kernel; the last two only where texts or sets are kept."""


class Tables(QueryableTables):
    """Numbered documents, their ids, and who of them shares a band with whom.

    Not for several threads at once: `Index` has the lock. Numbers ascend in the order of
    insertion, and `compact` gives new ones in the same order.

    A change may end anywhere, by Ctrl-C or for want of memory: what it has prepared is seen by
    nobody before the kernel switches to it, in one step.
    """

    def __init__(self, settings: Settings, kernel: BandTables | None = None) -> None:
        params = settings.params
        kernel = kernel or BandTables(
            settings.hasher.num_perm, params.bands, params.rows, bool(settings.keeps), Ids()
        )
        super().__init__(settings, kernel)

    @classmethod
    def over(
        cls: type[T],
        settings: Settings,
        slots: tuple[int, ...],
        arrays: dict[str, NDArray[Any]],
        ids: StoredIds,
    ) -> T:
        """Return tables over the arrays of a file, which nothing is written to."""
        ends = np.cumsum(slots)
        tables = [arrays["slots"][end - size : end] for end, size in zip(ends, slots, strict=True)]
        kernel = BandTables.over(
            arrays["signatures"], tables, list(arrays["links"]), settings.params.rows,
            arrays.get("contents"), arrays.get("offsets"), ids,
        )  # fmt: skip
        return cls(settings, kernel)

    @classmethod
    def filled(
        cls: type[T],
        settings: Settings,
        n: int,
        words: int,
        slots: tuple[int, ...],
        arrays: Iterable[tuple[str, Iterable[Bytes]]],
    ) -> T:
        """Return tables with what is in some arrays, each in pieces; `complete` must follow."""
        tables = cls(settings)
        kernel = tables.kernel
        kernel.reserve(n, words, 0.0)
        for band, size in enumerate(slots):
            kernel.resize_table(band, size)
        live: tuple[str, Iterable[Bytes]] = ("live", [np.ones(n, np.uint8)])
        for name, pieces in chain([live], arrays):
            fill(kernel, parts_of(name, n, settings.hasher.num_perm, words, slots), pieces)
        return tables

    def complete(self, n: int, ids: Ids) -> None:
        """Check what `filled` has brought, and count it."""
        self.kernel.complete(n, ids)

    def copy(self: T) -> T:
        """Return tables of their own that may be changed."""
        arrays = ARRAYS if self.settings.keeps else ARRAYS[:3]
        given: list[tuple[str, Iterable[Bytes]]] = [(name, self.pieces(name)) for name in arrays]
        given.append(("live", [self._live()]))
        other = type(self).filled(self.settings, self.n, self.words, self.slots, given)
        other.complete(self.n, self.ids.copy())
        return other

    # ---- changes

    def insert(self, names: list[Any], documents: Documents, replaced: Mapping[Any, int]) -> None:
        """Add documents behind the last one; those of the numbers in `replaced` are gone then."""
        kernel = self.kernel
        self.reserve(documents.n, documents.words)
        first = kernel.n
        for start, stop in batches(documents.n, max(LINKS // self.settings.params.bands, 1)):
            kernel.append(
                documents.signatures, documents.contents, documents.offsets, start, stop
            )  # fmt: skip
        self._show(first, names, replaced)

    def insert_unique(
        self, names: list[Any], documents: Documents, max_candidates: int
    ) -> NDArray[np.uint8]:
        """Add the documents that are like none, in order; return which are, uint8 (n,).

        2: like none of those that could be compared, which were not all candidates.
        """
        kernel, settings = self.kernel, self.settings
        fresh = np.zeros(documents.n, np.uint8)
        own = kernel.n
        reader = self.reader()
        for start, stop in batches(documents.n, BLOCK):
            self.reserve(stop - start, documents.words_of(start, stop))
            self._wasted += kernel.insert_unique(
                documents.signatures, documents.contents, documents.offsets, start, stop, own,
                settings.verify, settings.threshold, min(max_candidates, MAX_DOCUMENTS), fresh,
                reader,
            )  # fmt: skip
        self.put_back(reader)
        new = [name for name, is_new in zip(names, fresh, strict=True) if is_new]
        self._show(own, new, {}, limited=int((fresh == 2).sum()))
        return fresh

    def remove(self, name: Hashable) -> bool:
        """Remove the document of an id if there is one; return whether there was."""
        if self._helpers:
            self.wait()
        kernel = self.kernel
        ids: Ids = kernel.ids
        number = ids.find(name, kernel.is_live)
        if number < 0:
            return False
        kernel.remove(number)  # it stays in its chains until `compact`
        ids.forget(name, number)
        return True

    def maybe_known(self, names: set[Any]) -> bool:
        """Whether one of the ids may have a document."""
        return self._own_ids.maybe_known(names)

    @property
    def _own_ids(self) -> Ids:
        assert isinstance(self.ids, Ids)
        return self.ids

    def _show(
        self, first: int, names: list[Any], replaced: Mapping[Any, int], limited: int = 0
    ) -> None:
        """Switch to what was appended from number `first` on."""
        self._own_ids.assign(first, names, replaced)
        if replaced:
            self.kernel.switch(first, np.fromiter(replaced.values(), np.int64, len(replaced)))
            self._own_ids.settle(first, replaced)
        else:
            self.kernel.switch(first, NOBODY, limited)

    def reserve(self, count: int, words: int) -> None:
        """Make room for `count` documents with contents of `words`.

        Raises
        ------
        ValueError, MemoryError
            Too many.
        """
        self.wait()
        kernel = self.kernel
        needed = kernel.n + count
        if needed > MAX_DOCUMENTS:
            raise ValueError(f"at most {MAX_DOCUMENTS:,} documents, got {needed:,}")
        kernel.reserve(count, words, SPARE)
        band = -1
        while (band := kernel.crowded_band(band + 1, count, MOST_USED)) >= 0:
            kernel.resize_table(band, int((kernel.used(band) + count) / USED_WHEN_GROWN) + 2)

    # ---- what removed documents leave behind

    @property
    def crowded(self) -> bool:
        """Whether removed documents cost more than `compact` does."""
        kernel = self.kernel
        dead, n = kernel.dead, kernel.n
        if 2 * dead > n:
            return True
        return bool(dead and self._wasted and self._wasted > n * self.settings.params.bands)

    def compact(self, share: float = USED_WHEN_GROWN) -> None:
        """Drop removed documents and spare room."""
        self.wait()
        kernel = self.kernel
        if kernel.dead:
            kernel.begin_compact(Ids(self.names()))
            self.go_on()
        self._wasted = 0
        kernel.shrink()
        for band in range(self.settings.params.bands):
            size = int(kernel.used(band) / share) + 2
            if size < kernel.slots(band):
                kernel.resize_table(band, size)

    def go_on(self) -> None:
        """End a compaction that was interrupted: its documents have other numbers already."""
        while self.kernel.go_on():
            pass
