"""Arrow IPC, file or stream, by record batches; large ones in parts."""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io.arrays import check_structure, row_sizes
from fastlsh.io.blocks.contract import BlockExtent, Head, checksum
from fastlsh.io.blocks.tables import TableBlock, TableColumns
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, open_arrow

_MAGIC = b"ARROW1\0\0"
_DICTIONARY, _BATCH = 2, 3
_LONGEST = 1 << 28
"""Bytes of the description of a batch: with more, a file is damaged."""


def largest_batch(source: Source) -> tuple[int, int]:
    """Return the bytes of the largest batch of an Arrow file, and its number from 1.

    A batch is read as a whole. The dictionaries of the file count as part of each. Of a damaged
    file, only the batches before the damage count, which is an error where they are read.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    dictionaries, sizes = 0, [0]
    with reading(source.path), open_arrow(source) as file, suppress(struct.error, IndexError):
        for kind, size in _messages(file):
            if kind == _DICTIONARY:
                dictionaries += size
            elif kind == _BATCH:
                sizes.append(size)
    largest = max(sizes)
    return largest + dictionaries, max(sizes.index(largest), 1)


def _messages(file: Any) -> Iterator[tuple[int, int]]:
    """Yield the kind of each message and the bytes that its buffers take without compression."""
    position = len(_MAGIC) if file.read(len(_MAGIC)) == _MAGIC else 0
    while True:
        file.seek(position)
        head = file.read(8)
        modern = head[:4] == b"\xff\xff\xff\xff"  # a mark before the length, since Arrow 0.15
        length = int.from_bytes(head[4:8] if modern else head[:4], "little")
        if len(head) < 8 or not 0 < length < _LONGEST:
            return
        position += 8 if modern else 4
        file.seek(position)
        message = file.read(length)
        if len(message) < length:
            return
        position += length
        kind, body, compressed, buffers = _parsed(message)
        total = 0
        for start, size in buffers:
            if compressed and size:
                file.seek(position + start)
                (plain,) = struct.unpack("<q", file.read(8))
                size = size if plain < 0 else plain
            total += size
        yield kind, total
        if body < 0:
            return
        position += body


def _parsed(message: bytes) -> tuple[int, int, bool, list[tuple[int, int]]]:
    """Return kind, bytes of the body, whether it is compressed, and the position of each buffer."""
    at = _reference(message, 0)
    kind = message[_field(message, at, 1)]
    body = _number(message, "<q", _field(message, at, 3)) if _field(message, at, 3) else 0
    if kind not in (_DICTIONARY, _BATCH):
        return kind, body, False, []
    at = _reference(message, _field(message, at, 2))
    if kind == _DICTIONARY:
        at = _reference(message, _field(message, at, 1))
    compressed = bool(_field(message, at, 3))
    if not _field(message, at, 2):
        return kind, body, compressed, []
    vector = _reference(message, _field(message, at, 2))
    count = _number(message, "<I", vector)
    data = message[vector + 4 : vector + 4 + 16 * count]
    return kind, body, compressed, list(struct.iter_unpack("<qq", data))


def _field(message: bytes, table: int, number: int) -> int:
    """Return where a field of a table of FlatBuffers is, 0 if it is absent."""
    names = table - _number(message, "<i", table)
    if 4 + 2 * number >= _number(message, "<H", names):
        return 0
    offset = _number(message, "<H", names + 4 + 2 * number)
    return table + offset if offset else 0


def _reference(message: bytes, position: int) -> int:
    return position + _number(message, "<I", position)


def _number(message: bytes, form: str, position: int) -> int:
    (number,) = struct.unpack_from(form, message, position)
    return int(number)


class ArrowPart(TableBlock):
    """Rows of a batch that is read already."""

    def __init__(self, file: "ArrowSource", extent: BlockExtent, bad: Any, table: Any) -> None:
        super().__init__(file, extent, bad, table)
        self._file = file

    def _table(self, all_columns: bool) -> Any:
        if not all_columns or self._has_all(self._read):
            return self._read
        (part,) = reread_arrow(self._file.source, [self.extent], np.empty(0, np.int64), True)
        return part._table(True)


class ArrowSource:
    """An Arrow file or stream."""

    def __init__(self, source: Source) -> None:
        self.source = source
        with self._open(None) as reader:
            self.head = Head(layout=reader.schema)
            self.columns = TableColumns(source, reader.schema)

    @contextmanager
    def _open(self, fields: list[int] | None) -> Iterator[Any]:
        ipc = pyarrow(self.source.path, "pyarrow.ipc")
        with open_arrow(self.source) as file:
            magic = file.read(6)
            if magic.startswith(b"FEA1"):
                raise self.source.error(
                    "Feather version 1 is not supported: write the file again as version 2, which"
                    " is Arrow IPC"
                )
            is_file = magic == b"ARROW1"
            file.seek(0)
            options = ipc.IpcReadOptions(included_fields=fields)
            with (ipc.open_file if is_file else ipc.open_stream)(file, options=options) as reader:
                yield reader

    def tables(self, all_columns: bool) -> Iterator[tuple[Any, int]]:
        """Yield the batches as tables, and a checksum of each."""
        schema = self.head.layout
        fields = [schema.get_field_index(name) for name in self.columns.names]
        with self._open(None if all_columns else fields) as reader:
            for batch in _batches(reader):
                table = pyarrow("").Table.from_batches([batch])
                check = 0
                for name in {self.columns.path(name)[0]: None for name in self.columns.texts}:
                    for buffer in batch.column(name).buffers():
                        if buffer is not None and buffer.size:
                            check = checksum(np.frombuffer(buffer, np.uint8), check)
                yield table, check

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column, as arrays."""
        with self._open([self.head.layout.get_field_index(name)]) as reader:
            yield from (batch.column(0) for batch in _batches(reader))


