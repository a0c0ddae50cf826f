"""Row groups of Parquet files: whether the footer contradicts itself, and the memory they take."""

import io
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple

import numpy as np

from fastlsh.errors import InputError
from fastlsh.io.arrays import value_sizes
from fastlsh.io.blocks import thrift
from fastlsh.io.blocks.thrift import Fields
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow


def check_columns(metadata: Any, group: int) -> None:
    """Raise if what the footer says of a row group's columns contradicts itself.

    pyarrow ends the process where it is asked for such a column. To read them all raises, and it
    looks at each before it reads any byte.
    """
    unread = _Unread()
    with pyarrow("", "pyarrow.parquet").ParquetFile(
        pyarrow("").PythonFile(unread, "r"),
        metadata=metadata,
        pre_buffer=False,
        buffer_size=1 << 16,
    ) as file:
        try:
            next(file.iter_batches(1, [group], use_threads=False), None)
        except Exception:
            if not unread.asked:
                raise


class _Unread(io.RawIOBase):
    """A file of any size that says whether it was read, and cannot be."""

    asked = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = 0) -> int:
        return position + (1 << 62 if whence == 2 else 0)

    def tell(self) -> int:
        return 1 << 62

    def read(self, size: int = -1) -> bytes:
        self.asked = True
        raise OSError("nothing is to be read")


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
        reader = thrift.Reader(file.read_at(min(size, end - start), start))
        try:
            return reader.struct(), reader.position
        except IndexError:
            if size >= min(end - start, _LONGEST_HEADER):
                raise
            size *= 8


GROUPS = 4
"""Row groups of a file that are looked at."""

LARGE = 4
"""Times the size of a block: from there on, row groups are read in parts, one after the other."""

DOUBTFUL = 16
"""Times the size of a block: what the values of dictionaries might take at most."""

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


class Decoded(NamedTuple):
    """Bytes of a row group."""

    rows: int
    plain: int
    """If all values stood in the pages as they are."""
    likely: float
    """Of values of dictionaries, for each row: by their mean, weighted by their lengths."""
    most: float
    """Of values of dictionaries, for each row: if it is the longest one in each column."""

    def is_large(self, size: int) -> bool:
        """Whether the row group must be read in parts for blocks of `size` bytes."""
        return self.plain >= LARGE * size or self.plain + self.rows * self.likely > DOUBTFUL * size

    def rows_at_once(self, size: int) -> int:
        """Return how many rows a part has."""
        rows = -(-self.rows * size // max(self.plain, 1))
        likely = int(2 * size / max(self.likely, 1))
        return max(1, min(rows, likely, int(DOUBTFUL * size / max(self.most, 1))))


PAGE = 1 << 20
"""Bytes of a page, or of the values of a dictionary, at most; a writer may choose another size."""


def bytes_of_pages(source: Source) -> tuple[int, int]:
    """Return how many columns a Parquet file has, and about how many bytes their pages take.

    Rows are written with all columns, of each of which pyarrow then holds a page and a dictionary,
    both as they are stored and decoded. Of a file that cannot be read, it is 0.
    """
    columns = most = 0
    with suppress(InputError), open_arrow(source) as file:  # it is reported where it is read
        metadata = pyarrow(source.path, "pyarrow.parquet").read_metadata(file)
        columns = metadata.num_columns
        for group in map(metadata.row_group, range(min(metadata.num_row_groups, GROUPS))):
            sizes = (group.column(n).total_uncompressed_size for n in range(columns))
            most = max(most, sum(2 * min(size, 2 * PAGE) for size in sizes))
    return columns, most


def decoded_size(
    metadata: Any,
    group: int,
    size: int,
    opened: Callable[..., AbstractContextManager[Any]],
    names: Container[str],
) -> Decoded:
    """Estimate what a row group takes; a dictionary may stand for far more than a file has.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
        Of the file.
    group : int
        Which row group.
    size : int
        Of a block, in bytes. Where dictionaries cannot matter, they are not read.
    opened : callable
        Opens the file, with further arguments of `pyarrow.parquet.ParquetFile`.
    names : container of str
        The columns whose dictionaries matter.
    """
    of_group = metadata.row_group(group)
    rows, plain = of_group.num_rows, 0
    coded: dict[str, float] = {}
    possible = 0
    for column in map(of_group.column, range(metadata.num_columns)):
        encoded, values = column.total_uncompressed_size, column.num_values
        plain += max(encoded, values * _WIDTHS.get(column.physical_type, 4))
        is_read = column.path_in_schema.split(".")[0] in names
        if is_read and column.has_dictionary_page and column.physical_type not in _WIDTHS:
            coded[column.path_in_schema] = values / max(rows, 1)
            possible += values * encoded
    if possible + plain < LARGE * size:
        return Decoded(rows, plain, 0.0, 0.0)
    likely = most = 0.0
    keywords = {"read_dictionary": list(coded), "pre_buffer": False, "buffer_size": 1 << 14}
    with opened(metadata, **keywords) as file:
        for name, per_row in coded.items():  # one at a time: a page of each may be large
            batch = next(file.iter_batches(1, [group], [name], use_threads=False), None)
            lengths = np.concatenate([np.zeros(1), *_lengths(batch)])
            likely += per_row * float((lengths**2).sum() / max(lengths.sum(), 1))
            most += per_row * float(lengths.max())
    return Decoded(rows, plain, likely, most)


def _lengths(batch: Any) -> list[Any]:
    """Return the bytes of the values of all dictionaries in a batch."""
    waiting, lengths = [] if batch is None else list(batch.columns), []
    while waiting:
        array = waiting.pop()
        if hasattr(array, "dictionary"):
            values = array.dictionary
            lengths.append(np.broadcast_to(value_sizes(values), len(values)))
        elif hasattr(array.type, "num_fields") and array.type.num_fields:
            waiting += array.flatten() if hasattr(array, "field") else [array.values]
    return lengths
