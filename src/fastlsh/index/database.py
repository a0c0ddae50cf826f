"""An index in a database: candidates are fetched into memory and compared there.

The answer for a document depends on nothing but the documents of its buckets. So a database only
has to find these, and the same tables as in memory decide, with the same answer.
"""

import sys
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from fastlsh._kernels.common._common import Transaction
from fastlsh.index.backend import UNIQUE_OTHERWISE, Backend, check_new, chosen
from fastlsh.index.deciding import FIRST, GROWTH, Deciding, deciding_documents, joined_deciding
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.in_memory import NOBODY, Memory
from fastlsh.index.settings import Bools, Float64s, Int64s, check_ids_for_database
from fastlsh.index.store import ALL, FORKED, Batch, Store, T, retry_until_consistent
from fastlsh.parallel import batches

ASKED = 4096
"""Documents whose candidates are looked up together."""
COMPARED = 1 << 14
"""Candidates that are in memory at a time. Only a single new document may need more."""


class DatabaseBackend(Backend):
    """A `Backend` over a `Store`."""

    outside = True

    def __init__(self, store: Store) -> None:
        self._store = store
        self.settings = store.settings
        self.read_only = store.read_only
        self.wait = store.wait
        self._iterations: weakref.WeakSet[_Iteration] = weakref.WeakSet()

    @property
    def ended(self) -> str:
        """Why the index cannot be used any more; empty if it can."""
        return self._store.ended

    @property
    def limited(self) -> int:
        """How many documents were added without being compared with every candidate."""
        return self._store.limited

    @property
    def store(self) -> Store:
        """The database; ValueError if it cannot be used any more."""
        if self.ended:
            raise ValueError(f"{self._store.address}: {self.ended}")
        return self._store

    def forked(self, at_rest: bool) -> None:
        """Forget what belongs to the parent process: see `Backend`."""
        if not self._store.forked(at_rest):
            self._store.ended = FORKED

    @property
    def nbytes(self) -> int:
        """Bytes in the database."""
        return self._asked(lambda store: store.nbytes())

    def __len__(self) -> int:
        return self._asked(lambda store: store.state.documents)

    def _asked(self, ask: Callable[[Store], T]) -> T:
        """Ask something of a single state of the database."""

        def asked() -> T:
            with self.store.reading():
                return ask(self.store)

        return retry_until_consistent(asked)

    def find(self, name: Hashable) -> int:
        """Return the number of an id, -1 if it has no document."""
        hash(name)
        return self._asked(lambda store: store.find([name]).get(name, -1))

    def names(self) -> Iterator[Any]:
        """Iterate over the ids that are there now, in blocks.

        Documents that this process removes meanwhile are included. Those that another process
        removes are, if they were read before.
        """
        iteration = _Iteration(self._asked(lambda store: store.state.upcoming))
        self._iterations.add(iteration)
        return self._names(iteration)

    def _names(self, iteration: "_Iteration") -> Iterator[Any]:
        while iteration.number + 1 < iteration.end:
            ids = self._asked(lambda store: store.ids_after(iteration.number, COMPARED))
            yield from iteration.next(ids)

    def _write(self, gone: Mapping[Any, int], batch: Batch) -> None:
        """Make changes, before which documents are removed: their numbers by their ids."""
        self.store.write(batch._replace(deleted=sorted(gone.values())))
        for iteration in self._iterations:
            iteration.note(gone)

    def fetch(self, names: list[Any]) -> tuple[list[Any], IndexDocuments]:
        """Return documents: see `Backend`."""

        def fetch(store: Store) -> tuple[list[Any], IndexDocuments]:
            return store.fetch(np.array(sorted(store.find(names).values()), np.int64))

        return self._asked(fetch)

    def blocks(self) -> Iterator[tuple[list[Any], IndexDocuments]]:
        """Iterate over all documents of a single state, with their ids, in blocks.

        It may raise `ChangedError` at any block, and after the last: `retry_until_consistent` then
        starts from the beginning.
        """
        with self.store.reading():
            for ids in self.store.id_blocks(COMPARED):
                yield self.store.fetch(np.array([*ids], np.int64))

    def candidates(self, documents: IndexDocuments) -> tuple[list[Any], IndexDocuments]:
        """Return the ids and documents that decide which new documents are kept: see `Backend`."""

        def decide(store: Store) -> tuple[list[Any], IndexDocuments]:
            blocks = [Deciding(NOBODY, *store.fetch(NOBODY))]
            for first, last in batches(documents.n, ASKED):
                block = deciding_documents(store, documents.part(first, last), COMPARED)
                assert block is not None
                blocks.append(block)
            return joined_deciding(blocks)[1:]

        return self._asked(decide)

    def answer(self, documents: IndexDocuments, limit: int) -> tuple[list[Any], Float64s, Int64s]:
        """Find the documents that are similar to each given one: see `Backend`."""

        def answered(store: Store) -> tuple[list[Any], Float64s, Int64s]:
            if documents.n <= ASKED:
                return self._answer(documents, limit)
            parts = batches(documents.n, ASKED)
            answers = [self._answer(documents.part(first, last), limit) for first, last in parts]
            names, blocks, counts = zip(*answers, strict=True)
            return list(chain(*names)), np.concatenate(blocks), np.concatenate(counts)

        return self._asked(answered)

    def _answer(self, documents: IndexDocuments, limit: int) -> tuple[list[Any], Float64s, Int64s]:
        """Return the answers to some documents. With a limit, no more is read than is needed."""
        names: list[Any] = []
        blocks, whose = [np.empty((0, 2))], [NOBODY]
        asked, equal = np.arange(documents.n), np.zeros(documents.n, np.int64)
        before, size = -1, COMPARED
        max_entries: int | None = None
        if limit < sys.maxsize:
            max_entries, size = FIRST, min(FIRST * documents.n, COMPARED)
        while len(asked):
            numbers, complete = self.store.gather(documents.signatures[asked], max_entries)
            if len(blocks) == 1 and complete == ALL and 0 < len(numbers) <= size:
                return self._compared(documents, numbers, limit)  # nearly every question ends here
            numbers = numbers[(numbers > before) & (numbers <= complete)]
            while len(numbers) and len(asked):
                remaining = documents if len(asked) == documents.n else documents.take(asked)
                part_names, part, counts = self._compared(remaining, numbers[:size], limit)
                names += part_names
                of = np.repeat(asked, counts)
                blocks.append(part)
                whose.append(of)
                equal += np.bincount(of[part[:, 0] == 1], minlength=documents.n)
                asked = asked[equal[asked] < limit]
                numbers, size = numbers[size:], min(size * GROWTH, COMPARED)
            if complete == ALL:
                break
            before, max_entries = complete, None
        everything, of = np.concatenate(blocks), np.concatenate(whose)
        counts = np.bincount(of, minlength=documents.n)
        if len(blocks) > 2:
            order = np.lexsort((everything[:, 1], -everything[:, 0], of))
            start = np.repeat(np.cumsum(counts) - counts, counts)
            order = order[np.arange(len(order)) - start < limit]
            everything = everything[order]
            names = [names[position] for position in order.tolist()]
            counts = np.minimum(counts, limit)
        return names, everything, counts

    def _compared(
        self, documents: IndexDocuments, numbers: Int64s, limit: int
    ) -> tuple[list[Any], Float64s, Int64s]:
        """Return the answers among some documents of the database."""
        names, answers, counts = self._tables(*self.store.fetch(numbers)).answer(documents, limit)
        answers[:, 1] = numbers[answers[:, 1].astype(np.int64)]
        return names, answers, counts

    def _tables(self, names: list[Any], documents: IndexDocuments) -> Memory:
        """Return tables in memory with some documents."""
        tables = Memory(self.settings)
        tables.insert(names, documents, {})
        return tables

    def add(self, names: list[Any], documents: IndexDocuments, on_known: str) -> None:
        """Add documents; if an id exists already, "raise" or "replace" the old document."""
        check_ids_for_database(names)
        replaced: dict[Any, int] = {}
        try:
            with self.store.writing():
                if on_known != "raise":
                    names, documents, replaced = chosen(self.store.find, names, documents, on_known)
                self._write(replaced, Batch(names=names, documents=documents))
        except KeyError:
            with self.store.reading():
                chosen(self.store.find, names, documents, on_known)  # says which
            raise

    def add_unique(
        self, names: list[Any], documents: IndexDocuments, max_candidates: int, with_matches: bool
    ) -> tuple[Bools, list[Any]]:
        """Add, in order, the documents that are similar to none: see `Backend`."""
        check_ids_for_database(names)
        fresh = np.zeros(documents.n, np.uint8)
        matches: list[Any] = []
        with self.store.writing():
            check_new(self.store.find, names, UNIQUE_OTHERWISE)
            first, size = 0, ASKED
            while first < documents.n:
                last = min(first + size, documents.n)
                block = documents.part(first, last)
                asked = IndexDocuments(block.signatures)  # no texts: a copy counts, too
                deciding = deciding_documents(self.store, asked, COMPARED, COMPARED)
                if deciding is None:
                    size = (last - first) // 2
                    continue
                tables = self._tables(deciding.names, deciding.documents)
                fresh[first:last], block_matches = tables.insert_unique(
                    names[first:last], block, max_candidates, with_matches
                )
                matches += block_matches
                new = np.flatnonzero(fresh[first:last])
                new_names = [names[first + position] for position in new]
                self.store.write(Batch(names=new_names, documents=block.take(new)))
                first, size = last, min(2 * size, ASKED)
            self.store.limited += int((fresh == 2).sum())
        return fresh.astype(np.bool_), matches

    def discard(self, name: Hashable) -> bool:
        """Remove a document if it exists, and return whether it did."""
        hash(name)
        with self.store.writing():
            numbers = self.store.find([name])
            if numbers:
                self._write(numbers, Batch())
        return bool(numbers)

    def pack(self) -> None:
        """Free unused space, and that of removed documents."""
        self.store.pack()

    def batch(self) -> Transaction:
        """Combine many changes into one."""
        return self.store.batch()

    def close(self) -> None:
        """Close files and connections."""
        self._store.ended = self.ended or "the index is closed"
        self._store.close()


class _Iteration:
    """How far the ids were read that were there at the beginning."""

    def __init__(self, end: int) -> None:
        self.number = -1
        """The number of the last document that was read."""
        self.end = end
        self._gone: dict[int, Any] = {}
        """Ids of documents that were removed meanwhile, by their numbers."""

    def next(self, read: Mapping[int, Any]) -> list[Any]:
        """Return the ids of the next documents, given those that are still there."""
        last = max(read, default=self.end)
        names = {**self._gone, **read}
        first, self.number = self.number, last
        return [names[n] for n in sorted(names) if first < n <= last and n < self.end]

    def note(self, gone: Mapping[Any, int]) -> None:
        """Note documents that are removed before they are read."""
        self._gone.update((n, name) for name, n in gone.items() if self.number < n < self.end)


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
