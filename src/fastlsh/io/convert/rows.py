"""Rows that Python has, of pieces of the inputs; and as JSON lines and CSV.

pyarrow does not write the former, and has no nested values in the latter.
"""

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from fastlsh.io.arrays import as_objects, table_as_objects
from fastlsh.io.blocks.contract import Block, Flags
from fastlsh.io.blocks.delimited import Delimited
from fastlsh.io.blocks.reading import plain_block
from fastlsh.io.folders import COLUMNAR, DELIMITED
from fastlsh.io.sources import Source
from fastlsh.io.table_columns import csv_row, unquoted_row

Row = dict[str, Any]

_OBJECTS = 1 << 22
"""Bytes of the objects of Python that rows of a table become together; one row may have more."""


def rows_of(source: Source, block: Block, kept: Flags) -> Iterator[Row]:
    """Yield the rows of some of the good documents of a block, as they are in the file.

    Raises
    ------
    InputError
        If two columns have one name.
    """
    piece, layout = block.rows(kept), plain_block(block).head.layout
    if source.format in COLUMNAR:
        check_names(source, layout.names)
        for bounds in slices_of_objects(piece):
            yield from table_rows(piece, *bounds)
    elif source.format in DELIMITED:
        check_names(source, layout or ())
        yield from delimited_as_rows(piece, source, layout or ())
    else:
        yield from json_as_rows(piece)


def check_names(source: Source, names: Sequence[str], done: str = "read") -> None:
    """Raise InputError if two columns of a file have one name, so that none can be `done`."""
    if len({*names}) < len(names):
        name = max(names, key=names.count)
        raise source.error(f"{names.count(name)} columns are named {name!r}, so none can be {done}")


def delimited_as_rows(piece: Any, source: Source, names: Sequence[str]) -> list[Row]:
    """Return rows of CSV and TSV, whose columns have these names."""
    rows = Delimited(source).fields(str(piece, "utf-8"))
    return [dict(zip(names, fields, strict=True)) for fields in rows if fields]


def json_as_rows(piece: Any) -> list[Row]:
    """Return lines of JSON."""
    return [json.loads(line) for line in bytes(piece).split(b"\n") if line and not line.isspace()]


def table_rows(table: Any, start: int, stop: int) -> list[Row]:
    """Return rows of a table; KeyError if a map has a key twice."""
    columns = map(as_objects, table.slice(start, stop - start).columns)
    names = table.column_names
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def slices_of_objects(table: Any) -> Iterator[tuple[int, int]]:
    """Yield between which rows a table is divided, so that few objects are made together."""
    ends = np.cumsum(table_as_objects(table))
    start, done = 0, 0
    while start < len(table):
        stop = max(int(np.searchsorted(ends, done + _OBJECTS, "right")), start + 1)
        yield start, stop
        start, done = stop, int(ends[stop - 1])


def json_lines(rows: Sequence[Row]) -> bytes:
    """Return rows as JSON lines: dates and decimals as text, NaN and infinities as null."""
    return "".join([json.dumps(as_plain(row), ensure_ascii=False) + "\n" for row in rows]).encode()


def delimited_rows(rows: Sequence[Row], delimiter: str, *, quotes: bool = True) -> bytes:
    """Return rows, which have the same keys, as CSV: null is empty, and nested values are JSON.

    ValueError if a cell needs quotes, and there are none.
    """
    line = csv_row if quotes else unquoted_row
    return "".join([line([*map(cell, row.values())], delimiter) for row in rows]).encode()


def fault_of(row: Mapping[str, Any], error: Exception) -> str:
    """Return why a row cannot be written: the key whose value cannot, and the reason."""
    for key, value in row.items():
        try:
            json.dumps(as_plain({key: value}), ensure_ascii=False).encode()
        except (ValueError, TypeError) as reason:  # noqa: PERF203
            return f"the value of {key!r} cannot be written: {reason}"
    return f"a value cannot be converted: {error.args[0]}"


def as_plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(as_plain(key)): as_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (Decimal, datetime.timedelta)) or hasattr(value, "hex"):  # UUIDs
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def cell(value: Any) -> str:
    """Return a value as the text of a cell: null is empty, and nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    plain = as_plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
