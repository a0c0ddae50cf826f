"""The pages of a large Parquet row group, so that any thread can decode any of its rows.

pyarrow reads a row group from its beginning. Pages, however, are independent: with metadata that
describe those of a column that have some rows, pyarrow reads only them.
"""

import base64
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import LongRowError
from fastlsh.io.arrays import row_sizes
from fastlsh.io.blocks import row_groups
from fastlsh.io.blocks.row_groups import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Fields,
    lengths_in_dictionary,
)
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Source

LARGE_SHARE = 16
"""A column is large if its bytes, times this number, are at least those of the row group."""

_HEADER = 1 << 14
"""Bytes that are read for the header of a page; it is longer if it has long extremes."""

_LONGEST_HEADER = 1 << 22

_BUFFER = 1 << 20
"""Bytes of pages that are read at a time."""

_AT_ONCE = 1 << 20
"""Bytes of values that are decoded at a time. An array grows by being copied; the next array can
use the memory that the copies leave, where one large array would take new memory each time."""

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # types of pages
_CODED = (2, 8)  # encodings by a dictionary

_TYPES = (
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY",
)  # fmt: skip
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "", "ZSTD", "LZ4_RAW")


class UnusualPagesError(Exception):
    """The pages are not to be read by themselves, but by pyarrow from the first one on."""


