"""Which lines or paragraphs were removed, and the texts without them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.results.arrow import Column
from fastlsh.results.proofs import named
from fastlsh.results.table import Table


class LineDeduplication(Table):
    """The texts without what an earlier one says, and for each removed span the kept one.

    It is a table with a row for each removed span, and an iterable of (id, start, end, kept_id,
    similarity). Positions are code points of the original texts: ``texts[document][start:end]``
    is the removed line, without its line end.

    Attributes
    ----------
    texts : list of str
        The texts after the removal, in the order of the input.
    document, start, end : ndarray of int64, shape (m,)
        The removed spans, ascending.
    kept_document, kept_start, kept_end : ndarray of int64, shape (m,)
        The first occurrence of each, which is kept; it may be in the same document.
    similarity : ndarray of float64, shape (m,)
        1 for equal ones; otherwise as in `Deduplication`.
    emptied : ndarray of int64
        The numbers of the documents of which nothing is left, ascending.
    by : str
        "line" or "paragraph".
    threshold : float
        1: equal ones are removed.
    documents, spans : int
        How many documents were read, and how many lines or paragraphs they have.
    characters : int
        How many code points the removed spans have.
    limited : int
        How many spans were kept without being compared with every candidate.
    ids : sequence or None
        The ids, if they were given.
    """

    def __init__(
        self,
        texts: list[str | None],
        removed: NDArray[np.int64],
        kept: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        emptied: NDArray[np.int64],
        by: str,
        threshold: float,
        spans: int,
        limited: int = 0,
        ids: Sequence[Any] | None = None,
    ) -> None:
        self.texts = texts
        self.document, self.start, self.end = np.ascontiguousarray(removed.T)
        self.kept_document, self.kept_start, self.kept_end = np.ascontiguousarray(kept.T)
        self.similarity = similarity
        self.emptied = emptied
        self.by = by
        self.threshold = threshold
        self.documents = len(texts)
        self.spans = spans
        self.characters = int((self.end - self.start).sum())
        self.limited = limited
        self.ids = ids

    @property
    def changed(self) -> NDArray[np.int64]:
        """The numbers of the documents from which something was removed, int64, ascending."""
        return np.unique(self.document)

    @property
    def id(self) -> list[Any]:
        """The id of each span's document; its number if no ids were given."""
        return named(self.document, self.ids)

    @property
    def kept_id(self) -> list[Any]:
        """The id of the document with the kept span; its number if no ids were given."""
        return named(self.kept_document, self.ids)

    @property
    def duplicate_ratio(self) -> float:
        """The share of removed spans, 0 to 1."""
        return len(self) / self.spans if self.spans else 0.0

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[tuple[Any, int, int, Any, float]]:
        places = (self.start.tolist(), self.end.tolist())
        return zip(self.id, *places, self.kept_id, self.similarity.tolist(), strict=True)

    def __repr__(self) -> str:
        return (
            f"<LineDeduplication: {len(self):,} of {self.spans:,} {self.by}s removed from"
            f" {len(self.changed):,} of {self.documents:,} documents>"
        )

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        columns: dict[str, Column] = {
            name: getattr(self, name)[rows]
            for name in (
                "document", "start", "end", "kept_document", "kept_start", "kept_end", "similarity",
            )
        }  # fmt: skip
        if self.ids is not None:
            columns["id"] = named(self.document[rows], self.ids)
            columns["kept_id"] = named(self.kept_document[rows], self.ids)
        return columns
