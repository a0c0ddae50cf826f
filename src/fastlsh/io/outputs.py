"""Files that are written: their bytes, compressed on their way."""

import io
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from fastlsh.io.arrays import BatchWriter, Chunks, remade
from fastlsh.io.errors import codec, pyarrow
from fastlsh.io.parquet_groups import row_group_writer
from fastlsh.io.replacement import Replacements, replacing
from fastlsh.io.same_file import descriptor, is_written_in_place
from fastlsh.io.streams import gzip_stream


class _InPlace(io.FileIO):
    """An output that is not replaced; its position is the number of bytes written here."""

    def __init__(self, file: str | int) -> None:
        super().__init__(file, "wb")
        self._written = 0

    def write(self, data: Any, /) -> int:
        """Write, and count."""
        count = super().write(data)
        self._written += count
        return count

    def tell(self) -> int:
        """Return the position: Parquet and Arrow need one, which a pipe does not have."""
        return self._written

    def seekable(self) -> bool:
        """Return False."""
        return False


@contextmanager
def open_output(
    path: str, compression: str | None, threads: int = 1
) -> Iterator[io.BufferedWriter]:
    """Open a file for writing bytes that are compressed on their way.

    Parameters
    ----------
    path : str
        As `replacing` gives it.
    compression : {None, "gz", "bz2", "xz", "zst"}
        How.
    threads : int
        How many compress gzip, which gives the same bytes. The others need one: a file of several
        frames of Zstandard would be read up to the first one's end by many readers.

    Yields
    ------
    io.BufferedWriter
    """
    with ExitStack() as stack:
        raw: Any
        if is_written_in_place(path):
            number = descriptor(path)
            # A second opening of a file would begin at its start.
            raw = _InPlace(path if number is None else os.dup(number))
        else:
            raw = open(path, "wb", buffering=0)  # noqa: SIM115
        raw = stack.enter_context(io.BufferedWriter(raw, 1 << 17))
        if compression == "gz":
            codec(path, compression)
            raw = stack.enter_context(gzip_stream(raw, threads))
        elif compression == "zst":
            raw = pyarrow(path).CompressedOutputStream(raw, "zstd")
        elif compression:
            raw = codec(path, compression).open(raw, "wb")
        if compression:
            raw = stack.enter_context(io.BufferedWriter(raw, 1 << 17))
        yield raw


def nameless_file(beside: str) -> Any:
    """Open a file without a name in the directory of an output, for what waits to be written."""
    folder = None if is_written_in_place(beside) else os.path.dirname(os.path.abspath(beside))
    return tempfile.TemporaryFile(dir=folder)


def write_text(
    path: str | os.PathLike[str], text: str, together: Replacements | None = None
) -> None:
    """Write a text as UTF-8, whole or not at all; `together` is as for `replacing`."""
    with replacing(path, together) as name, open_output(name, None) as file:
        file.write(text.encode())


@contextmanager
def parquet_writer(
    path: str, schema: Any, codecs: Mapping[str, str] | None = None, threads: int = 1
) -> Iterator[BatchWriter]:
    """Open a Parquet file for writing tables, whose rows make row groups as `BatchWriter` says.

    Parameters
    ----------
    path : str
        As `replacing` gives it.
    schema : pyarrow.Schema
        Of the tables.
    codecs : mapping of str to str, optional
        How each column is compressed, by its path, in Parquet's words; by default Zstandard.
    threads : int
        How many row groups are encoded at a time. The bytes are the same for every number.

    Yields
    ------
    BatchWriter
    """
    parquet = pyarrow(path, "pyarrow.parquet")
    usual = "zstd" if _is_available(path, "zstd") else "snappy"
    names: Any = usual
    if codecs:
        codecs_of = {column: _CODECS.get(codec, codec).lower() for column, codec in codecs.items()}
        names = {column: c if _is_available(path, c) else usual for column, c in codecs_of.items()}

    leaves = _leaves(path, schema)
    in_lists = any(leaf.max_repetition_level for leaf in leaves)
    per_value = PER_VALUE_OF_LISTS if in_lists else 0
    # To look for a dictionary takes 180 bytes for each value, of which a list may have millions.
    indexed: Any = not in_lists or [
        leaf.path for leaf in leaves
        if not leaf.max_repetition_level or leaf.physical_type == "BYTE_ARRAY"
    ] or False  # fmt: skip

    options = {"compression": names, "use_dictionary": indexed}

    def write_group(writer: Any, columns: Chunks) -> None:
        arrays = [remade(chunks, fill=False) for chunks in columns]
        rows = pyarrow(path).Table.from_arrays(arrays, schema=schema)
        writer.write_table(rows, row_group_size=len(rows))

    def encode(sink: Any, columns: Chunks | None) -> None:
        with parquet.ParquetWriter(sink, schema, **options) as writer:
            if columns is not None:
                write_group(writer, columns)

    with open_output(path, None) as file, ExitStack() as stack:
        if threads > 1:
            write = stack.enter_context(row_group_writer(file, encode, threads))
        else:
            writer = stack.enter_context(parquet.ParquetWriter(file, schema, **options))
            write = partial(write_group, writer)
        batches = BatchWriter(write, per_value)
        yield batches
        batches.flush()


def _leaves(path: str, schema: Any) -> list[Any]:
    """Return the columns of numbers and texts that Parquet makes of a schema, as it calls them."""
    parquet, sink = pyarrow(path, "pyarrow.parquet"), pyarrow(path).BufferOutputStream()
    parquet.ParquetWriter(sink, schema).close()
    described = parquet.read_metadata(pyarrow(path).BufferReader(sink.getvalue())).schema
    return [described.column(number) for number in range(len(described))]


PER_VALUE_OF_LISTS = 16
"""Bytes that Parquet takes to write each value of a list, besides its own."""

_CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"}


def _is_available(path: str, codec: str) -> bool:
    return codec == "none" or bool(pyarrow(path).Codec.is_available(codec))
