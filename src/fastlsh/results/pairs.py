"""Pairs of documents with their similarity."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.results.arrow import export


class Pairs:
    """Pairs of documents, sorted by (left, right), each pair once.

    Also a table for everything that reads Arrow (``pyarrow.table(pairs)``,
    ``polars.DataFrame(pairs)``, DuckDB), and an iterable of (left, right, similarity).

    Attributes
    ----------
    left, right : ndarray of int64, shape (n,)
        Numbers of the documents, from 0; left < right.
    similarity : ndarray of float64, shape (n,)
        Exact Jaccard similarity of the shingle sets; or the share of equal minima with
        ``verify="signature"``; NaN if not verified.
    ids : sequence or None
        The documents' ids, if they were given.
    params : LSHParams or None
        The bands and rows that found the pairs.
    documents, empty : int
        How many documents were read, and how many of them have no shingle.
    """

    def __init__(
        self,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        similarity: NDArray[np.float64],
        *,
        ids: Sequence[Any] | None = None,
        params: LSHParams | None = None,
        documents: int = 0,
        empty: int = 0,
    ) -> None:
        self.left = left
        self.right = right
        self.similarity = similarity
        self.ids = ids
        self.params = params
        self.documents = documents
        self.empty = empty

    @property
    def left_id(self) -> list[Any]:
        """The ids of the left documents; their numbers if no ids were given."""
        return self._named(self.left)

    @property
    def right_id(self) -> list[Any]:
        """The ids of the right documents; their numbers if no ids were given."""
        return self._named(self.right)

    def _named(self, documents: NDArray[np.int64]) -> list[Any]:
        numbers: list[Any] = documents.tolist()
        if self.ids is None:
            return numbers
        ids = self.ids
        return [ids[i] for i in numbers]

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.left.tolist(), self.right.tolist(), self.similarity.tolist(), strict=True)

    def __repr__(self) -> str:
        return f"<Pairs: {len(self):,} pairs among {self.documents:,} documents>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the pairs as an Arrow stream: left, right, similarity, and the ids if given."""
        return export(self._columns())

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns left, right, similarity (and the ids)."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "left": self.left,
            "right": self.right,
            "similarity": self.similarity,
        }
        if self.ids is not None:
            columns["left_id"] = self.left_id
            columns["right_id"] = self.right_id
        return columns
