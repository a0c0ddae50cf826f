"""Results as tables: for Arrow (without pyarrow), for pandas, and in a notebook."""

from collections.abc import Iterator, Sequence
from copy import copy
from html import escape
from importlib import import_module
from typing import Any, ClassVar, Generic, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import arrow_stream

Column = NDArray[Any] | Sequence[Any]


def export(columns: dict[str, Column]) -> object:
    """Return an ``arrow_array_stream`` capsule of equally long columns.

    Integers become int64, floats float64, booleans bool, all else large_string (by str()).
    """
    rows = len(next(iter(columns.values())))
    return arrow_stream([(name, *_encode(column)) for name, column in columns.items()], rows)


def _encode(column: Column) -> tuple[str, list[NDArray[Any]]]:
    if isinstance(column, np.ndarray) and column.dtype.kind == "b":
        return "b", [np.packbits(column, bitorder="little")]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return "l", [column.astype(np.int64, copy=False)]
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return "g", [column.astype(np.float64, copy=False)]
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in column):
        return "l", [np.array(column, np.int64)]
    encoded = [str(value).encode("utf-8", "replace") for value in column]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return "U", [offsets, np.frombuffer(b"".join(encoded), np.uint8)]


AGAINST = "against:"
"""What the name of a document of `against` begins with where it has no id."""


def named(numbers: NDArray[np.int64], ids: Sequence[Any] | None) -> list[Any]:
    """Return the ids of some documents; their numbers if there are no ids."""
    plain: list[Any] = numbers.tolist()
    return plain if ids is None else [ids[number] for number in plain]


def kept_names(
    kept: NDArray[np.int64],
    against: NDArray[np.int64],
    ids: Sequence[Any] | None,
    against_ids: Sequence[Any] | None,
) -> list[Any]:
    """Return the ids of kept documents: of those in `against`, unless it is -1, or in `kept`."""
    outside = against >= 0
    names = iter(named(kept[~outside], ids))
    others = iter(named(against[outside], against_ids))
    if against_ids is None:
        others = (f"{AGAINST}{number}" for number in others)
    return [next(others if is_outside else names) for is_outside in outside.tolist()]


SHOWN = 10
"""Rows that a notebook shows."""


class ResultTable:
    """A result that is a table of equally long columns."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """The attributes with a value for each row, or None: the columns, in their order."""

    ID_COLUMNS: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """The properties with ids, which follow as columns if one of the named attributes has ids."""

    def __len__(self) -> int:
        return len(getattr(self, self.COLUMNS[0]))

    def _part(self: "Table", rows: slice) -> "Table":
        """Return a table of the same kind with some of the rows."""
        part = copy(self)
        for name in self.COLUMNS:
            values = getattr(self, name)
            setattr(part, name, None if values is None else values[rows])
        return part

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        """Return some rows of each column."""
        part = self._part(rows)
        measured = {"similarity": getattr(self, "measure", "similarity")}
        columns = {measured.get(name, name): getattr(part, name) for name in self.COLUMNS}
        for name, *ids in self.ID_COLUMNS:
            if any(getattr(self, attribute) is not None for attribute in ids):
                columns[name] = getattr(part, name)
        return {name: column for name, column in columns.items() if column is not None}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table as an Arrow stream, for which pyarrow is not needed."""
        return export(self._columns())

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table; needs pyarrow. Ids that are not integers become strings.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.near_duplicates(["some text", "some text"]).to_arrow().column_names
        ['left', 'right', 'similarity']
        """
        return _library("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame; needs pandas.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.near_duplicates(["some text", "some text"]).to_pandas()
           left  right  similarity
        0     0      1         1.0
        """
        return _library("pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a polars.DataFrame; needs polars. Ids that are not integers become strings.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.near_duplicates(["some text", "some text"]).to_polars().columns
        ['left', 'right', 'similarity']
        """
        return _library("polars").DataFrame(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the first rows."""
        return f"<p>{escape(repr(self))}</p>{self.first_rows()}"

    def first_rows(self) -> str:
        """Return the first rows as a table of HTML."""
        columns = self._columns(slice(SHOWN))
        cells = zip(*map(_shown, columns.values()), strict=True)
        body = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells]
        if len(self) > SHOWN:
            body.append(f"<tr><td colspan={len(columns)}>...</td></tr>")
        head = "".join(f"<th>{name}</th>" for name in columns)
        return f"<table><tr>{head}</tr>{''.join(body)}</table>"


Table = TypeVar("Table", bound=ResultTable)
Row = TypeVar("Row")


class RowTable(ResultTable, Generic[Row]):
    """A table that is also an iterable of its rows."""

    ROW: ClassVar[tuple[str, ...]]
    """The attributes that make a row."""

    def __iter__(self) -> Iterator[Row]:
        columns = (_plain(getattr(self, name)) for name in self.ROW)
        rows: Iterator[Any] = zip(*columns, strict=True)
        return rows


class RowSequence(RowTable[tuple[Any, Any, float]]):
    """A table that is also a sequence of (id, other id, similarity)."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[Any, Any, float]: ...
    @overload
    def __getitem__(self: "Table", index: slice) -> "Table": ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """Return a row as iterating gives it; the rows of a slice as a table of the same kind."""
        if isinstance(index, slice):
            return self._part(index)
        row = range(len(self))[index]
        return next(iter(self._part(slice(row, row + 1))))


class CountedResult:
    """A result that counts what is kept and what is removed."""

    @property
    def duplicate_ratio(self: Any) -> float:  # of a class that has n_kept and n_removed
        """The share of what is removed, 0 to 1: of documents, lines, paragraphs or sentences."""
        total = self.n_kept + self.n_removed
        return self.n_removed / total if total else 0.0


def _library(name: str) -> Any:
    """Import an optional library; say how to install it if it is not there."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        reason = f"{name} is not installed: pip install {name}"
        raise ModuleNotFoundError(reason, name=name) from None


def _plain(column: Any) -> Sequence[Any]:
    values: Sequence[Any] = column.tolist() if hasattr(column, "tolist") else column
    return values


def _shown(column: Column) -> list[str]:
    return [
        f"{value:.4f}" if isinstance(value, float) else escape(str(value))
        for value in _plain(column)
    ]
