"""Columns beside the rows and the ids: what a run found of a document, and what its file has."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import sorted_range
from fastlsh.errors import InputError
from fastlsh.files.disk.gathered import StoredIds
from fastlsh.io import (
    SPLIT,
    AddedColumns,
    Block,
    Collection,
    Lookup,
    Source,
    Values,
    are_integers,
    as_plain,
    rows_of,
    texts_of_ids,
    values_in_path,
)
from fastlsh.results import ClusterCounts, RemovedDocuments

Numbers = NDArray[np.int64]

KINDS = {
    frozenset({int}): "int64", frozenset({float}): "float64", frozenset({int, float}): "float64",
    frozenset({bool}): "bool_",
}  # fmt: skip
"""The type in Arrow of a column with values of these types; of all others, it is a text."""


class Cells(StoredIds):
    """Values of documents, as JSON.

    Parameters
    ----------
    numbers
        The documents, ascending.
    texts
        The values, some at a time.
    integers
        Whether all are integers of 64 bits.
    """

    def __init__(self, numbers: Numbers, texts: Iterable[list[bytes]], *, integers: bool) -> None:
        data, sizes = bytearray(), [np.empty(0, np.int64)]
        for values in texts:
            data += b"".join(values)
            sizes.append(np.fromiter(map(len, values), np.int64, len(values)))
        ends = np.cumsum(np.concatenate(sizes))
        super().__init__(numbers, ends, np.frombuffer(data + b" ", np.uint8))
        self.integers = integers


class Reread(NamedTuple):
    """A block that is read again."""

    first: int
    """The number of its first document."""
    documents: int
    source: Source
    block: Block


def blocks_of(*collections: Collection) -> Iterator[Reread]:
    """Read the files of collections again; their documents are numbered one behind the other."""
    first = 0
    for part in (part for collection in collections for part in collection.parts if part.is_read):
        for count, block in zip(part.counts, part.blocks(), strict=True):
            yield Reread(first, count, part.source, block)
            first += count


def columns_of_both(
    names: Sequence[str],
    left: Numbers,
    right: Numbers,
    max_row: int,
    read: Callable[[Numbers], Iterable[Reread]],
) -> dict[str, Lookup]:
    """Return columns of the rows of both documents of pairs, as ``title_a`` and ``title_b``.

    Parameters
    ----------
    names
        The columns in the files, or in their paths; ``a.b`` is key b in a. Where a row has none, it
        is null.
    left, right
        The documents, whose rows must be documents.
    max_row
        Bytes that a row may have; LongRowError if one takes more memory as objects of Python.
    read
        Reads at least the blocks with some documents, which are ascending.

    Raises
    ------
    InputError
        None of these rows has a column.
    """
    rows, path = np.union1d(left, right), ""
    values: dict[str, list[list[bytes]]] = {name: [] for name in names}
    kinds: dict[str, set[type]] = {name: set() for name in names}
    for first, count, source, block in read(rows) if names else ():
        start, stop = np.searchsorted(rows, (first, first + count))
        if start == stop:
            continue
        path, kept = path or source.path, np.zeros(count, np.bool_)
        kept[rows[start:stop] - first] = True
        block.check_objects(max_row, 1)
        in_path = values_in_path(source)
        plain = source.format in ("txt", *SPLIT)  # which has the columns of its path only
        for name in names:
            values[name].append([])
        for columns_of_row in [{}] * int(kept.sum()) if plain else rows_of(source, block, kept):
            row = in_path | columns_of_row
            for name in names:
                value = _value(row, name, kinds[name])
                values[name][-1].append(json.dumps(value).encode())
    columns: dict[str, Lookup] = {}
    for name, seen in kinds.items():
        if path and not seen:
            raise InputError(path, f"no row of a pair has a column {name!r}")
        cells = Cells(rows, values[name], integers=False)
        kind = KINDS.get(frozenset(seen - {type(None)}), "string")
        columns |= {f"{name}_a": Lookup(cells, left, kind), f"{name}_b": Lookup(cells, right, kind)}
    return columns


def _value(row: dict[str, Any], name: str, seen: set[type]) -> Any:
    """Return the value of a column in a row, or None; add its type, if it is there, to `seen`."""
    inner: Any = row
    for key in (name,) if name in row else name.split("."):
        if not isinstance(inner, dict) or key not in inner:
            return None
        inner = inner[key]
    value = as_plain(inner)
    is_long = type(value) is int and not -(2**63) <= value < 2**63
    seen.add(str if is_long else type(value))
    return value


SPANS = "repeated_spans"


class Annotations:
    """The columns about the clusters of the documents of the inputs, made block by block.

    Documents are numbered through `against` and the inputs.

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
        removals: RemovedDocuments,
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
    spread: list[Any] = [None] * count
    for position, value in zip(positions.tolist(), values, strict=True):
        spread[position] = value
    return spread


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
        by_row: list[list[list[int]]] = [[] for _ in range(start, stop)]
        for number, begin, end in self._removed[of_documents].tolist():
            spans = by_row[number - start]
            if spans and spans[-1][1] == begin:
                spans[-1][1] = end
            else:
                spans.append([begin, end])
        values = [json.dumps(spans, separators=(",", ":")) if spans else None for spans in by_row]
        return AddedColumns({SPANS: "string"}, {SPANS: values})
