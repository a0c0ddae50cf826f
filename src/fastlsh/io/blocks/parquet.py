"""Parquet, by row groups; large ones in parts."""

import binascii
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io.blocks.columns import TableColumns
from fastlsh.io.blocks.contract import ALL_BYTES, BlockExtent, ByteRange, Head
from fastlsh.io.blocks.row_groups import decoded_size
from fastlsh.io.blocks.tables import TableBlock
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, identity, open_arrow, open_bytes

_BUFFERS = 1 << 24
"""Bytes of the buffers of all columns that are read together."""

_ENCRYPTED = ("Could not read encrypted metadata", "Cannot decrypt ColumnMetadata")
"""What pyarrow says of an encrypted footer, and of an encrypted column."""


class ParquetPart(TableBlock):
    """Whole row groups, read by who works on them; or a part of one that is read already."""

    def __init__(
        self, file: "ParquetSource", extent: BlockExtent, bad: Any, table: Any = None
    ) -> None:
        super().__init__(file.columns, file.head, extent, bad)
        self._file = file
        self._read = table

    def _ends(self, stop: int) -> list[int]:
        # A block that is read again is whole row groups, or a part of one.
        end_of_group = int(self._file.ends[self._file.group_at(stop)])
        return sorted({each for each in (end_of_group, stop) if each > self.extent.start})

    def _table(self, all_columns: bool) -> Any:
        if self._read is not None and (not all_columns or self._has_all(self._read)):
            return self._read
        if not self._file.is_whole(self.extent):
            (part,) = reread_parquet(self._file.source, [self.extent], np.empty(0, np.int64), True)
            return part._table(True)
        columns = None if all_columns else self._columns.names
        groups = range(*map(self._file.group_at, (self.extent.start, self.extent.stop)))
        with self._file.open(self._file.metadata) as file:
            return file.read_row_groups(list(groups), columns=columns, use_threads=False)


