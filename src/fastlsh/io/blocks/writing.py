"""Rows written as they came, or with another text or further columns."""

import codecs
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from fastlsh.io.arrow_files import arrow_writer
from fastlsh.io.blocks.contract import AddedColumns, Head
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.sources import Source
from fastlsh.io.streams import BOM
from fastlsh.io.table_columns import csv_row, unquoted_row


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
    names_before = head.layout.names if has_names else head.layout or ()
    new = added.beside(names_before)
    if head.layout is None or new is None:
        return head
    added = new
    for name in added.types:
        if name in names_before:
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
    keys = [f", {json.dumps(name)}: ".encode() for name in added.types]
    members: list[dict[Any, bytes]] = [{} for _ in keys]  # equal values of a column are of one type
    known: dict[tuple[Any, ...], bytes] = {}
    tails = []
    for row in added.rows():
        tail = known.get(row)
        if tail is None:
            for key, value, encoded in zip(keys, row, members, strict=True):
                if value not in encoded:
                    encoded[value] = key + json_text(value, plain=plain)
            tail = b"".join(map(dict.__getitem__, members, row))
            known[row] = tail
        tails.append(tail)
    return tails


def check_new_keys(added: AddedColumns, source: Source, row: int, raw: str) -> frozenset[str]:
    """Return the new keys that a line of JSON has already; InputError if one is not optional."""
    repeated = frozenset(added.types.keys() & json_keys(raw))
    for name in repeated - added.optional:
        raise source.error(taken(name), row)
    return repeated


def delimited_tails(added: AddedColumns, source: Source) -> list[bytes]:
    """Return for each document what stands behind the last field of its row."""
    rows = (["" if value is None else str(value) for value in row] for row in added.rows())
    return [delimited_tail(cells, source) for cells in rows]


def delimited_tail(cells: list[str], source: Source) -> bytes:
    """Return further fields of a row, with the delimiter before them."""
    try:
        row = fields_as_row(cells, "", source.delimiter, source.options.quotes)
    except ValueError as error:
        raise source.error(str(error)) from None
    return (source.delimiter + row).encode("utf-8", "backslashreplace")


def taken(name: str) -> str:
    """Return why a column cannot be added."""
    return f"there is a column {name!r} already, which is to be added: rename it"


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


_ESCAPED = json.JSONEncoder().encode
_UNESCAPED = json.JSONEncoder(ensure_ascii=False).encode


def json_text(value: Any, *, plain: bool) -> bytes:
    """Return a value as JSON; `plain`: whether to escape what is not ASCII."""
    try:
        return (_ESCAPED if plain else _UNESCAPED)(value).encode()
    except UnicodeEncodeError:  # a lone surrogate can only be escaped
        return _ESCAPED(value).encode()


def json_keys(raw: str) -> list[str]:
    """Return the keys of an object, as they stand in a line of JSON."""
    return [name for name, _, _ in _members(raw, _past_space(raw, 0))]


def _member(raw: str, start: int, key: str) -> tuple[int, int] | None:
    """Return where the value of a key stands in an object; of repeated keys, that of the last."""
    place = None
    for name, begin, end in _members(raw, start):
        if name == key:
            place = begin, end
    return place


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
    """Return a row of CSV, with the line end of another one; quoted where it must be.

    Raises
    ------
    ValueError
        If it must be, and there are no quotes.
    """
    row = csv_row(fields, delimiter) if quotes else unquoted_row(fields, delimiter)
    return row.removesuffix("\n") + raw[len(raw.rstrip("\r\n")) :]


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
    done, columns = 0, []
    for chunk in chunks:
        mine = {row - done: text for row, text in texts.items() if 0 <= row - done < len(chunk)}
        columns.append(_with_texts(chunk, path[1:], mine) if mine else chunk)
        done += len(chunk)
    column = pyarrow("").chunked_array(columns, table.schema.field(index).type)
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
    return pa.StructArray.from_arrays(fields, fields=list(array.type), mask=array.is_null())


class RowsWriter(Protocol):
    """An output of rows."""

    def write(self, piece: Any, /) -> Any:
        """Write what `Block.rows` returned, of one block after the other."""


BREAKS = b"\v\f"
"""What stands for a line feed and for a carriage return inside a row; JSON has neither."""

_AS_BREAKS = bytes.maketrans(BREAKS, b"\n\r")


@contextmanager
def rows_writer(
    path: str, kind: str, compression: str | None, head: Head, threads: int = 1, array: bool = False
) -> Iterator[RowsWriter]:
    """Open an output for the rows of blocks.

    Parameters
    ----------
    path : str
        As `replacing` gives it.
    kind : str
        The format of the output; to ``txt``, bytes are written as they are.
    compression : {None, "gz", "bz2", "xz", "zst"}
        How; None for Parquet and Arrow.
    head : Head
        Of the first input: the header and byte order mark, the encoding, the columns.
    threads : int
        As for `open_output` and `parquet_writer`.
    array : bool
        Whether lines of JSON become an array.

    Yields
    ------
    RowsWriter
        What it was given is complete in the file only when the context is left.
    """
    if kind == "parquet":
        with parquet_writer(path, head.layout, head.codecs, threads) as writer:
            yield writer
    elif kind == "arrow":
        with arrow_writer(path, head.layout) as writer:
            yield writer
    else:
        with open_output(path, compression, threads) as stream:
            plain: RowsWriter = _Bytes(stream) if kind == "txt" else _Lines(stream, head)
            with maybe_array(plain, array) as writer:
                yield writer


@contextmanager
def maybe_array(writer: RowsWriter, array: bool) -> Iterator[RowsWriter]:
    """Give lines of JSON to a writer, as an array if they are to become one."""
    if array:
        writer.write(b"[")
    yield _Elements(writer) if array else writer
    if array:
        writer.write(b"\n]\n")


class _Lines:
    """Lines, encoded as those of the first input."""

    def __init__(self, stream: Any, head: Head) -> None:
        self._stream = stream
        self._encode = None
        if head.codec != "utf-8":
            self._encode = codecs.getincrementalencoder(head.codec)().encode
        if head.mark:
            self.write(BOM.encode())
        self.write(head.header)

    def write(self, piece: bytes | memoryview) -> None:
        """Write some lines."""
        self._stream.write(piece if self._encode is None else self._encode(str(piece, "utf-8")))


class _Elements:
    """Lines of JSON, as elements of an array."""

    def __init__(self, writer: RowsWriter) -> None:
        self._writer = writer
        self._before = b"\n"

    def write(self, piece: bytes | memoryview) -> None:
        """Write some lines; in a row, `BREAKS` become line breaks."""
        rows = bytes(piece).strip(b"\r\n").replace(b"\r\n", b"\n")
        if rows:
            rows = rows.replace(b"\n", b",\n").translate(_AS_BREAKS)
            self._writer.write(self._before + rows)
            self._before = b",\n"


class _Bytes:
    """Bytes, as they are."""

    def __init__(self, stream: Any) -> None:
        self.write = stream.write
