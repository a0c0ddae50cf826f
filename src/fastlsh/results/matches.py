"""Pairs of documents between two collections, with their similarity."""

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.parallel import plural
from fastlsh.results.arrow import Column
from fastlsh.results.proofs import named
from fastlsh.results.table import Table


class Matches(Table):
    """Pairs of a document and one of another collection, sorted by (document, against).

    It is also a table for every library that reads Arrow, and a sequence of
    (id, against_id, similarity).

    Attributes
    ----------
    document : ndarray of int64, shape (n,)
        Numbers of documents of `texts`, from 0.
    against : ndarray of int64, shape (n,)
        Numbers of documents of `against`, from 0.
    similarity, estimate : ndarray of float64, shape (n,)
        As in `Pairs`.
    ids, against_ids : sequence or None
        The ids of both collections, if they were given.
    params : LSHParams or None
        The bands and rows that found the pairs.
    documents, empty : int
        How many documents `texts` has, and how many of them have no shingle.
    against_documents : int
        How many documents `against` has.
    """

    def __init__(
        self,
        document: NDArray[np.int64],
        against: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        estimate: NDArray[np.float64] | None = None,
        ids: Sequence[Any] | None = None,
        against_ids: Sequence[Any] | None = None,
        params: LSHParams | None = None,
        documents: int = 0,
        against_documents: int = 0,
        empty: int = 0,
    ) -> None:
        self.document = document
        self.against = against
        self.similarity = similarity
        self.estimate = estimate
        self.ids = ids
        self.against_ids = against_ids
        self.params = params
        self.documents = documents
        self.against_documents = against_documents
        self.empty = empty

    @property
    def id(self) -> list[Any]:
        """The ids of the documents; their numbers if no ids were given."""
        return named(self.document, self.ids)

    @property
    def against_id(self) -> list[Any]:
        """The ids of the documents of `against`; their numbers if no ids were given."""
        return named(self.against, self.against_ids)

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        return zip(self.id, self.against_id, self.similarity.tolist(), strict=True)

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[Any, Any, float]: ...
    @overload
    def __getitem__(self, index: slice) -> "Matches": ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """Return a pair as iterating gives it; the pairs of a slice as `Matches`."""
        if not isinstance(index, slice):
            row = range(len(self))[index]
            return next(iter(self[row : row + 1]))
        return Matches(
            self.document[index], self.against[index], self.similarity[index],
            estimate=None if self.estimate is None else self.estimate[index], ids=self.ids,
            against_ids=self.against_ids, params=self.params, documents=self.documents,
            against_documents=self.against_documents, empty=self.empty,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<Matches: {plural(len(self), 'pair')} of {plural(self.documents, 'document')} against"
            f" {self.against_documents:,}>"
        )

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        document, against = self.document[rows], self.against[rows]
        columns: dict[str, Column] = {
            "document": document,
            "against": against,
            "similarity": self.similarity[rows],
        }
        if self.estimate is not None:
            columns["estimate"] = self.estimate[rows]
        if self.ids is not None or self.against_ids is not None:
            columns["id"] = named(document, self.ids)
            columns["against_id"] = named(against, self.against_ids)
        return columns
