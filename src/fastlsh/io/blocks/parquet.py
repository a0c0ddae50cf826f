"""Parquet, by row groups; large ones in parts."""

import binascii
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import LongRowError
from fastlsh.io import filesystems
from fastlsh.io.arrays import row_sizes
from fastlsh.io.blocks.contract import ALL_BYTES, BlockExtent, ByteRange, Head
from fastlsh.io.blocks.row_groups import check_columns, decoded_size, pages
from fastlsh.io.blocks.tables import TableBlock, TableColumns
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, identity, open_arrow, open_bytes

_BUFFERS = 1 << 24
"""Bytes of the buffers of all columns that are read together."""

_AT_ONCE = 1 << 20
"""Bytes of a row group that are decoded at a time. An array grows by being copied; the next array
can use the memory that the copies leave, where one large array would take new memory each time."""

COLUMN_ROWS = 1 << 12
"""Rows of one column that are looked at together."""

PAGES = 2
"""Times the bytes that a row may have: those of the pages that are decoded together."""

_ENCRYPTED = ("Could not read encrypted metadata", "Cannot decrypt ColumnMetadata")
"""What pyarrow says of an encrypted footer, and of an encrypted column."""


class ParquetPart(TableBlock):
    """Whole row groups, or a part of one; read by who works on them, or already."""

    def __init__(
        self, file: "ParquetSource", extent: BlockExtent, bad: Any, table: Any = None
    ) -> None:
        super().__init__(file, extent, bad, table)
        self._file = file

    def _ends(self, stop: int) -> list[int]:
        # A block that is read again is whole row groups, or a part of one.
        end_of_group = int(self._file.ends[self._file.group_at(stop)])
        return sorted({end for end in (end_of_group, stop) if end > self.extent.start})

    def _table(self, all_columns: bool) -> Any:
        layout = self._file.head.layout
        names = layout.names if all_columns else self._columns.names
        read = self._read
        if read is not None and set(names) <= set(read.schema.names):
            return read
        others = [name for name in names if read is None or name not in read.schema.names]
        if self._file.is_whole(self.extent):
            groups = range(*map(self._file.group_at, (self.extent.start, self.extent.stop)))
            columns = None if others == layout.names else others
            with self._file.open(self._file.metadata) as file:
                table = file.read_row_groups(list(groups), columns=columns, use_threads=False)
        else:
            table = next(self._file.in_order([self.extent], others))
        return table if read is None else self._file.table(read, table)


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
            self.head.codecs = {column.path_in_schema: column.compression for column in columns}

    @contextmanager
    def open(self, metadata: Any, **more: Any) -> Iterator[Any]:
        """Open the file."""
        # Only files written with checksums of their pages are checked.
        with open_arrow(self.source) as raw:
            parquet = pyarrow(self.source.path, "pyarrow.parquet")
            try:
                opened = parquet.ParquetFile(
                    raw, metadata=metadata, page_checksum_verification=True, **more
                )
            except KeyError as error:  # a name in the schema
                raise self.source.error(f"damaged: the footer lacks the column {error}") from error
            with opened as file:
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
            check_columns(self.metadata, i)
            values = self.metadata.row_group(i).column(0).num_values
            if not 0 <= rows <= values or (exact and rows < values):
                raise self.source.error(
                    f"the footer contradicts itself: row group {i + 1} has {rows} rows, but"
                    f" {values} values in a column"
                )

    def group_at(self, row: int) -> int:
        """Return the last row group that begins at a row or before."""
        return int(np.searchsorted(self.ends, row, "right")) - 1

    def is_whole(self, extent: BlockExtent) -> bool:
        """Whether an extent consists of complete row groups."""
        return bool(np.isin((extent.start, extent.stop), self.ends).all())

    def group_in_parts(self, extent: BlockExtent) -> int | None:
        """Return the row group of which an extent is a part; None if it is of complete ones."""
        return None if self.is_whole(extent) else self.group_at(extent.start)

    def groups_within(self, within: ByteRange) -> range:
        """Return the row groups that begin in a range of the file.

        Where they begin is reckoned from their sizes without compression: writers may put row
        groups and columns in any order.
        """
        if within == ALL_BYTES:
            return range(len(self.sizes))
        sizes = np.maximum([size for _, size in self.sizes], 0)
        begin = np.cumsum(sizes) - sizes
        file = identity(self.source)
        scale = (0 if file is None else file.size) / max(int(sizes.sum()), 1)
        edges = (within.start, np.inf if within.stop is None else within.stop)
        return range(*np.searchsorted(begin * scale, edges).tolist())

    def spans(
        self, size: int, done: int, groups: range, max_row: int | None, names: list[str]
    ) -> Iterator[tuple[int, int, int | None]]:
        """Yield (first row, row behind the last one, rows of a part) of what is not done.

        Small row groups come together and are read as a whole: the number of rows is then None. A
        large row group, or the rest of a row group, comes alone and is read in parts. LongRowError:
        a row of these columns is longer than `max_row`, or their pages are too large.
        """
        first = max(self.group_at(done) if done else 0, groups.start)
        start = stop = int(self.ends[first])
        total = 0
        for group in range(first, groups.stop):
            if max_row is not None:
                self.check_lengths(group, names, max_row)
            decoded = decoded_size(self.metadata, group, size, self.open, names)
            in_parts = decoded.is_large(size) or stop < done
            if stop > start and (in_parts or total + decoded.plain > size):
                yield start, stop, None
                start, total = stop, 0
            stop, total = stop + decoded.rows, total + decoded.plain
            if in_parts and stop > start:
                yield max(start, done), stop, decoded.rows_at_once(size)
                start, total = stop, 0
        if stop > start:
            yield start, stop, None

    def check_lengths(self, group: int, names: list[str], max_row: int) -> None:
        """Look at the columns of a row group that have more bytes than a row may have.

        First come their pages, which tell most, and then the rows if a page has more bytes.

        Raises
        ------
        LongRowError
            A row of one of these columns has more than `max_row` bytes; or the largest pages of
            the columns have more than `PAGES` times as many together.
        """
        if filesystems.is_remote(self.source.path):  # where each page would be asked for
            return
        described = self.metadata.row_group(group)
        doubtful: dict[str, int] = {}
        together = 0
        with open_arrow(self.source) as file:
            for column in map(described.column, range(self.metadata.num_columns)):
                name = column.path_in_schema
                is_read = name.split(".")[0] in names
                if not is_read or column.total_uncompressed_size <= max_row:
                    continue
                column_pages = pages(file, column)
                largest = max((page.size for page in column_pages), default=0)
                together += largest
                if largest > max_row and name in names:  # neither fields nor lists
                    values = [page.values for page in column_pages if page.values]
                    doubtful[name] = min(values[:-1] or values, default=1) // 4 + 1
        if together > PAGES * max_row:
            raise LongRowError(self.source.path, together, what="page")
        for name, rows in doubtful.items():
            self._check_rows_of(group, name, rows, max_row)

    def _check_rows_of(self, group: int, name: str, rows: int, max_row: int) -> None:
        """Raise LongRowError if a row of a column has more bytes; so many are read at a time."""
        row = int(self.ends[group]) + 1
        for batch in self.batches(group, rows, [name], read_dictionary=[name]):
            sizes = row_sizes(batch)
            if sizes.max(initial=0) > max_row:
                row += int(np.argmax(sizes))
                raise LongRowError(self.source.path, int(sizes.max()), row)
            row += len(batch)

    def in_order(self, extents: list[BlockExtent], names: list[str]) -> Iterator[Any]:
        """Yield columns of parts of one row group as tables, read from its beginning on."""
        group, rows = self.group_at(extents[0].start), extents[0].stop - extents[0].start
        in_group, size = self.sizes[group]
        rows = min(rows, in_group * _AT_ONCE // max(size, 1) + 1)
        batches = self.batches(group, rows, names)
        at = int(self.ends[group])
        held: list[Any] = []
        for extent in extents:
            while at < extent.stop:
                batch = next(batches, None)
                if batch is None:
                    raise changed(self.source)
                at += len(batch)
                held.append(batch)
            while at - sum(map(len, held[1:])) <= extent.start:
                held.pop(0)
            table = pyarrow("").Table.from_batches(held)
            yield table.slice(extent.start - (at - len(table)), extent.stop - extent.start)

    def table(self, *parts: Any) -> Any:
        """Return columns of the same rows, of some tables, in the order of the file."""
        layout = self.head.layout
        columns = {name: part.column(name) for part in parts for name in part.schema.names}
        names = sorted(columns, key=layout.get_field_index)
        schema = pyarrow("").schema(map(layout.field, names), layout.metadata)
        return pyarrow("").Table.from_arrays([columns[name] for name in names], schema=schema)

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column, as arrays."""
        for group in range(len(self.sizes)):
            for batch in self.batches(group, COLUMN_ROWS, [name]):
                yield batch.column(0)

    def batches(self, group: int, rows: int, names: list[str], **more: Any) -> Iterator[Any]:
        """Yield columns of a row group in batches of at most so many rows."""
        columns = None if names == self.head.layout.names else names
        # Page by page: a row group may be larger than memory.
        buffer = min(max(_BUFFERS // self.metadata.num_columns, 1 << 12), 1 << 20)
        with self.open(self.metadata, pre_buffer=False, buffer_size=buffer, **more) as file:
            yield from file.iter_batches(rows, [group], columns, use_threads=False)


def read_parquet_blocks(
    source: Source,
    size: int,
    after: BlockExtent | None,
    within: ByteRange,
    max_row: int | None = None,
    all_columns: bool = True,
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
        names = file.head.layout.names if all_columns else file.columns.names
        for start, stop, rows in file.spans(size, done, groups, max_row, names):
            if rows is None:
                extent = BlockExtent(index, start, stop, start + 1, file.check)
                yield ParquetPart(file, extent, None)
                index += 1
                continue
            extents = [
                BlockExtent(number, first, last, first + 1, file.check)
                for number, (first, last) in enumerate(
                    pairwise([*range(start, stop, rows), stop]), index
                )
            ]
            tables = file.in_order(extents, file.columns.names)
            for extent, table in zip(extents, tables, strict=True):
                yield ParquetPart(file, extent, None, table)
            index += len(extents)


def reread_parquet(
    source: Source,
    extents: Iterable[BlockExtent],
    bad: NDArray[np.int64],
    all_columns: bool,
    texts: Any = None,
) -> Iterator[ParquetPart]:
    """Read row groups, or parts of them, once more; see `reread_blocks`."""
    with reading(source.path):
        file = ParquetSource(source)
        names = file.head.layout.names if all_columns else file.columns.names
        text, extents = file.columns.plain_text(), [*extents]
        rows = sum(extent.stop - extent.start for extent in extents)
        if text is None or getattr(texts, "type", None) != text.type or not 0 < len(texts) == rows:
            texts = None
        else:
            names = [name for name in names if name != text.name]
            texts = pyarrow("").table({text.name: texts})
        for group, extents_of_group in groupby(extents, file.group_in_parts):
            group_extents = list(extents_of_group)
            if any(extent.check != file.check for extent in group_extents):
                raise changed(source)
            tables: Iterable[Any] = repeat(None)
            if group is not None and names:
                tables = file.in_order(group_extents, names)
            elif not file.ends[-1]:
                tables = repeat(file.head.layout.empty_table())
            for extent, table in zip(group_extents, tables, strict=False):
                if texts is not None:
                    known = texts.slice(extent.start - extents[0].start, extent.stop - extent.start)
                    table = file.table(known, *([] if table is None else [table]))
                yield ParquetPart(file, extent, bad, table)