def _batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "get_batch"):
        return map(reader.get_batch, range(reader.num_record_batches))
    return iter(reader)


def read_arrow_blocks(source: Source, size: int, after: BlockExtent | None) -> Iterator[ArrowPart]:
    """Cut at batches; see `read_blocks`."""
    with reading(source.path):
        file = ArrowSource(source)
        index, done = (0, 0) if after is None else (after.index + 1, after.stop)
        start = 0
        for table, check in file.tables(False):
            for low, high in pairwise(_edges(table, 2 * size)):
                low = max(low, done - start)  # if blocks had another size before
                if high > low:
                    extent = BlockExtent(index, start + low, start + high, start + low + 1, check)
                    yield ArrowPart(file, extent, None, table.slice(low, high - low))
                    index += 1
            start += len(table)
        if not index:
            empty = file.head.layout.empty_table()
            yield ArrowPart(file, BlockExtent(0, 0, 0, 1, 0), None, empty)


def _edges(table: Any, size: int) -> list[int]:
    """Return rows between which a table has about so many bytes, counted without dictionaries."""
    types = pyarrow("").types
    if any(map(types.is_dictionary, table.schema.types)):
        check_structure(table)
        ends = np.cumsum(row_sizes(table))
        marks = np.arange(1, int(ends[-1]) // size + 1 if len(ends) else 1) * size
        inner = np.unique(np.searchsorted(ends, marks, "right")).tolist()
        return [0, *(row for row in inner if 0 < row < len(table)), len(table)]
    parts = max(1, min(len(table), table.nbytes // size))
    edges: list[int] = np.linspace(0, len(table), parts + 1).astype(np.int64).tolist()
    return edges


def reread_arrow(
    source: Source, extents: Iterable[BlockExtent], bad: NDArray[np.int64], all_columns: bool
) -> Iterator[ArrowPart]:
    """Read batches once more; see `reread_blocks`."""
    with reading(source.path):
        file = ArrowSource(source)
        tables = file.tables(all_columns)
        table: Any = None
        check, start, stop = 0, 0, 0
        for extent in extents:
            if extent.stop == 0:
                table = file.head.layout.empty_table()
                yield ArrowPart(file, extent, bad, table)
                continue
            while stop <= extent.start:
                table, check = next(tables, (None, 0))
                if table is None:
                    raise changed(source)
                start, stop = stop, stop + len(table)
            if check != extent.check or extent.stop > stop:
                raise changed(source)
            part = table.slice(extent.start - start, extent.stop - extent.start)
            yield ArrowPart(file, extent, bad, part)
