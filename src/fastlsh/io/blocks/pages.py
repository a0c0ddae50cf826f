"""The pages of Parquet columns: how large each of them is, which only their headers tell."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fastlsh.io.blocks import row_groups
from fastlsh.io.blocks.row_groups import Fields

_HEADER = 1 << 14
"""Bytes that are read for the header of a page; it is longer if it has long extremes."""

_LONGEST_HEADER = 1 << 22


class Page(NamedTuple):
    """A page of a column."""

    values: int
    """How many it has; a dictionary has none."""
    size: int
    """Its bytes, decompressed: pyarrow decompresses a page as a whole."""


def pages(file: Any, column: Any) -> list[Page]:
    """Return the pages of a column of a row group; of a damaged column, none.

    Parameters
    ----------
    file : pyarrow.NativeFile
        The file, which is open.
    column : pyarrow.parquet.ColumnChunkMetaData
        What its footer says of the column.
    """
    try:
        return [_page(header) for header in _headers(file, column)]
    except (IndexError, KeyError, TypeError, ValueError, OSError):
        return []


def _page(header: Fields) -> Page:
    of_data = header.get(5, header.get(8, (0, {1: (0, 0)})))[1]
    return Page(of_data[1][1], header[2][1])


def _headers(file: Any, column: Any) -> Iterator[Fields]:
    """Yield the header of each page; ValueError if they contradict the footer."""
    start = column.data_page_offset
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
        start = column.dictionary_page_offset
    end = start + column.total_compressed_size
    while start < end:
        header, size = _header(file, start, end)
        stored = size + header[3][1]
        if header[2][1] < 0 or stored < size or start + stored > end:
            raise ValueError("a page is larger than its column")
        yield header
        start += stored


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
