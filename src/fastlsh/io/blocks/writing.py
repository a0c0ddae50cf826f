"""Writes rows as they came, piece by piece."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from fastlsh.io.blocks.contract import Head
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.streams import BOM

_GROUP = 1 << 26
"""Bytes of tables that make a row group of Parquet."""


class RowsWriter(Protocol):
    """An output of rows."""

    def write(self, piece: Any) -> None:
        """Write what `Block.rows` returned, of one block after the other."""


@contextmanager
def rows_writer(path: str, kind: str, compression: str | None, head: Head) -> Iterator[RowsWriter]:
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

    Yields
    ------
    RowsWriter
        What it was given is complete in the file only when the context is left.
    """
    if kind == "parquet":
        with parquet_writer(path, head.layout, head.codecs) as writer:
            groups = _Groups(writer)
            yield groups
            groups.flush()
    elif kind == "arrow":
        yield from _arrow(path, head)
    else:
        with open_output(path, compression) as stream:
            yield _Bytes(stream) if kind == "txt" else _Lines(stream, head)


class _Lines:
    """Lines, each with an end but the last."""

    def __init__(self, stream: Any, head: Head) -> None:
        self._stream = stream
        self._encode = None
        if head.codec != "utf-8":
            self._encode = codecs.getincrementalencoder(head.codec)().encode
        self._first = self._ended = True
        self._end = b"\n"
        if head.mark:
            self._put(BOM.encode())
        self.write(head.header)

    def write(self, piece: bytes | memoryview) -> None:
        """Write some lines."""
        if not len(piece):
            return
        if not self._ended:  # the last line of a file need not have an end
            self._put(self._end)
        self._put(piece)
        tail = bytes(piece[-2:])
        self._ended = tail.endswith((b"\n", b"\r"))
        if self._first and not self._ended:
            tail = bytes(piece)[: bytes(piece).rfind(b"\n") + 1]
        if tail.endswith(b"\r\n"):
            self._end = b"\r\n"
        self._first = False

    def _put(self, piece: bytes | memoryview) -> None:
        self._stream.write(piece if self._encode is None else self._encode(str(piece, "utf-8")))


class _Bytes:
    """Bytes, as they are."""

    def __init__(self, stream: Any) -> None:
        self.write = stream.write


class _Groups:
    """Tables, together as row groups of Parquet."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._tables: list[Any] = []
        self._size = 0

    def write(self, piece: Any) -> None:
        """Write a table, with those before and after it."""
        self._tables.append(piece)
        self._size += piece.nbytes
        if self._size >= _GROUP:
            self.flush()

    def flush(self) -> None:
        """Write what is left."""
        tables, self._tables, self._size = self._tables, [], 0
        if tables:
            self._writer.write_table(pyarrow("").concat_tables(tables))


class _Tables:
    """Tables, as batches of Arrow."""

    def __init__(self, writer: Any) -> None:
        self.write = writer.write_table


class _Gathered:
    """Tables, kept until their dictionaries are one."""

    def __init__(self, tables: list[Any]) -> None:
        self.write = tables.append


def _arrow(path: str, head: Head) -> Iterator[RowsWriter]:
    pa, ipc = pyarrow(path), pyarrow(path, "pyarrow.ipc")
    schema = head.layout
    with open_output(path, None) as file, ipc.new_file(file, schema) as writer:
        if any(pa.types.is_dictionary(field.type) for field in schema):
            # A file has one dictionary a column, and tables may differ in theirs.
            tables = [schema.empty_table()]
            yield _Gathered(tables)
            writer.write_table(pa.concat_tables(tables).unify_dictionaries())
        else:
            yield _Tables(writer)
