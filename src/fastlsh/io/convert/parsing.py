"""Pieces of inputs as rows that Python has."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from fastlsh.io.formats import COLUMNAR, SPLIT
from fastlsh.io.sources import Source

Row = dict[str, Any]
_FIELD_LIMIT = 2**31 - 1  # of the csv module, which keeps one for the whole process


def column_names(source: Source, layout: Any) -> list[str] | None:
    """Return the columns of all rows; None if each row has its own.

    Raises
    ------
    InputError
        If two columns have one name.
    """
    if source.format in ("jsonl", "txt", *SPLIT):
        return None
    names = list(layout.names if source.format in COLUMNAR else layout or ())
    for name in names:
        if names.count(name) > 1:
            raise source.error(f"{names.count(name)} columns are named {name!r}, so none can be")
    return names


def default_names(source: Source) -> list[str]:
    """Return the columns of JSON lines without any row, so that what they become can be read."""
    return ["id", "text"] if source.format in ("txt", *SPLIT) else [source.options.text or "text"]


def parser(source: Source, layout: Any) -> Callable[[Any], list[Row]]:
    """Return what makes rows of a piece of an input."""
    if source.format in COLUMNAR:
        return _of_table
    if source.format in ("csv", "tsv"):
        return lambda piece: _of_fields(source, layout, piece)
    return of_lines


def of_lines(piece: Any) -> list[Row]:
    """Return the objects of JSON lines."""
    return [json.loads(line) for line in bytes(piece).split(b"\n") if line and not line.isspace()]


def _of_fields(source: Source, layout: tuple[str, ...], piece: Any) -> list[Row]:
    options = source.options
    reader = csv.reader(
        io.StringIO(str(piece, "utf-8"), newline=""),
        delimiter=options.delimiter or ("\t" if source.format == "tsv" else ","),
        quoting=csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE,
        strict=True,
    )
    limit = csv.field_size_limit(_FIELD_LIMIT)
    try:
        return [dict(zip(layout, fields, strict=True)) for fields in reader if fields]
    finally:
        csv.field_size_limit(limit)


def _of_table(piece: Any) -> list[Row]:
    return piece.to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]