class Pages(NamedTuple):
    """The pages of a column of a row group."""

    ends: NDArray[np.int64]
    """int64 (pages + 1,): the rows up to each page, from 0."""
    offsets: NDArray[np.int64]
    """int64 (pages + 1,): where each begins in the file, and where the last one ends."""
    plain: NDArray[np.int64]
    """int64 (pages,): decompressed bytes of each."""
    coded: NDArray[np.bool_]
    """bool (pages,): whether it needs the dictionary."""
    dictionary: tuple[int, int]
    """Where the dictionary begins, and its bytes; 0 if there is none."""

    def of(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first page with these rows, and the one behind the last."""
        first = int(np.searchsorted(self.ends, start, "right")) - 1
        return first, int(np.searchsorted(self.ends, stop, "left"))


class PagedFile:
    """Reads rows of a Parquet file by their pages.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
        Of the file.
    schema : pyarrow.Schema
        Its columns.
    footer : bytes
        As the file has it.
    """

    def __init__(self, metadata: Any, schema: Any, footer: bytes) -> None:
        self.metadata = metadata
        self.schema = schema
        try:
            elements = row_groups.Reader(footer).struct(before=3)[2][1][1]
        except (IndexError, KeyError, TypeError, ValueError):
            elements = []
        self._elements = elements
        self._leaves = _leaves(elements)
        self._found: dict[tuple[int, int], Pages] = {}

    def is_large(self, group: int, name: str) -> bool:
        """Whether a column takes a good part of a row group; `UnusualPagesError` as for `scan`."""
        described = self.metadata.row_group(group)
        size = described.column(self._leaves[self._column(name)][0]).total_uncompressed_size
        return bool(LARGE_SHARE * size >= described.total_byte_size)

    def scan(self, file: Any, group: int, name: str) -> Pages:
        """Return the pages of a column of a row group; `file` is open.

        Raises
        ------
        UnusualPagesError
            The column has lists or fields, or what the file says contradicts itself.
        """
        number = self._column(name)
        if (group, number) not in self._found:
            try:
                pages_of_column = self._read_headers(file, group, self._leaves[number][0])
                # What pyarrow makes of the column does not depend on its pages.
                made = self._described(number, group, 0, 0, 4, 4, 4).schema.to_arrow_schema()
            except (IndexError, KeyError, TypeError, ValueError, OSError) as error:
                raise UnusualPagesError from error
            if made.field(0).type != self.schema.field(number).type:
                raise UnusualPagesError
            self._found[group, number] = pages_of_column
        return self._found[group, number]

    def _column(self, name: str) -> int:
        names = self.schema.names
        if len(set(names)) < len(names) or len(self._leaves) != len(names):
            raise UnusualPagesError
        number = self.schema.get_field_index(name)
        if self._leaves[number] is None:
            raise UnusualPagesError
        return int(number)

    def lengths(self, file: Any, group: int, leaf: int) -> list[tuple[int, int]]:
        """Return the values of each page of a column without fields, and its decompressed bytes.

        A dictionary is a page without values.

        Raises
        ------
        UnusualPagesError
            What the file says contradicts itself.
        """
        lengths = []
        try:
            for header, _, _, _ in self._headers(file, group, leaf):
                of_data = header.get(5, header.get(8, (0, {1: (0, 0)})))[1]
                lengths.append((of_data[1][1], header[2][1]))
        except (IndexError, KeyError, TypeError, ValueError, OSError) as error:
            raise UnusualPagesError from error
        return lengths

    def _headers(self, file: Any, group: int, leaf: int) -> Iterator[tuple[Fields, int, int, int]]:
        """Yield the header of each page, where it begins, its bytes, and where all end."""
        column = self.metadata.row_group(group).column(leaf)
        start = column.data_page_offset
        if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
            start = column.dictionary_page_offset
        end = start + column.total_compressed_size
        while start < end:
            header, size = _header(file, start, end)
            stored = size + header[3][1]
            if header[2][1] < 0 or stored < size or start + stored > end:
                raise UnusualPagesError
            yield header, start, stored, end
            start += stored

    def _read_headers(self, file: Any, group: int, leaf: int) -> Pages:
        ends, offsets, plain, coded = [0], [], [], []
        dictionary, end = (0, 0), 0
        for header, start, stored, stop in self._headers(file, group, leaf):
            end = stop
            kind = header[1][1]
            if kind in (_DATA, _DATA_2):
                of_data = header[5 if kind == _DATA else 8][1]
                if of_data[1][1] < 0:
                    raise UnusualPagesError
                ends.append(ends[-1] + of_data[1][1])
                offsets.append(start)
                plain.append(header[2][1])
                coded.append(of_data[2 if kind == _DATA else 4][1] in _CODED)
            elif kind == _DICTIONARY and not offsets and not dictionary[1]:
                dictionary = start, stored
            else:
                raise UnusualPagesError
        if ends[-1] != self.metadata.row_group(group).num_rows or (any(coded) > dictionary[1]):
            raise UnusualPagesError
        return Pages(
            np.array(ends), np.array([*offsets, end]), np.array(plain), np.array(coded), dictionary
        )

    def read(self, file: Any, group: int, start: int, stop: int, names: list[str]) -> Any:
        """Return rows of a row group as a table.

        Parameters
        ----------
        file : pyarrow.NativeFile
            The file, which is open.
        group, start, stop : int
            The row group, and the rows, of which its first one is number 0.
        names : list of str
            The columns.

        Raises
        ------
        UnusualPagesError
            As for `scan`; or the pages cannot be decoded.
        """
        columns = [self._column_rows(file, group, start, stop, name) for name in names]
        pa = pyarrow("")
        fields = [self.schema.field(name) for name in names]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, self.schema.metadata))

    def _column_rows(self, file: Any, group: int, start: int, stop: int, name: str) -> Any:
        """Return rows of a column, a pyarrow.ChunkedArray."""
        pa, parquet = pyarrow(""), pyarrow("", "pyarrow.parquet")
        pages = self.scan(file, group, name)
        first, last = pages.of(start, stop)
        low, high = int(pages.ends[first]), int(pages.ends[last])
        begin, end = int(pages.offsets[first]), int(pages.offsets[last])
        position, size = pages.dictionary
        coded = pages.coded[first:last].any()
        if coded and position + size != begin:  # which are short, so that a copy costs little
            data = b"PAR1" + file.read_at(size, position) + file.read_at(end - begin, begin)
            file, position, begin, end = pa.BufferReader(data), 4, 4 + size, len(data)
        plain = int(pages.plain[first:last].sum())
        where = position if coded else begin, begin, end
        metadata = self._described(self._column(name), group, high - low, plain, *where)
        chunks = []
        try:
            # Page by page, so that the memory for what is stored is used again.
            with parquet.ParquetFile(
                file, metadata=metadata, page_checksum_verification=True,
                pre_buffer=False, buffer_size=_BUFFER,
            ) as part:  # fmt: skip
                rows = max((high - low) * _AT_ONCE // max(plain, 1), 1)
                for batch in part.iter_batches(rows, use_threads=False):
                    array = batch.column(0)
                    rows_of_batch = array[max(start - low, 0) : max(stop - low, 0)]
                    low += len(array)
                    if not len(rows_of_batch):
                        continue
                    if len(rows_of_batch) < len(array):  # rows that are not wanted are not kept
                        rows_of_batch = pa.concat_arrays([rows_of_batch, rows_of_batch[:0]])
                    chunks.append(rows_of_batch)
        except (pa.ArrowException, OSError) as error:
            raise UnusualPagesError from error
        column = pa.chunked_array(chunks, self.schema.field(name).type)
        if len(column) != stop - start:
            raise UnusualPagesError
        return column

    def _described(
        self, number: int, group: int, rows: int, plain: int, start: int, begin: int, end: int
    ) -> Any:
        """Return the metadata of a file of which only some pages of a column are to be read.

        `start` is where the dictionary begins, if there is one, and `begin` where the pages do.
        """
        pa, parquet = pyarrow(""), pyarrow("", "pyarrow.parquet")
        leaf, element = self._leaves[number]
        column = self.metadata.row_group(group).column(leaf)
        chunk: Fields = {
            1: (I32, _TYPES.index(column.physical_type)),
            2: (LIST, (I32, [0, 3, 8])),
            3: (LIST, (BINARY, [element[4][1]])),
            4: (I32, _CODECS.index(column.compression)),
            5: (I64, rows),
            6: (I64, plain),
            7: (I64, end - start),
            9: (I64, begin),
        }
        if start < begin:
            chunk[11] = I64, start
        of_column: Fields = {2: (I64, 0), 3: (STRUCT, chunk)}
        of_group: Fields = {1: (LIST, (STRUCT, [of_column])), 2: (I64, plain), 3: (I64, rows)}
        footer: Fields = {
            1: (I32, 2),
            2: (LIST, (STRUCT, [{**self._elements[0], 5: (I32, 1)}, element])),
            3: (I64, rows),
            4: (LIST, (STRUCT, [of_group])),
            6: (BINARY, self.metadata.created_by.encode()),
        }
        if b"ARROW:schema" in (self.metadata.metadata or {}):
            schema = pa.schema([self.schema.field(number)]).serialize()
            value = {1: (BINARY, b"ARROW:schema"), 2: (BINARY, base64.b64encode(schema))}
            footer[5] = LIST, (STRUCT, [value])
        tail = row_groups.write_struct(footer)
        data = b"".join([b"PAR1", tail, len(tail).to_bytes(4, "little"), b"PAR1"])
        return parquet.read_metadata(pa.BufferReader(data))


def _leaves(elements: list[Fields]) -> list[Any]:
    """Return for each column its number among those without fields, and its element of the schema.

    None for a column with fields, or with lists.
    """
    leaves: list[Any] = []
    position, leaf = 1, 0
    while position < len(elements):
        below = 1
        children, repetition = (elements[position].get(key, (0, 0))[1] for key in (5, 3))
        start = leaf
        while below and position < len(elements):
            count = elements[position].get(5, (0, 0))[1]
            below += count - 1
            leaf += not count
            position += 1
        leaves.append(None if children or repetition == 2 else (start, elements[position - 1]))
    return leaves


def _header(file: Any, start: int, end: int) -> tuple[Fields, int]:
    """Return the header of a page, and its size."""
    size = _HEADER
    while True:
        reader = row_groups.Reader(file.read_at(min(size, end - start), start))
        try:
            return reader.struct(), reader.position
        except IndexError:
            if size >= min(end - start, _LONGEST_HEADER):
                raise
            size *= 8


PAGES = 2
"""Times the bytes that a row may have: those of the pages that are decoded together."""


def check_lengths(
    source: Source, paged: PagedFile, file: Any, group: int, names: list[str], max_row: int
) -> None:
    """Look at the columns of a row group that have more bytes than a row may have.

    First come their pages, which tell most, and then the rows of a page with more bytes.

    Parameters
    ----------
    source, paged, file
        The file, which is open.
    group
        The row group.
    names
        The columns that are read.
    max_row
        Bytes that a row may have in a column. The largest pages of the columns may have `PAGES`
        times as many together, for each is decompressed as a whole.

    Raises
    ------
    LongRowError
        A row has more, or the pages have. Of a value in a dictionary, the row is not known.
    UnusualPagesError
        What the file says contradicts itself.
    """
    metadata = paged.metadata
    described = metadata.row_group(group)
    begin = sum(metadata.row_group(before).num_rows for before in range(group))
    doubtful: list[tuple[str, int, int]] = []
    coded: list[tuple[str, int, int]] = []
    together = 0
    for leaf in range(described.num_columns):
        column = described.column(leaf)
        name = column.path_in_schema
        if column.total_uncompressed_size <= max_row or name.split(".")[0] not in names:
            continue
        row, largest = 0, 0
        for rows, size in paged.lengths(file, group, leaf):
            largest = max(largest, size)
            if size > max_row and name in names:  # neither fields nor lists
                (doubtful if rows else coded).append((name, row, row + rows))
            row += rows
        together += largest
    if together > PAGES * max_row:
        raise LongRowError(source.path, together, what="page")
    for name, start, stop in doubtful:
        with suppress(UnusualPagesError):
            sizes = row_sizes(paged.read(file, group, start, stop, [name]))
            if sizes.max() > max_row:
                row = begin + start + int(np.argmax(sizes)) + 1
                raise LongRowError(source.path, int(sizes.max()), row)
    for name, _, _ in coded:
        file.seek(0)
        parquet = pyarrow(source.path, "pyarrow.parquet")
        with parquet.ParquetFile(file, metadata=metadata, read_dictionary=[name]) as opened:
            longest = int(lengths_in_dictionary(opened, group, name).max())
        if longest > max_row:
            raise LongRowError(source.path, longest)
