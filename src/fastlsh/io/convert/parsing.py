"""Pieces of inputs as rows that Python has."""

import json
from collections.abc import Callable
from typing import Any

from fastlsh.io.blocks import Block, Delimited, Flags
from fastlsh.io.formats import COLUMNAR, SPLIT
from fastlsh.io.sources import Source

Row = dict[str, Any]


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
    """Return the columns of an output without any row, so that it can be read."""
    return ["id", "text"] if source.format in ("txt", *SPLIT) else [*source.options.texts()]


def parser(source: Source, names: list[str] | None) -> Callable[[Any], list[Row]]:
    """Return what makes rows of a piece of an input."""
    if source.format in COLUMNAR:
        return lambda piece: piece.to_pylist(maps_as_pydicts="strict")
    if names is None:
        return _json_rows
    fields_of = Delimited(source).fields
    return lambda piece: [
        dict(zip(names, fields, strict=True)) for fields in fields_of(str(piece, "utf-8")) if fields
    ]


def _json_rows(piece: Any) -> list[Row]:
    return [json.loads(line) for line in bytes(piece).split(b"\n") if line and not line.isspace()]


def rows_of(source: Source, block: Block, kept: Flags) -> list[Row]:
    """Return the rows of some of the good documents of a block, as Python has them."""
    return parser(source, column_names(source, block.head.layout))(block.rows(kept))
