"""How much of each data set is in each other one."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.results.table import Column, ResultTable


@dataclass(eq=False, repr=False)
class Overlap(ResultTable):
    """How many documents of each data set have a near-duplicate in each other data set.

    It is also a table for every library that reads Arrow, with a row for each pair of data sets: in
    the row of a data set with itself, its documents with a near-duplicate among its own others.

    Attributes
    ----------
    names : list of str
        The data sets.
    documents, characters : ndarray of int64, shape (n,)
        How many documents each has, and how many code points (bytes with unit "byte").
    shared_documents, shared_characters : ndarray of int64, shape (n, n)
        How many of those of the data set of the row have a near-duplicate in that of the column.
    counts : ndarray of stages.Shared
        Documents and characters, by data set and by the other ones that they are in.
    empty : int
        How many documents have no shingle, and so no near-duplicate.
    short : int
        How many have fewer units than a shingle, so that only equal documents are found.
    params : LSHParams
        The bands and rows of the search.

    Examples
    --------
    >>> import fastlsh
    >>> found = fastlsh.overlap({
    ...     "old": ["one text and more", "another text"], "new": ["one text and more", "other"],
    ... })
    >>> found.shared_documents.tolist()
    [[0, 1], [1, 0]]
    """

    names: list[str]
    documents: NDArray[np.int64]
    characters: NDArray[np.int64]
    counts: NDArray[Any]
    _: KW_ONLY
    empty: int
    short: int = 0
    params: LSHParams

    def __post_init__(self) -> None:
        n, counts = len(self.names), self.counts
        bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
        has = (counts["others"][:, None] & bits) != 0
        self.shared_documents, self.shared_characters = (
            _by_row(n, counts["data_set"], has * counts[name][:, None])
            for name in ("documents", "characters")
        )

    def __len__(self) -> int:
        return len(self.names) ** 2

    def __repr__(self) -> str:
        return f"<Overlap: {len(self.names):,} data sets of {self.documents.sum():,} documents>"

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        n = len(self.names)
        first, second = np.divmod(np.arange(n * n)[rows], max(n, 1))
        return {
            "data_set": [self.names[i] for i in first.tolist()],
            "other": [self.names[i] for i in second.tolist()],
            "shared_documents": self.shared_documents[first, second],
            "documents": self.documents[first],
            "shared_characters": self.shared_characters[first, second],
            "characters": self.characters[first],
        }

    def columns(self) -> dict[str, Column]:
        """Return the columns of the table.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.overlap({"a": ["some text"], "b": ["some text"]}).columns()["shared_documents"]
        array([0, 1, 1, 0])
        """
        return self._columns()


def _by_row(n: int, row: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros((n, n), np.int64)
    np.add.at(total, row, values)
    return total
