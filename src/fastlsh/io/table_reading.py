"""Tables of results, read again row by row."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastlsh.io.blocks.lines import fields_of_any_size
from fastlsh.io.errors import pyarrow
from fastlsh.io.files import expand_one
from fastlsh.io.objects import read_objects
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow, open_bytes

_ESCAPED = re.compile(r"\\([\\tnr])")
_MEANT = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def table_rows(
    path: str | os.PathLike[str], columns: Sequence[Sequence[str]]
) -> Iterator[list[Any]]:
    """Yield the values of some columns of a table that `write_table` has written, row by row.

    Parameters
    ----------
    path
        ``.tsv``, ``.csv``, ``.jsonl`` and ``.json``, compressed or not, and ``.parquet``.
    columns
        For each value the names that its column may have. With "" among them, the column may be
        missing, and the value is then None.

    Raises
    ------
    InputError
        The file cannot be read, or a column is missing.
    """
    source = expand_one(path)
    if source.format == "parquet":
        yield from _of_parquet(source, columns)
    elif source.format == "jsonl":
        yield from _of_jsonl(source, columns)
    elif source.format in ("tsv", "csv"):
        yield from _of_lines(source, columns)
    else:
        raise source.error("unknown format: a table is read as .tsv .csv .jsonl or .parquet")


def _found(
    source: Source, names: Sequence[str], columns: Sequence[Sequence[str]], row: int | None = None
) -> list[str]:
    """Return which name each column has; "" if it is missing."""
    chosen = []
    for possible in columns:
        name = next((name for name in possible if name == "" or name in names), None)
        if name is None:
            there = f"(there is: {', '.join(names)})"
            raise source.error(f"no column {' or '.join(possible)} {there}", row)
        chosen.append(name)
    return chosen


def _of_parquet(source: Source, columns: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    parquet = pyarrow(source.path, "pyarrow.parquet")
    with open_arrow(source) as file:
        table = parquet.ParquetFile(file)
        chosen = _found(source, table.schema_arrow.names, columns)
        wanted = [name for name in chosen if name]
        for batch in table.iter_batches(columns=wanted):
            values = dict(zip(wanted, (batch[name].to_pylist() for name in wanted), strict=True))
            missing = [None] * len(batch)
            yield from map(
                list, zip(*(values.get(name, missing) for name in chosen), strict=True)
            )  # fmt: skip


def _of_jsonl(source: Source, columns: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    for number, row in read_objects(source):
        chosen = _found(source, list(row), columns, number)
        yield [row[name] if name else None for name in chosen]


def _of_lines(source: Source, columns: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    with open_bytes(source) as file:
        lines = io.TextIOWrapper(file, "utf-8", "strict", newline="")
        tabs = source.format == "tsv"
        rows: Iterator[list[str]] = (
            (line.rstrip("\r\n").split("\t") for line in lines) if tabs else _records(lines)
        )
        number = 0
        try:
            names = next(rows, [])
            chosen = _found(source, names, columns)
            at = [names.index(name) if name else -1 for name in chosen]
            for number, row in enumerate(rows, 1):
                if len(row) != len(names):
                    reason = f"has {len(row)} columns, and the header {len(names)}"
                    raise source.error(reason, number)
                found = [row[place] if place >= 0 else None for place in at]
                yield [_plain(value) if tabs and value else value for value in found]
        except UnicodeDecodeError as error:
            raise source.error("is not UTF-8") from error
        except csv.Error as error:
            raise source.error(f"is no CSV: {error}", number + 1) from error


def _records(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield rows of CSV; the csv module has its own limit again between two rows."""
    rows = csv.reader(lines, strict=True)
    while True:
        with fields_of_any_size():
            row = next(rows, None)
        if row is None:
            return
        yield row


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda found: _MEANT[found[1]], value) if "\\" in value else value
