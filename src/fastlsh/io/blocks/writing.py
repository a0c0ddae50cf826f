"""Writes rows as they came, piece by piece."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from fastlsh.io.arrow_files import arrow_writer
from fastlsh.io.blocks.contract import Head
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.streams import BOM


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
