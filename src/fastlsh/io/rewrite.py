"""The second reading of the inputs, format by format."""

import codecs
import json
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fastlsh.io.arrays import select
from fastlsh.io.collection import Collection
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.streams import BOM, open_bytes

Flags = npt.NDArray[np.bool_]


def documents(collection: Collection, kept: Flags) -> Iterator[bytes]:
    """Yield the documents of plain text files as JSON lines."""
    for i in np.flatnonzero(kept).tolist():
        row = {"id": collection.ids[i], "text": collection.texts[i]}
        line = json.dumps(row, ensure_ascii=False) + "\n"
        # A file name need not be UTF-8; what is not becomes an escape that JSON knows.
        yield line.encode("utf-8", "backslashreplace")


def copy_text(collection: Collection, stream: BinaryIO) -> None:
    """Write the bytes of the one plain text file as they are."""
    (part,) = collection.parts
    with open_bytes(part.source) as file:
        data = file.read()
    if part.reader.decode(data) != collection.texts[0]:
        raise part.changed()
    stream.write(data)


def lines(collection: Collection, kept: Flags) -> Iterator[bytes]:
    """Yield the rows of JSONL, CSV and TSV files as they are, below the first header."""
    first = collection.parts[0].reader
    encode = codecs.getincrementalencoder(first.codec)().encode
    if first.bom:
        yield encode(BOM)
    ended, end = True, "\n"
    for raw in _raw(collection, kept):
        if not ended:  # the last line of a file need not have an end
            yield encode(end)
        yield encode(raw)
        ended = raw.endswith(("\n", "\r"))
        end = "\r\n" if raw.endswith("\r\n") else end


def _raw(collection: Collection, kept: Flags) -> Iterator[str]:
    header = collection.parts[0].reader.header
    if header:
        yield header
    start = 0
    for part in collection.parts:
        stop = start + part.documents
        # Every row must be read, those of a file that grew too, for the change to be noticed.
        flags = chain(kept[start:stop].tolist(), repeat(False))
        for record in part.records():
            if record.row not in part.bad and next(flags):
                yield record.raw
        start = stop


def write_parquet(collection: Collection, kept: Flags, path: str) -> None:
    """Write the rows of Parquet files, one row group for each of theirs."""
    schema = collection.parts[0].reader.layout
    with parquet_writer(path, schema) as writer:
        for table in _tables(collection, kept):
            writer.write_table(table)


def write_arrow(collection: Collection, kept: Flags, path: str) -> None:
    """Write the rows of Arrow files or streams as an Arrow file."""
    pa = pyarrow(path)
    ipc = pyarrow(path, "pyarrow.ipc")
    schema = collection.parts[0].reader.layout
    tables = _tables(collection, kept)
    if any(pa.types.is_dictionary(field.type) for field in schema):
        # A file has one dictionary a column, and tables may differ in theirs.
        whole = pa.concat_tables([schema.empty_table(), *tables])
        tables = iter([whole.unify_dictionaries()])
    with open_output(path, None) as file, ipc.new_file(file, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _tables(collection: Collection, kept: Flags) -> Iterator[Any]:
    start = 0
    for part in collection.parts:
        reader = part.reader
        stop = start + part.documents
        row = 0
        for table in reader.tables(whole=True):
            flags = ~np.isin(np.arange(row + 1, row + 1 + len(table)), list(part.bad))
            texts = reader.texts(select(table, flags)).cast("large_string")
            known = collection.texts.slice(start, len(texts)).cast("large_string")
            if not texts.equals(known):
                raise part.changed()
            flags[flags] = kept[start : start + len(texts)]
            yield select(table, flags)
            row += len(table)
            start += len(texts)
        if start != stop:
            raise part.changed()