class ParquetSource:
    """A Parquet file: its columns and row groups."""

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            self._read_footer()
        except (OSError, ValueError) as error:
            if any(reason in str(error) for reason in _ENCRYPTED):
                raise source.error("encrypted Parquet cannot be read: decrypt it first") from error
            raise

    def _read_footer(self) -> None:
        with self.open(None) as file:
            self.metadata = file.metadata
            schema = file.schema_arrow
        self.columns = TableColumns(self.source, schema)
        self.head = Head(layout=schema)
        groups = map(self.metadata.row_group, range(self.metadata.num_row_groups))
        self.sizes = [(group.num_rows, group.total_byte_size) for group in groups]
        self.ends = np.cumsum([0, *(rows for rows, _ in self.sizes)], dtype=np.int64)
        self.check = self._footer()
        self._check_rows()
        if self.sizes:
            columns = map(self.metadata.row_group(0).column, range(self.metadata.num_columns))
            self.head.codecs = {each.path_in_schema: each.compression for each in columns}

    @contextmanager
    def open(self, metadata: Any, **more: Any) -> Iterator[Any]:
        """Open the file."""
        # Only files written with checksums of their pages are checked.
        with open_arrow(self.source) as raw:
            parquet = pyarrow(self.source.path, "pyarrow.parquet")
            with parquet.ParquetFile(
                raw, metadata=metadata, page_checksum_verification=True, **more
            ) as file:
                yield file

    def _footer(self) -> int:
        # It has the offset, the size and the extremes of every column: cheap, and enough.
        with open_bytes(self.source) as file:
            file.seek(-8, 2)
            length = int.from_bytes(file.read(4), "little")
            file.seek(-8 - length, 2)
            return binascii.crc32(file.read(length))

    def _check_rows(self) -> None:
        """Raise if a row group names other rows than it has, for pyarrow reserves memory for them.

        A column of lists has at least one value for each row, another one exactly one.
        """
        exact = self.metadata.schema.column(0).max_repetition_level == 0
        for i, (rows, size) in enumerate(self.sizes):
            if i and 0 <= rows <= size:
                continue
            self._check_columns(i)
            values = self.metadata.row_group(i).column(0).num_values
            if not 0 <= rows <= values or (exact and rows < values):
                raise self.source.error(
                    f"the footer contradicts itself: row group {i + 1} has {rows} rows, but"
                    f" {values} values in a column"
                )

    def _check_columns(self, group: int) -> None:
        """Raise if what the footer says of a row group's columns contradicts itself.

        pyarrow ends the process where it is asked for such a column. To read them all raises, and
        it looks at each before it reads any byte.
        """
        parquet = pyarrow(self.source.path, "pyarrow.parquet")
        unread = _Unread()
        with parquet.ParquetFile(
            pyarrow("").PythonFile(unread, "r"),
            metadata=self.metadata,
            pre_buffer=False,
            buffer_size=1 << 16,
        ) as file:
            try:
                next(file.iter_batches(1, [group], use_threads=False), None)
            except Exception:
                if not unread.asked:
                    raise

    def group_at(self, row: int) -> int:
        """Return the last row group that begins at a row or before."""
        return int(np.searchsorted(self.ends, row, "right")) - 1

    def is_whole(self, extent: BlockExtent) -> bool:
        """Whether an extent consists of complete row groups."""
        return bool(np.isin((extent.start, extent.stop), self.ends).all())

    def groups_within(self, within: ByteRange) -> range:
        """Return the row groups that begin in a range of the file.

        Where they begin is reckoned from their sizes without compression: writers may put row
        groups and columns in any order.
        """
        if within == ALL_BYTES:
            return range(len(self.sizes))
        sizes = np.maximum([size for _, size in self.sizes], 0)
        begin = np.cumsum(sizes) - sizes
        found = identity(self.source)
        scale = (0 if found is None else found.size) / max(int(sizes.sum()), 1)
        edges = (within.start, np.inf if within.stop is None else within.stop)
        return range(*np.searchsorted(begin * scale, edges).tolist())

    def spans(self, size: int, done: int, groups: range) -> Iterator[tuple[int, int, int]]:
        """Yield (first row, row behind the last one, rows of a part) of each row group not done.

        Small ones come together, and have 0 rows of a part: they are read as a whole. One that is
        done in part comes first, by itself.
        """
        first = max(self.group_at(done) if done else 0, groups.start)
        start = stop = int(self.ends[first])
        total = 0
        for group in range(first, groups.stop):
            decoded = decoded_size(self.metadata, group, size, self.open)
            in_parts = decoded.is_large(size) or stop < done
            if stop > start and (in_parts or total + decoded.plain > size):
                yield start, stop, 0
                start, total = stop, 0
            stop, total = stop + decoded.rows, total + decoded.plain
            if in_parts and stop > start:
                yield start, stop, decoded.rows_at_once(size)
                start, total = stop, 0
        if stop > start:
            yield start, stop, 0

    def parts(self, group: int, rows: int, all_columns: bool) -> Iterator[Any]:
        """Yield a row group in batches of at most so many rows."""
        columns = None if all_columns else self.columns.names
        # Page by page: a row group may be larger than memory.
        buffer = min(max(_BUFFERS // self.metadata.num_columns, 1 << 12), 1 << 20)
        with self.open(self.metadata, pre_buffer=False, buffer_size=buffer) as file:
            yield from file.iter_batches(rows, [group], columns, use_threads=False)


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


def read_parquet_blocks(
    source: Source, size: int, after: BlockExtent | None, within: ByteRange
) -> Iterator[ParquetPart]:
    """Cut at row groups; see `read_blocks`."""
    with reading(source.path):
        file = ParquetSource(source)
        index, done = (0, 0) if after is None else (after.index + 1, after.stop)
        groups = file.groups_within(within)
        first, end = file.ends[[groups.start, groups.stop]].tolist()
        if first == end and after is None:
            empty = file.head.layout.empty_table()
            yield ParquetPart(file, BlockExtent(0, first, end, first + 1, file.check), None, empty)
        for start, stop, rows in file.spans(size, done, groups):
            if not rows:
                extent = BlockExtent(index, start, stop, start + 1, file.check)
                yield ParquetPart(file, extent, None)
                index += 1
                continue
            for batch in file.parts(file.group_at(start), rows, False):
                stop, start = start + len(batch), max(start, done)
                if start < stop:  # of which a part is done, if blocks had another size before
                    extent = BlockExtent(index, start, stop, start + 1, file.check)
                    table = pyarrow("").Table.from_batches([batch])
                    table = table.slice(len(batch) - (stop - start))
                    yield ParquetPart(file, extent, None, table)
                    index += 1
                start = stop


def reread_parquet(
    source: Source, extents: Iterable[BlockExtent], bad: NDArray[np.int64], all_columns: bool
) -> Iterator[ParquetPart]:
    """Read row groups, or parts of them, once more; see `reread_blocks`."""
    with reading(source.path):
        file = ParquetSource(source)
        pa = pyarrow(source.path)
        rest: Iterator[Any] = iter(())
        group, at = -1, 0
        batches: list[Any] = []
        for extent in extents:
            if extent.check != file.check:
                raise changed(source)
            mine = bad[slice(*np.searchsorted(bad, (extent.start + 1, extent.stop + 1)))]
            if not file.ends[-1] or file.is_whole(extent):
                table = None if file.ends[-1] else file.head.layout.empty_table()
                yield ParquetPart(file, extent, mine, table)
                continue
            if group != file.group_at(extent.start):
                group = file.group_at(extent.start)
                rest, batches = file.parts(group, extent.stop - extent.start, all_columns), []
                at = int(file.ends[group])
            while at < extent.stop:
                batch = next(rest, None)
                if batch is None:
                    raise changed(source)
                at += len(batch)
                batches.append(batch)
            while at - sum(map(len, batches[1:])) <= extent.start:
                batches.pop(0)
            table = pa.Table.from_batches(batches)
            table = table.slice(extent.start - (at - len(table)), extent.stop - extent.start)
            yield ParquetPart(file, extent, mine, table)
