"""What a report counts, and the few documents that it shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.parallel import batches
from fastlsh.reporting import frame
from fastlsh.texts import Shingler, Texts, as_texts, joined_texts


@dataclass(frozen=True)
class RunCounts:
    """The counts of a deduplication, also if a page shows only some of its documents.

    Parameters
    ----------
    documents : int
        The number of documents in the inputs.
    outside : int
        How many were removed as duplicates of the reference collection.
    similarity : ndarray of float64
        Of each removed document to its kept one.
    sizes : ndarray of int64
        How many documents were removed for each kept one that has duplicates.
    limited : int
        How many documents were kept without being compared with every candidate.
    empty : int
        The number of documents without a unit.
    """

    documents: int
    outside: int
    similarity: NDArray[np.float64]
    sizes: NDArray[np.int64]
    limited: int
    empty: int

    @property
    def removed(self) -> int:
        """The number of removed documents."""
        return len(self.similarity)

    @property
    def duplicate_ratio(self) -> float:
        """The share of removed documents, 0 to 1."""
        return self.removed / self.documents if self.documents else 0.0


class Collections(NamedTuple):
    """What a result is about, as `fastlsh.report` takes it."""

    texts: Any
    against: Any = None
    ids: Sequence[Any] | None = None
    """None: the documents are called by their numbers."""
    against_ids: Sequence[Any] | None = None

    def called(
        self, ids: Sequence[Any] | None, against_ids: Sequence[Any] | None = None
    ) -> "Collections":
        """Return them with these ids where they have none."""
        return self._replace(
            ids=ids if self.ids is None else self.ids,
            against_ids=against_ids if self.against_ids is None else self.against_ids,
        )


def name_of(number: int, ids: Sequence[Any] | None) -> str:
    """Return how a document is called: by its id or, without ids, by its number."""
    return f"document {number:,}" if ids is None else str(ids[number])


BATCH = 4096


class ReportedDocuments:
    """The collection, and behind it what was kept already.

    Parameters
    ----------
    collections
        As `deduplicate` took them.
    shingler
        What they were taken as sets of.
    """

    def __init__(self, collections: Collections, shingler: Shingler) -> None:
        texts, against, *ids = collections
        self.inputs = as_texts(texts)
        others = as_texts([] if against is None else against)
        self.others = len(others)
        self._all: Texts = joined_texts(self.inputs, others)
        self._ids = [None if names is None else check_ids(names, len(names)) for names in ids]
        self.shingler = shingler

    def __len__(self) -> int:
        return len(self.inputs)

    def check(self, documents: int, outside: NDArray[np.int64]) -> None:
        """Raise ValueError unless all are there that a result is about; see `check_collections`."""
        check_collections(len(self), documents, self.others, outside)
        counts = ("ids", len(self)), ("against_ids", self.others)
        for ids, (name, count) in zip(self._ids, counts, strict=True):
            if ids is not None and len(ids) < count:
                raise ValueError(f"{name} has {len(ids):,} elements for {count:,} documents")

    def text(self, number: int) -> str | bytes:
        """Return a text; bytes where bytes are the units."""
        raw = self.shingler.as_bytes
        (text,) = self._all.take(np.array([number]), raw).strings()
        return text.encode("latin-1") if raw else text  # bytes come one in a code point

    def name(self, number: int) -> str:
        """Return the id of a document as HTML, cut if it is long."""
        outside = number >= len(self.inputs)
        position = number - len(self.inputs) if outside else number
        return frame.identifier(name_of(position, self._ids[outside]), outside=outside)

    @cached_property
    def short(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The documents without a unit, and those with fewer units than a shingle; ascending."""
        size = self.shingler.size
        units = np.empty(len(self), np.int64)
        for start, stop in batches(len(self), BATCH):
            plain = self.shingler.plain_texts(self.inputs, start, stop)
            units[start:stop] = self.shingler.unit_counts(plain, size)
        return np.flatnonzero(units == 0), np.flatnonzero((units > 0) & (units < size))


def check_collections(texts: int, documents: int, others: int, outside: NDArray[np.int64]) -> None:
    """Raise ValueError unless the collections have the documents that a result is about.

    Parameters
    ----------
    texts, others
        How many documents `texts` and `against` have.
    documents
        How many the result has.
    outside
        int64: the numbers of those of `against` that it refers to; -1: none.
    """
    if texts != documents:
        raise ValueError(f"texts has {texts:,} documents, but the result has {documents:,}")
    needed = int(outside.max(initial=-1)) + 1
    if others < needed:
        raise ValueError(
            f"against has {others:,} documents, but the result refers to at least {needed:,}"
        )
