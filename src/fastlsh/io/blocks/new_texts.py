"""Rows of which the text is another one, and everything else as it came."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastlsh.io.delimited import csv_row
from fastlsh.io.errors import pyarrow

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


def json_value(raw: str, key: str) -> tuple[int, int]:
    """Return where the value of a key begins and ends in a line of JSON, which is a good row.

    ``a.b`` is key b in a, unless there is a key of this name.
    """
    start = _past_space(raw, 0)
    span = _member(raw, start, key)
    for name in key.split(".") if span is None else ():
        span = _member(raw, start, name)
        assert span is not None, "the row was read"
        start = span[0]
    assert span is not None
    return span


def json_text(text: str, *, plain: bool) -> bytes:
    """Return a text as a string of JSON; `plain`: whether to escape what is not ASCII."""
    try:
        return json.dumps(text, ensure_ascii=plain).encode()
    except UnicodeEncodeError:  # a lone surrogate can only be escaped
        return json.dumps(text).encode()


def json_keys(raw: str) -> list[str]:
    """Return the keys of an object, as they stand in a line of JSON."""
    return [name for name, _, _ in _members(raw, _past_space(raw, 0))]


def _member(raw: str, start: int, key: str) -> tuple[int, int] | None:
    """Return where the value of a key stands in an object; of repeated keys, that of the last."""
    found = None
    for name, begin, end in _members(raw, start):
        if name == key:
            found = begin, end
    return found


def _members(raw: str, start: int) -> Iterator[tuple[str, int, int]]:
    at = _past_space(raw, start + 1)
    while raw[at] != "}":
        name, at = _DECODER.raw_decode(raw, at)
        begin = _past_space(raw, _past_space(raw, at) + 1)
        _, end = _DECODER.raw_decode(raw, begin)
        yield name, begin, end
        at = _past_space(raw, end)
        if raw[at] == ",":
            at = _past_space(raw, at + 1)


def _past_space(raw: str, at: int) -> int:
    while raw[at] in _SPACE:
        at += 1
    return at


def fields_as_row(fields: Sequence[str], raw: str, delimiter: str, quotes: bool) -> str:
    """Return a row of CSV, with the line end of another one; quoted where it must be."""
    end = raw[len(raw.rstrip("\r\n")) :]
    if not quotes:  # then no field has what would need them
        return delimiter.join(fields) + end
    return csv_row(fields, delimiter).removesuffix("\n") + end


def table_with_texts(table: Any, path: Sequence[str], texts: dict[int, str]) -> Any:
    """Return a table with other texts in some rows.

    Parameters
    ----------
    table : pyarrow.Table
        Rows.
    path : sequence of str
        The column of the texts, and the fields inside it.
    texts : dict
        The new ones, by row.
    """
    index = table.schema.get_field_index(path[0])
    column = table.column(index).combine_chunks()
    chunks = [column] if not hasattr(column, "chunks") else column.chunks
    if len(chunks) != 1:  # an empty table, or more than fits into one array of this type
        chunks = table.column(index).chunks
    done, found = 0, []
    for chunk in chunks:
        mine = {row - done: text for row, text in texts.items() if 0 <= row - done < len(chunk)}
        found.append(_with_texts(chunk, path[1:], mine) if mine else chunk)
        done += len(chunk)
    column = pyarrow("").chunked_array(found, table.schema.field(index).type)
    return table.set_column(index, table.schema.field(index), column)


def _with_texts(array: Any, path: Sequence[str], texts: dict[int, str]) -> Any:
    pa = pyarrow("")
    if not path:
        values = array.to_pylist()
        for row, text in texts.items():
            values[row] = text
        return pa.array(values, array.type)
    inner = array.type.get_field_index(path[0])
    fields = [array.field(number) for number in range(array.type.num_fields)]
    fields[inner] = _with_texts(fields[inner], path[1:], texts)
    absent = np.asarray(array.is_null().to_numpy(zero_copy_only=False), np.bool_)
    return pa.StructArray.from_arrays(fields, fields=list(array.type), mask=pa.array(absent))
