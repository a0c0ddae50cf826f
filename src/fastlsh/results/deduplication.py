"""Which documents are kept, and why the others are not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.results.arrow import export


class Deduplication:
    """Which documents are kept, and for every other one the proof: a kept one like it.

    Also a table for everything that reads Arrow, one row a document.

    Attributes
    ----------
    kept : ndarray of bool, shape (n,)
        In the order of the input: ``table.filter(result.kept)``.
    kept_index : ndarray of int64, shape (n,)
        For a removed document the kept one that it duplicates, for a kept one itself; -1 if it
        was removed because of a document of `against`.
    against_index : ndarray of int64, shape (n,)
        The number of that document in `against`; -1 for all others.
    similarity : ndarray of float64, shape (n,)
        Similarity to that document, at least `threshold`; 1 for kept documents. Exact Jaccard
        similarity, unless `verify` said otherwise (NaN with ``verify="none"``).
    threshold : float
        The similarity from which a document is a duplicate.
    limited : int
        How many documents were kept although they could not be compared with every candidate,
        because a bucket holds more than 64 kept documents or `max_candidates` was reached.
    limited_documents : ndarray of int64, shape (limited,)
        Which they are, ascending.
    ids, against_ids : sequence or None
        The ids, if they were given.
    params : LSHParams or None
        The bands and rows that found the candidates.
    documents, empty : int
        How many documents were read, and how many of them have no shingle (always kept).
    options : dict
        The keyword arguments that the result came from, apart from the collections:
        ``deduplicate(texts, result.threshold, **result.options)`` gives the same.
    seconds : dict of str to float
        How long each stage took.
    """

    def __init__(
        self,
        kept_index: NDArray[np.int64],
        against_index: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        threshold: float,
        limited_documents: NDArray[np.int64] | None = None,
        ids: Sequence[Any] | None = None,
        against_ids: Sequence[Any] | None = None,
        params: LSHParams | None = None,
        empty: int = 0,
        options: Mapping[str, Any] | None = None,
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        self.kept_index = kept_index
        self.against_index = against_index
        self.similarity = similarity
        self.kept: NDArray[np.bool_] = kept_index == np.arange(len(kept_index))
        self.threshold = threshold
        if limited_documents is None:
            limited_documents = np.empty(0, np.int64)
        self.limited_documents = limited_documents
        self.limited = len(limited_documents)
        self.ids = ids
        self.against_ids = against_ids
        self.params = params
        self.documents = len(kept_index)
        self.empty = empty
        self.options = dict(options or {})
        self.seconds = dict(seconds or {})

    @property
    def selected(self) -> NDArray[np.int64]:
        """The numbers of the kept documents, int64, ascending."""
        return np.flatnonzero(self.kept)

    @property
    def filtered(self) -> NDArray[np.int64]:
        """The numbers of the removed documents, int64, ascending."""
        return np.flatnonzero(~self.kept)

    @property
    def duplicate_ratio(self) -> float:
        """The share of removed documents, 0 to 1."""
        return len(self.filtered) / self.documents if self.documents else 0.0

    def __len__(self) -> int:
        return self.documents

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        """Iterate over the proofs: (removed document, kept_index, similarity).

        Where the proof is a document of `against`, kept_index is -1: its number is
        ``against_index[removed]``.
        """
        removed = self.filtered
        return zip(
            removed.tolist(),
            self.kept_index[removed].tolist(),
            self.similarity[removed].tolist(),
            strict=True,
        )

    def __repr__(self) -> str:
        return (
            f"<Deduplication: {len(self.selected):,} of {self.documents:,} documents kept, "
            f"{self.duplicate_ratio:.1%} duplicates>"
        )

    def clusters(self) -> list[list[int]]:
        """Return each kept document that has duplicates, followed by them, ascending."""
        members: dict[int, list[int]] = {}
        for removed, kept, _ in self:
            if kept >= 0:
                members.setdefault(kept, [kept]).append(removed)
        return [members[kept] for kept in sorted(members)]

    def rethreshold(self, threshold: float) -> "Deduplication":
        """Return the result with the documents released whose proof is below a higher threshold.

        Costs no new comparison. Two released documents may be duplicates of each other, which a
        fresh run would find.

        Raises
        ------
        ValueError
            `threshold` is lower than that of this result, or above 1, or nothing was verified.
        """
        if not self.threshold <= threshold <= 1.0:
            raise ValueError(
                f"threshold must be between {self.threshold} (of this result) and 1, "
                f"got {threshold}: run deduplicate again for a lower one"
            )
        if np.isnan(self.similarity).any():
            raise ValueError("the result was not verified: run deduplicate again")
        released = self.similarity < threshold
        return Deduplication(
            np.where(released, np.arange(self.documents), self.kept_index),
            np.where(released, -1, self.against_index),
            np.where(released, 1.0, self.similarity),
            threshold=threshold,
            limited_documents=self.limited_documents,
            ids=self.ids,
            against_ids=self.against_ids,
            params=self.params,
            empty=self.empty,
            options=self.options,
            seconds=self.seconds,
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export one row a document: (id,) kept, kept_index, against_index, similarity."""
        columns: dict[str, Any] = {} if self.ids is None else {"id": self.ids}
        columns |= {
            "kept": self.kept,
            "kept_index": self.kept_index,
            "against_index": self.against_index,
            "similarity": self.similarity,
        }
        return export(columns)
