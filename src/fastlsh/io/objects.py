"""Rows as Python has them: a dictionary each, of small files."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fastlsh.io.blocks import Delimited, JsonBlock, read_blocks
from fastlsh.io.errors import listed, pyarrow, reading
from fastlsh.io.formats import COLUMNAR
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow, open_utf8

Row = dict[str, Any]
_PIECE = 1 << 20


def read_objects(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield the number and the columns of each row of a file; all of it may be in memory.

    Plain text has the columns ``id`` and ``text``. Columns of the path are left out.

    Raises
    ------
    InputError
        With the file, the row and the reason.
    """
    source = replace(source, keys=())
    if source.format in COLUMNAR:
        yield from _table_rows(source)
    elif source.format == "jsonl":
        yield from _json_rows(source)
    elif source.format in ("csv", "tsv"):
        yield from _delimited_rows(source)
    else:
        for block in read_blocks(source):
            found = block.documents()
            found.check(skip=False)
            ids = found.ids if found.ids is not None else [None] * len(found)
            for row, name, text in zip(found.rows.tolist(), ids, found.texts, strict=True):
                yield row, {"id": name, "text": text} if name is not None else {"text": text}


def _text_of(source: Source) -> str:
    data = bytearray()
    with open_utf8(source) as stream:
        piece = memoryview(bytearray(_PIECE))
        while count := stream.fill(piece):
            data += piece[:count]
        if stream.error is not None:
            raise stream.error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise source.error(f"not {source.options.encoding}: {error.reason}", row) from None


def _json_rows(source: Source) -> Iterator[tuple[int, Row]]:
    for block in read_blocks(source):
        assert isinstance(block, JsonBlock)
        yield from block.objects()


def _delimited_rows(source: Source) -> Iterator[tuple[int, Row]]:
    try:
        records = Delimited(source).fields(_text_of(source))
    except csv.Error as error:
        raise source.error(str(error)) from None
    names: list[str] | None = None
    for number, record in enumerate(records, 1):
        if not record:
            continue
        if names is None:
            if source.options.header:
                names = record
                continue
            names = [str(column) for column in range(1, len(record) + 1)]
        if len(record) != len(names):
            reason = f"{len(record)} fields, but the columns are {len(names)}: {listed(names)}"
            raise source.error(reason, number)
        yield number, dict(zip(names, record, strict=True))


def _table_rows(source: Source) -> Iterator[tuple[int, Row]]:
    with reading(source.path), open_arrow(source) as file:
        if source.format == "parquet":
            table = pyarrow(source.path, "pyarrow.parquet").read_table(file)
        else:
            table = pyarrow(source.path, "pyarrow.feather").read_table(file, memory_map=False)
        rows = table.to_pylist()
    yield from enumerate(rows, 1)
