"""The columns and the CSV of tables of results: pairs, proofs of removals, clusters."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fastlsh.io.ids import Ids, sizes_of
from fastlsh.parallel import batches


def csv_text(rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    """Return rows of CSV, each with a line feed at its end; cells are quoted where they must be."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    if "\r" not in text.getvalue():
        return text.getvalue()
    # Not every Python quotes a carriage return that does not end its lines.
    return "".join([csv_row(cells, delimiter) for cells in rows])


def csv_row(cells: Sequence[str], delimiter: str = ",") -> str:
    """Return a row as `csv_text` does, in less memory than the csv module takes for a long cell."""
    every = [*cells] == [""] or any("\r" in cell for cell in cells)
    special = delimiter, '"', "\n"
    parts: list[str] = []
    for cell in cells:
        if every or any(mark in cell for mark in special):
            parts += ('"', cell.replace('"', '""'), '"', delimiter)
        else:
            parts += (cell, delimiter)
    parts[-1:] = "\n"
    return "".join(parts)


def unquoted_row(cells: Sequence[str], delimiter: str) -> str:
    """Return a row of a file without quotes; ValueError if a cell would need them."""
    for cell in cells:
        if delimiter in cell or "\n" in cell or "\r" in cell:
            raise ValueError(
                f"{cell!r} has a delimiter or a line end, which a file without quotes cannot have: "
                "write another format, such as .jsonl"
            )
    return delimiter.join(cells) + "\n"


_ROWS, _BYTES = 1 << 17, 1 << 22
"""Rows, and about how many bytes of looked up values, that are made at a time."""


@runtime_checkable
class StoredValues(Protocol):
    """Values that are made where they are taken."""

    @property
    def integers(self) -> bool:
        """Whether all are integers of 64 bits."""

    def take(self, positions: npt.NDArray[np.int64]) -> list[Any]:
        """Return the values at some positions, in any order."""

    def sizes(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return about how many bytes the values at some positions take."""


Values = Sequence[Any] | StoredValues


class Lookup(Sequence[Any]):
    """``[values[i] for i in positions]``, made piece by piece where it is sliced.

    Parameters
    ----------
    values : sequence or StoredValues
        What is looked up.
    positions : numpy.ndarray of int64
        Where.
    kind : str
        The type of the column in Arrow: "int64", "float64" or "string". By default it is one of
        ids: "int64" if all values are such integers, else "string".
    """

    def __init__(
        self, values: Values, positions: npt.NDArray[np.int64], kind: str | None = None
    ) -> None:
        self.values = values
        self.positions = positions
        self.kind = kind

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.positions)

    def __iter__(self) -> Iterator[Any]:
        """Yield the values, some of which are made at a time."""
        for start, stop in blocks_of_rows([self]):
            yield from self[start:stop]

    def __getitem__(self, key: Any) -> Any:
        """Return a value, or a list of those of a slice."""
        if isinstance(key, slice):
            return self._take(self.positions[key])
        return self._take(self.positions[key : key + 1])[0]

    def _take(self, positions: npt.NDArray[np.int64]) -> list[Any]:
        if isinstance(self.values, (Ids, StoredValues)):
            return self.values.take(positions)
        return [self.values[i] for i in positions.tolist()]

    def sizes(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return about how many bytes some values take, of which none is made for that."""
        positions = self.positions[start:stop]
        if isinstance(self.values, (Ids, StoredValues)):
            return self.values.sizes(positions)
        return sizes_of([self.values[i] for i in positions.tolist()])


def blocks_of_rows(columns: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Yield the first row of each block of equally long columns, and the row behind its last one.

    A block has at most `_ROWS` rows, and `_BYTES` of looked up values unless it is one row.
    """
    for start, stop in batches(len(columns[0]), _ROWS):
        ends = np.zeros(stop - start, np.int64)
        for column in columns:
            if isinstance(column, Lookup):
                ends += column.sizes(start, stop)
        np.cumsum(ends, out=ends)
        inner = (start + 1 + np.flatnonzero(np.diff(ends // _BYTES))).tolist()
        yield from pairwise([start, *inner, stop])


def are_integers(values: Values) -> bool:
    """Whether all values are integers of 64 bits; false if there is none."""
    if isinstance(values, StoredValues):
        return values.integers
    return len(values) > 0 and all(type(v) is int and -(2**63) <= v < 2**63 for v in values)


def texts_of_ids(values: Sequence[Any]) -> list[str]:
    """Return ids as texts that can be written as UTF-8."""
    return [str(value).encode("utf-8", "backslashreplace").decode() for value in values]


def pair_columns(
    ids: Values,
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    similarity: npt.NDArray[np.float64],
    estimate: npt.NDArray[np.float64] | None = None,
    *,
    measure: str = "jaccard",
) -> dict[str, Any]:
    """Return the table of pairs: the ids of both documents, and how similar these are.

    `estimate` is another column, the similarity as signatures tell it; None: there is none.
    `measure` is the name of the similarity; if it is "estimate", too, there is one column.
    """
    columns = {"id_a": Lookup(ids, left), "id_b": Lookup(ids, right), measure: similarity}
    return columns if estimate is None else {**columns, "estimate": estimate}


def contamination_columns(
    ids: Lookup,
    files: Lookup,
    items: Lookup,
    share: npt.NDArray[np.float64],
    run: npt.NDArray[np.int64],
    fields: Lookup,
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
) -> dict[str, Any]:
    """Return the table of contamination: which item a document contains, how much of it, where."""
    return {
        "id": ids, "item_file": files, "item_id": items, "share": share, "longest_run": run,
        "field": fields, "start": start, "end": end,
    }  # fmt: skip
