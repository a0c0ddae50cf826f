"""Which documents of a database decide whether a new one is kept: the first of its buckets.

In memory, a bucket offers its first 64 documents, and if it has more, its answer may be limited.
`deduplicate` recognises copies first: of those with one text, only the first is in a bucket, and a
copy of a new document is found wherever it is. A database finds the same documents, without
reading large buckets to the end: it reads more of a bucket until 65 of its documents differ.
"""

from typing import Any, NamedTuple

import numpy as np

from fastlsh._kernels.candidates._candidates import REMEMBERED
from fastlsh.index.documents import IndexDocuments, joined_documents
from fastlsh.index.settings import Bools, Int64s, Settings, UInt32s
from fastlsh.index.store import ALL, Store
from fastlsh.parallel import batches

WANTED = REMEMBERED + 1
"""Documents of a bucket that decide: the first 64, and one that shows that there are more."""
FIRST = 256
"""Entries of a bucket that are read first."""
GROWTH = 8
"""By this factor, more entries are read whenever those before were too few."""
HALF = np.uint64(32)


class Deciding(NamedTuple):
    """Documents that decide which new documents are kept."""

    numbers: Int64s
    """Ascending."""
    names: list[Any]
    """Their ids."""
    documents: IndexDocuments

    def take(self, chosen: Int64s) -> "Deciding":
        """Return some of the documents, in the order of `chosen`."""
        names = [self.names[position] for position in chosen.tolist()]
        return Deciding(self.numbers[chosen], names, self.documents.take(chosen))


def joined_deciding(blocks: list[Deciding]) -> Deciding:
    """Return the documents of at least one block, each once, in the order of their numbers."""
    numbers = np.concatenate([block.numbers for block in blocks])
    names = [name for block in blocks for name in block.names]
    documents = joined_documents([block.documents for block in blocks])
    return Deciding(numbers, names, documents).take(np.unique(numbers, return_index=True)[1])


def deciding_documents(
    store: Store, documents: IndexDocuments, fetched: int, room: int | None = None
) -> Deciding | None:
    """Return the documents that decide which new documents are kept.

    Parameters
    ----------
    store
        In a transaction.
    documents
        The new documents. If they have texts, copies are recognised.
    fetched
        At most so many documents of the database are in memory while they are read.
    room
        Return None if there are more than this, and several new documents.
    """
    numbers, complete = store.gather(documents.signatures, FIRST)
    if room is not None and len(numbers) > room and documents.n > 1:
        return None
    if complete == ALL:
        return Deciding(numbers, *store.fetch(numbers))
    examined = _Examined(store, documents, fetched)
    asked, max_entries = np.arange(documents.n), FIRST
    while True:
        examined.add(numbers)
        if complete == ALL:
            break
        asked = asked[examined.undecided(asked, max_entries)]
        if not len(asked):
            break
        max_entries *= GROWTH
        numbers, complete = store.gather(documents.signatures[asked], max_entries)
    examined.add_copies()
    return joined_deciding(examined.blocks)


class _Examined:
    """Documents of a database that were compared with each other."""

    def __init__(self, store: Store, documents: IndexDocuments, fetched: int) -> None:
        self._store = store
        self._documents = documents
        self._fetched = fetched
        self._settings: Settings = store.settings
        threads = self._settings.hasher.threads
        self._asked_keys = self._settings.keys(documents.signatures, asked=True, threads=threads)
        self._has_all = self._asked_keys[0] == 0
        """bool, by new document: all of one of its buckets was read, so that a copy was, too."""
        self._numbers = np.empty(0, np.int64)
        self._held = self._asked_keys[:, :0]
        """uint64 (bands, examined): their keys."""
        self._is_first = np.empty(0, np.bool_)
        """Whether a document is not a copy of an earlier document."""
        self._texts: set[bytes] = set()
        self.blocks: list[Deciding] = []
        """The documents without copies, in no order."""

    def add(self, numbers: Int64s) -> None:
        """Examine documents, in ascending order: an original before its copies."""
        numbers = np.setdiff1d(numbers, self._numbers, assume_unique=True)
        for start, stop in batches(len(numbers), self._fetched):
            self._add(Deciding(numbers[start:stop], *self._store.fetch(numbers[start:stop])))

    def _add(self, block: Deciding) -> None:
        numbers, _, documents = block
        is_first = np.ones(len(numbers), np.bool_)
        if self._documents.contents is not None:
            for position, text in enumerate(map(bytes, documents.content_bytes())):
                is_first[position] = text not in self._texts
                self._texts.add(text)
        order = np.argsort(np.concatenate([self._numbers, numbers]))
        self._numbers = np.concatenate([self._numbers, numbers])[order]
        threads = self._settings.hasher.threads
        keys = self._settings.keys(documents.signatures, asked=False, threads=threads)
        self._held = np.concatenate([self._held, keys], axis=1)[:, order]
        self._is_first = np.concatenate([self._is_first, is_first])[order]
        self.blocks.append(block.take(np.flatnonzero(is_first)))

    def undecided(self, asked: Int64s, max_entries: int) -> Bools:
        """Return the new documents for which more entries of a bucket must be read.

        The first `max_entries` entries with each of their tags are examined: keys may share a tag.
        """
        too_few = np.zeros(len(asked), np.bool_)
        pairs = zip(self._asked_keys[:, asked], self._held, strict=True)
        for band, (asked_keys, held) in enumerate(pairs):
            tags = held >> HALF
            order = np.argsort(tags, kind="stable")
            tags = tags[order]
            tag = asked_keys >> HALF
            start = np.searchsorted(tags, tags, "left")
            counts = self._is_first[order] & (np.arange(len(tags)) - start < max_entries)
            keys = np.sort(held[order][counts])
            count = np.searchsorted(keys, asked_keys, "right") - np.searchsorted(
                keys, asked_keys, "left"
            )
            size = np.searchsorted(tags, tag, "right") - np.searchsorted(tags, tag, "left")
            if band < self._settings.own_bands:
                self._has_all[asked[size < max_entries]] = True
            too_few |= (size >= max_entries) & (count < WANTED) & (asked_keys != 0)
        return too_few

    def add_copies(self) -> None:
        """Examine the first copy of each new document, in the buckets that copies have."""
        if self._documents.contents is None:
            return
        looked_for = set(self._texts)
        for number, text in enumerate(map(bytes, self._documents.content_bytes())):
            if not self._has_all[number] and text not in looked_for:
                looked_for.add(text)
                self._add_copy(self._documents.signatures[number : number + 1], text)

    def _add_copy(self, signature: UInt32s, text: bytes) -> None:
        numbers = self._store.gather(signature, None, 0)[0]
        for band in range(1, self._settings.own_bands):
            others = self._store.gather(signature, None, band)[0]
            numbers = np.intersect1d(numbers, others, assume_unique=True)
        numbers = np.setdiff1d(numbers, self._numbers, assume_unique=True)
        for start, stop in batches(len(numbers), self._fetched):
            block = Deciding(numbers[start:stop], *self._store.fetch(numbers[start:stop]))
            for position, other in enumerate(map(bytes, block.documents.content_bytes())):
                if other == text:
                    self._add(block.take(np.array([position])))
                    return
