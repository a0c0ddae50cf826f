"""What the tables of an index hold, and how it is copied out of them."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BandTables
from fastlsh.index.memory.documents import Documents, check_contents
from fastlsh.index.memory.ids import Ids
from fastlsh.index.memory.parts import Bytes, parts_of, pieces_of
from fastlsh.index.memory.stored_ids import StoredIds
from fastlsh.index.settings import Settings
from fastlsh.parallel import batches

TOGETHER = 1 << 16
"""Ids or signatures that are copied between two looks for Ctrl-C."""


class Contents:
    """Numbered documents, with ids, over the memory of a kernel."""

    def __init__(self, settings: Settings, kernel: BandTables) -> None:
        self.settings = settings
        self.kernel = kernel
        self.read_only = isinstance(kernel.ids, StoredIds)
        """Whether this is a file, which nothing can be written to."""

    @property
    def ids(self) -> Ids | StoredIds:
        """The ids by number."""
        return self.kernel.ids  # type: ignore[no-any-return]

    @property
    def n(self) -> int:
        """How many numbers are given, those of removed documents included."""
        return self.kernel.n

    @property
    def dead(self) -> int:
        """How many of them have no document."""
        return self.kernel.dead

    @property
    def nbytes(self) -> int:
        """Bytes of everything but the ids, spare room included."""
        return self.kernel.nbytes

    @property
    def words(self) -> int:
        """How many words the contents have, those of removed documents included."""
        return self.kernel.words

    @property
    def slots(self) -> tuple[int, ...]:
        """The size of each band's table."""
        return tuple(map(self.kernel.slots, range(self.settings.params.bands)))

    def find(self, name: Hashable) -> int:
        """Return the number of an id, -1 if it has no document."""
        kernel = self.kernel
        return kernel.ids.find(name, kernel.is_live)  # type: ignore[no-any-return]

    def names(self) -> Iterator[Any]:
        """Iterate over the ids of all documents as they are now, in the order of insertion."""
        if isinstance(self.ids, StoredIds):
            return iter(self.ids)
        return iter(list(self.ids.chosen(self._live().tobytes())))

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some numbers."""
        if len(numbers) <= TOGETHER:
            return self.ids.take(numbers.tolist())
        names: list[Any] = []
        for first, last in batches(len(numbers), TOGETHER):
            names += self.ids.take(numbers[first:last].tolist())
        return names

    def signature(self, name: Hashable) -> NDArray[np.uint32] | None:
        """Return a copy of the signature of a document, None if no document has this id."""
        number = self.find(name)
        return None if number < 0 else self._rows(np.array([number])).reshape(-1)

    def documents(self) -> Documents:
        """Return a copy of all documents."""
        chosen = np.flatnonzero(self._live())
        signatures = self._rows(chosen)
        if not self.settings.keeps:
            return Documents(signatures)
        contents = self._array("contents").view(np.uint64)
        offsets = self._array("offsets").view(np.int64)
        check_contents(contents, offsets, self.n)
        return Documents(signatures, contents, offsets).with_contents_of(chosen)

    def pieces(self, name: str) -> Iterator[Bytes]:
        """Yield the bytes of an array; each piece is gone when the next one comes."""
        num_perm = self.settings.hasher.num_perm
        parts = parts_of(name, self.n, num_perm, self.words, self.slots)
        return pieces_of(self.kernel, parts)

    def _live(self) -> Bytes:
        if isinstance(self.ids, StoredIds):
            return np.ones(self.n, np.uint8)
        return self._array("live")

    def _array(self, name: str) -> Bytes:
        return np.concatenate([np.empty(0, np.uint8), *(p.copy() for p in self.pieces(name))])

    def _rows(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        out = np.empty((len(numbers), self.settings.hasher.num_perm), np.uint32)
        for first, last in batches(len(numbers), TOGETHER):
            self.kernel.copy_rows(numbers[first:last], out[first:last])
        return out
