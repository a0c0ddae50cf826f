"""Footers of Parquet files: their protocol, their contradictions, the memory of row groups."""

import io
from collections.abc import Callable, Container
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.io.arrays import value_sizes
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow

Fields = dict[int, tuple[int, Any]]
"""The fields of a structure by their numbers, each with its type; of a list, the type of its values
and the values."""

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

_DEEPEST = 16


class Reader:
    """Reads structures from bytes.

    Raises
    ------
    IndexError
        The bytes end within a structure.
    ValueError
        They are not what Thrift writes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, before: int | None = None, depth: int = 0) -> Fields:
        """Read a structure; with `before`, up to the first field with such a number or a higher."""
        if depth > _DEEPEST:
            raise ValueError("structures are nested too deeply")
        fields: Fields = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._integer()
            if before is not None and number >= before:
                break
            fields[number] = kind, self._value(kind, depth)
        return fields

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number has more than 64 bits")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _bytes(self, count: int) -> bytes:
        start, self.position = self.position, self.position + count
        if self.position > len(self._data):
            raise IndexError("the bytes end within a value")
        return self._data[start : self.position]

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (TRUE, FALSE):
            return None
        if kind in (I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind == STRUCT:
            return self.struct(depth=depth + 1)
        if kind in (LIST, SET):
            return self._list(depth)
        if kind in (BYTE, DOUBLE):
            return self._bytes(1 if kind == BYTE else 8)
        raise ValueError(f"{kind} is not a type in Parquet")

    def _list(self, depth: int) -> tuple[int, list[Any]]:
        if depth > _DEEPEST:
            raise ValueError("lists are nested too deeply")
        head = self._byte()
        kind, count = head & 15, head >> 4
        count = self._varint() if count == 15 else count
        if kind in (TRUE, FALSE):
            return kind, [self._byte() for _ in range(count)]
        return kind, [self._value(kind, depth + 1) for _ in range(count)]


def write_struct(fields: Fields) -> bytes:
    """Return a structure as bytes, its fields in the order of their numbers."""
    out = bytearray()
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            out += _integer(number)
        before = number
        out += _written(kind, value)
    out.append(0)
    return bytes(out)


def _written(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind in (I16, I32, I64):
        return _integer(value)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == STRUCT:
        return write_struct(value)
    if kind in (LIST, SET):
        of, values = value
        head = bytes([len(values) << 4 | of]) if len(values) < 15 else bytes([0xF0 | of])
        if len(values) >= 15:
            head += _varint(len(values))
        if of in (TRUE, FALSE):
            return head + bytes(values)
        return head + b"".join(_written(of, item) for item in values)
    return bytes(value)


def _integer(value: int) -> bytes:
    return _varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


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
            lengths = lengths_in_dictionary(file, group, name)
            likely += per_row * float((lengths**2).sum() / max(lengths.sum(), 1))
            most += per_row * float(lengths.max())
    return Decoded(rows, plain, likely, most)


def lengths_in_dictionary(file: Any, group: int, name: str) -> NDArray[np.float64]:
    """Return the bytes of the values in the dictionary of a column, and 0.

    `file` is a pyarrow.parquet.ParquetFile, opened with `read_dictionary`.
    """
    first = next(file.iter_batches(1, [group], [name], use_threads=False), None)
    return np.concatenate([np.zeros(1), *_lengths(first)])


def _lengths(batch: Any) -> list[Any]:
    """Return the lengths of the values of all dictionaries in a batch."""
    waiting, lengths = [] if batch is None else list(batch.columns), []
    while waiting:
        array = waiting.pop()
        if hasattr(array, "dictionary"):
            values = array.dictionary
            lengths.append(np.broadcast_to(value_sizes(values), len(values)))
        elif hasattr(array.type, "num_fields") and array.type.num_fields:
            waiting += array.flatten() if hasattr(array, "field") else [array.values]
    return lengths
