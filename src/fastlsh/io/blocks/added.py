"""Columns that the rows of an output get beside those that they came with."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastlsh.io.blocks.contract import AddedColumns, Head
from fastlsh.io.blocks.new_texts import json_keys
from fastlsh.io.delimited import csv_row
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Source


def head_with(head: Head, added: AddedColumns, source: Source) -> Head:
    """Return the head of an output whose rows get further columns.

    Parameters
    ----------
    head
        Of the blocks of the first input.
    added
        The new columns.
    source
        That input.

    Raises
    ------
    InputError
        A column of this name is there already.
    """
    has_names = hasattr(head.layout, "names")
    there = head.layout.names if has_names else head.layout or ()
    new = added.beside(there)
    if head.layout is None or new is None:
        return head
    added = new
    for name in added.types:
        if name in there:
            raise source.error(taken(name))
    if not has_names:
        layout, header = (*head.layout, *added.types), head.header
        if header:
            end = header[len(header.rstrip(b"\r\n")) :]
            names = delimited_tail([*added.types], source)
            header = header[: len(header) - len(end)] + names + end
        return replace(head, layout=layout, header=header)
    schema = head.layout
    for name, kind in added.types.items():
        schema = schema.append(pyarrow("").field(name, kind))
    return replace(head, layout=schema)


def with_keys(added: AddedColumns | None, source: Source, count: int) -> AddedColumns:
    """Return the columns of the path of a file, for so many documents, before other new ones."""
    types = {key.name: key.kind for key in source.keys}
    values = {key.name: [key.value] * count for key in source.keys}
    more = added or AddedColumns({}, {})
    for name in more.types.keys() & types:
        raise source.error(taken(name))
    return AddedColumns({**types, **more.types}, {**values, **more.values}, frozenset(types))


def table_with_columns(table: Any, added: AddedColumns) -> Any:
    """Return a table with the new columns behind its own."""
    pa = pyarrow("")
    for name, kind in added.types.items():
        field = pa.field(name, kind)
        table = table.append_column(field, pa.array(added.values[name], field.type))
    return table


def json_tails(added: AddedColumns, *, plain: bool) -> list[bytes]:
    """Return for each document what stands before the brace that closes its line of JSON.

    Parameters
    ----------
    added
        The new columns.
    plain
        Whether to escape everything that is not ASCII.
    """
    keys = [f", {json.dumps(name)}: " for name in added.types]
    encode = json.JSONEncoder(ensure_ascii=plain).encode
    members: list[dict[Any, str]] = [{} for _ in keys]  # equal values of a column are of one type
    known: dict[tuple[Any, ...], bytes] = {}
    tails = []
    for row in added.rows():
        tail = known.get(row)
        if tail is None:
            for key, value, encoded in zip(keys, row, members, strict=True):
                if value not in encoded:
                    encoded[value] = key + _json_value(value, encode)
            tail = "".join(map(dict.__getitem__, members, row)).encode()
            known[row] = tail
        tails.append(tail)
    return tails


def _json_value(value: Any, encode: Callable[[Any], str]) -> str:
    text = encode(value)
    if not text.isascii() and _has_surrogate(text):  # which can only be escaped
        return json.dumps(value)
    return text


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


def check_new_keys(added: AddedColumns, source: Source, row: int, raw: str) -> frozenset[str]:
    """Return the new keys that a line of JSON has already; InputError if one is not optional."""
    there = frozenset(added.types.keys() & json_keys(raw))
    for name in there - added.optional:
        raise source.error(taken(name), row)
    return there


def delimited_tails(added: AddedColumns, source: Source) -> list[bytes]:
    """Return for each document what stands behind the last field of its row."""
    rows = (["" if value is None else str(value) for value in row] for row in added.rows())
    return [delimited_tail(cells, source) for cells in rows]


def delimited_tail(cells: list[str], source: Source) -> bytes:
    """Return further fields of a row, with the delimiter before them."""
    delimiter = source.delimiter
    if source.options.quotes:
        text = csv_row(cells, delimiter).removesuffix("\n")
    else:
        text = delimiter.join(cells)
        if text.count(delimiter) >= len(cells) or "\n" in text or "\r" in text:
            raise source.error(f"{cells} cannot be added to a row without quotes")
    return (delimiter + text).encode("utf-8", "backslashreplace")


def taken(name: str) -> str:
    """Return why a column cannot be added."""
    return f"there is a column {name!r} already, which is to be added: rename it"
