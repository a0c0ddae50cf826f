"""Annotations: columns that say, in the row of each document, what was found of it."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import sorted_range
from fastlsh.io import AddedColumns, Lookup, Values, are_integers, texts_of_ids
from fastlsh.results import ClusterCounts, Removals

SPANS = "repeated_spans"


class Annotations:
    """The columns about the clusters of the documents of the inputs, made block by block.

    Documents are numbered through `against` and the inputs, in whichever order.

    Parameters
    ----------
    removals
        The removed documents, and the kept document that each duplicates.
    counts
        Of their clusters.
    similarity
        float64 (m,): how similar both are; NaN, if that is not known, becomes null.
    measure
        What the column of it is called.
    ids
        The ids of all documents, or of the kept ones that have duplicates.
    """

    def __init__(
        self,
        removals: Removals,
        counts: ClusterCounts,
        similarity: NDArray[np.float64],
        measure: str,
        ids: Values,
    ) -> None:
        self._removed, self._kept, inputs = removals
        self._counts, self._similarity, self._first = counts, similarity, inputs.start
        self._ids = ids
        self._integers = are_integers(ids)
        kind = "int64" if self._integers else "string"
        self._types = {"duplicate_of": kind, measure: "double", **counts.types}

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the columns of the documents of the inputs from `start` to `stop` - 1."""
        start, stop = start + self._first, stop + self._first
        rows = np.arange(*np.searchsorted(self._removed, (start, stop)))
        return self._columns(np.arange(start, stop), self._removed[rows] - start, rows)

    def of_documents(self, documents: NDArray[np.int64]) -> AddedColumns:
        """Return the columns of any documents of the inputs, of each as often as it is given."""
        at = np.searchsorted(self._removed, documents)
        gone = np.flatnonzero(at < np.searchsorted(self._removed, documents, "right"))
        return self._columns(documents, gone, at[gone])

    def _columns(
        self, documents: NDArray[np.int64], gone: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> AddedColumns:
        """Return the columns of documents; `gone` of these are removed, by `rows`."""
        cluster = documents.copy()
        cluster[gone] = self._kept[rows]
        ids, similarity = Lookup(self._ids, self._kept[rows])[:], self._similarity[rows].tolist()
        counts = self._counts.columns(documents, cluster)
        values = (
            _spread(ids if self._integers else texts_of_ids(ids), gone, len(cluster)),
            _spread([None if s != s else s for s in similarity], gone, len(cluster)),
            *(_finite(column) for column in counts.values()),
        )
        return AddedColumns(self._types, dict(zip(self._types, values, strict=True)))


@dataclass(frozen=True)
class RowAnnotations:
    """The columns about clusters of documents that are made of rows, by row."""

    added: Annotations
    documents: NDArray[np.int64]
    """The document of each row of the inputs."""

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the columns of the rows from `start` to `stop` - 1."""
        return self.added.of_documents(self.documents[start:stop])


def _finite(column: NDArray[Any]) -> list[Any]:
    """Return a list with None for a sum that is no finite number, which JSON does not have."""
    values: list[Any] = column.tolist()
    if np.isfinite(column).all():
        return values
    return [value if abs(value) < np.inf else None for value in values]


def _spread(values: list[Any], positions: NDArray[np.int64], count: int) -> list[Any]:
    """Return a list with values at some positions, and None elsewhere."""
    found: list[Any] = [None] * count
    for position, value in zip(positions.tolist(), values, strict=True):
        found[position] = value
    return found


class SpanColumns:
    """The column that says what was found of the documents of the inputs, made block by block.

    Parameters
    ----------
    removed
        int64 (m, 3), ascending: document, begin and end of what would go; what touches is one cut.
    first
        The number of the first document of the inputs.
    """

    def __init__(self, removed: NDArray[np.int64], first: int = 0) -> None:
        self._removed, self._first = removed, first

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the column of the documents of the inputs from `start` to `stop` - 1."""
        start, stop = start + self._first, stop + self._first
        of_documents = sorted_range(self._removed[:, 0], start, stop)
        found: list[list[list[int]]] = [[] for _ in range(start, stop)]
        for number, begin, end in self._removed[of_documents].tolist():
            spans = found[number - start]
            if spans and spans[-1][1] == begin:
                spans[-1][1] = end
            else:
                spans.append([begin, end])
        values = [json.dumps(each, separators=(",", ":")) if each else None for each in found]
        return AddedColumns({SPANS: "string"}, {SPANS: values})
