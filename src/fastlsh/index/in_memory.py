"""The backend that keeps everything in memory."""

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.backend import UNIQUE_OTHERWISE, Backend, check_new, chosen
from fastlsh.index.memory import USED_WHEN_COMPACT, Documents, Tables
from fastlsh.index.store import retry_until_consistent


class Memory(Tables):
    """Tables as a `Backend`, including a memory-mapped file, which cannot be changed."""

    file: str | None = None
    """The absolute path of the file that is mapped."""

    @property
    def changing(self) -> bool:
        """Whether a thread changes the memory right now, so that a copy of it would be useless."""
        return self.kernel.changing

    @property
    def limited(self) -> int:
        """How many documents were added without being compared with every candidate."""
        return self.kernel.limited

    def __len__(self) -> int:
        return self.n - self.dead

    def blocks(self) -> Iterator[tuple[list[Any], Documents]]:
        """Return a copy of all documents."""
        return iter([(list(self.names()), self.documents())])

    def candidates(self, documents: Documents) -> tuple[list[Any], Documents]:
        """Return all documents, and their ids."""
        return list(self.names()), self.documents()

    def answer(
        self, documents: Documents, limit: int
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.int64]]:
        """Find the documents that are similar to each given one: see `Backend`."""
        found, counts = self.query(documents, limit)
        return self.take(found[:, 1].astype(np.int64)), found, counts

    def add(self, names: list[Any], documents: Documents, on_known: str) -> None:
        """Add documents; if an id exists already, "raise" or "replace" the old document."""
        names, documents, replaced = chosen(self._known, names, documents, on_known)
        self.insert(names, documents, replaced)
        self.tidy()

    def add_unique(
        self, names: list[Any], documents: Documents, max_candidates: int
    ) -> NDArray[np.bool_]:
        """Add, in order, the documents that are similar to none; return which ones."""
        check_new(self._known, names, UNIQUE_OTHERWISE)
        fresh = self.insert_unique(names, documents, max_candidates)
        self.tidy()
        return fresh.astype(np.bool_)

    def discard(self, name: Hashable) -> bool:
        """Remove a document if it exists, and return whether it did."""
        found = self.remove(name)
        if self.crowded:
            self.tidy()
        return found

    def settle(self, nested: bool) -> None:
        """Complete a compaction that an earlier call could not complete."""
        if self.kernel.unsettled:
            if self.kernel.changing:
                raise RuntimeError(
                    "this process was forked while another thread changed the index: load or "
                    "build it anew"
                )
            self.go_on()

    def tidy(self) -> None:
        """Drop the removed documents if they cost too much; if memory is short, do it later."""
        if self.crowded:
            with suppress(MemoryError):
                self.compact()

    def batch(self) -> AbstractContextManager[None]:
        """Do nothing: changes in memory are visible at once."""
        return nullcontext()

    def close(self) -> None:
        """Do nothing."""

    def pack(self) -> None:
        """Give back all spare memory."""
        self.compact(USED_WHEN_COMPACT)

    def _known(self, names: list[Any]) -> dict[Any, int]:
        if not self.maybe_known(set(names)):
            return {}
        numbers = {name: self.find(name) for name in names}
        return {name: number for name, number in numbers.items() if number >= 0}


def in_memory(backend: Backend) -> Memory:
    """Return a copy in memory of any index."""
    if isinstance(backend, Memory):
        return backend.copy()
    return retry_until_consistent(lambda: _loaded(backend))


def _loaded(backend: Backend) -> Memory:
    tables = Memory(backend.settings)
    for names, documents in backend.blocks():
        tables.add(names, documents, "raise")
    return tables
