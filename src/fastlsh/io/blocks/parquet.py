"""Parquet, by row groups; large ones in parts."""

import binascii
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io import filesystems
from fastlsh.io.blocks.contract import ALL_BYTES, BlockExtent, ByteRange, Head
from fastlsh.io.blocks.pages import PagedFile, UnusualPagesError, check_lengths
from fastlsh.io.blocks.row_groups import Decoded, check_columns, decoded_size
from fastlsh.io.blocks.tables import TableBlock, TableColumns
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, identity, open_arrow, open_bytes

_BUFFERS = 1 << 24
"""Bytes of the buffers of all columns that are read together."""

COLUMN_ROWS = 1 << 12
"""Rows of one column that are looked at together."""

_ENCRYPTED = ("Could not read encrypted metadata", "Cannot decrypt ColumnMetadata")
"""What pyarrow says of an encrypted footer, and of an encrypted column."""


class ParquetPart(TableBlock):
    """Whole row groups, or a part of one; read by who works on them, or already."""

    def __init__(
        self, file: "ParquetSource", extent: BlockExtent, bad: Any, table: Any = None
    ) -> None:
        super().__init__(file.columns, file.head, extent, bad)
        self._file = file
        self._read = table

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
        names_read = () if read is None else read.schema.names
        others = [name for name in names if name not in names_read]
        if self._file.is_whole(self.extent):
            groups = range(*map(self._file.group_at, (self.extent.start, self.extent.stop)))
            columns = None if others == layout.names else others
            with self._file.open(self._file.metadata) as file:
                table = file.read_row_groups(list(groups), columns=columns, use_threads=False)
        else:
            table = self._file.rows(self.extent, others)
        if table is None:
            return next(self._file.in_order([self.extent], names))
        if not names_read:
            return table
        columns = [(read if name in names_read else table).column(name) for name in names]
        schema = pyarrow("").schema(map(layout.field, names), layout.metadata)
        return pyarrow("").Table.from_arrays(columns, schema=schema)

    def reuse(self, texts: Any) -> None:
        """Take the texts of all documents, so that they are not read again with the other columns.

        Only if they are a column as it is, which has no bad row.
        """
        field, read = self._columns.plain_text(), self._read
        is_whole = len(texts) == self.extent.stop - self.extent.start
        if field is None or not is_whole or getattr(texts, "type", None) != field.type:
            return
        layout = self._file.head.layout
        if read is None:
            schema = pyarrow("").schema([field], layout.metadata)
            self._read = pyarrow("").Table.from_arrays([texts], schema=schema)
        elif field.name not in read.schema.names:
            names_read = {field.name, *read.schema.names}
            in_order = [name for name in layout.names if name in names_read]
            self._read = read.append_column(field, texts).select(in_order)


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
            footer = file.read(length)
            self._paged = PagedFile(self.metadata, self.head.layout, footer)
            return binascii.crc32(footer)

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
    ) -> Iterator[tuple[int, int, Decoded | None]]:
        """Yield (first row, row behind the last one, sizes if it is large) of row groups not done.

        Small row groups come together, and are read as a whole. A row group that is done in part
        comes first, by itself. LongRowError: a row of these columns is longer than `max_row`, or
        their pages are too large.
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
                yield start, stop, decoded
                start, total = stop, 0
        if stop > start:
            yield start, stop, None

    def check_lengths(self, group: int, names: list[str], max_row: int) -> None:
        """Raise LongRowError if a row of these columns is longer, or their pages are too large."""
        with suppress(UnusualPagesError), self._opened_by_pages() as file:
            check_lengths(self.source, self._paged, file, group, names, max_row)

    def edges(self, group: int, rows: int) -> list[int]:
        """Return the rows between which a row group is read by its pages; none if it is not.

        A part has about so many rows, and ends with a page of the text.
        """
        first = self.columns.path(self.columns.texts[0])[0]
        try:
            with self._opened_by_pages() as file:
                ends = self._paged.scan(file, group, first).ends
        except UnusualPagesError:
            return []
        edges = [0]
        while edges[-1] < ends[-1]:
            page = int(np.searchsorted(ends, edges[-1] + rows, "right")) - 1
            edges.append(int(ends[page] if ends[page] > edges[-1] else ends[page + 1]))
        if max(np.diff(edges), default=0) > 2 * rows:
            return []
        starts = [int(self.ends[group]) + edge for edge in edges]
        return starts if first in self._by_pages(group, [*pairwise(starts)], [first]) else []

    def _by_pages(self, group: int, parts: list[tuple[int, int]], names: list[str]) -> list[str]:
        """Return the columns of parts of a row group that are read by pages.

        They are the large ones whose pages have rows of few parts, for each part decodes its pages.
        """
        begin = int(self.ends[group])
        n_rows = sum(stop - start for start, stop in parts)
        by_pages: list[str] = []
        with suppress(UnusualPagesError), self._opened_by_pages() as file:
            for name in names:
                with suppress(UnusualPagesError):
                    if not self._paged.is_large(group, name):
                        continue
                    pages = self._paged.scan(file, group, name)
                    edges = [pages.of(start - begin, stop - begin) for start, stop in parts]
                    decoded = sum(int(pages.ends[high] - pages.ends[low]) for low, high in edges)
                    if decoded <= 2 * n_rows:
                        by_pages.append(name)
        return by_pages

    def read_parts(
        self, extents: list[BlockExtent], bad: NDArray[np.int64] | None, names: list[str]
    ) -> Iterator[ParquetPart]:
        """Read parts of one row group: large columns by pages, the others from the beginning on."""
        group = self.group_at(extents[0].start)
        by_pages = self._by_pages(group, [(extent.start, extent.stop) for extent in extents], names)
        others = [name for name in names if name not in by_pages]
        tables = self.in_order(extents, others) if others else repeat(None)
        for extent, table in zip(extents, tables, strict=False):
            yield ParquetPart(self, extent, _within(bad, extent), table)

    def in_order(self, extents: list[BlockExtent], names: list[str]) -> Iterator[Any]:
        """Yield columns of parts of one row group as tables, read from its beginning on."""
        group = self.group_at(extents[0].start)
        rest = self.parts(group, extents[0].stop - extents[0].start, names)
        at = int(self.ends[group])
        batches: list[Any] = []
        for extent in extents:
            while at < extent.stop:
                batch = next(rest, None)
                if batch is None:
                    raise changed(self.source)
                at += len(batch)
                batches.append(batch)
            while at - sum(map(len, batches[1:])) <= extent.start:
                batches.pop(0)
            table = pyarrow("").Table.from_batches(batches)
            yield table.slice(extent.start - (at - len(table)), extent.stop - extent.start)

    def rows(self, extent: BlockExtent, names: list[str]) -> Any:
        """Return a part of a row group by its pages; None if that cannot be."""
        group = self.group_at(extent.start)
        first = int(self.ends[group])
        rows = extent.start - first, extent.stop - first
        try:
            with self._opened_by_pages() as file:
                return self._paged.read(file, group, *rows, names)
        except UnusualPagesError:
            return None

    @contextmanager
    def _opened_by_pages(self) -> Iterator[Any]:
        if filesystems.is_remote(self.source.path):  # where each page would be asked for
            raise UnusualPagesError
        with open_arrow(self.source) as file:
            yield file

    def column(self, name: str) -> Iterator[Any]:
        """Yield the values of a column, as arrays."""
        for group in range(len(self.sizes)):
            for batch in self.parts(group, COLUMN_ROWS, [name]):
                yield batch.column(0)

    def parts(self, group: int, rows: int, names: list[str]) -> Iterator[Any]:
        """Yield columns of a row group in batches of at most so many rows."""
        columns = None if names == self.head.layout.names else names
        # Page by page: a row group may be larger than memory.
        buffer = min(max(_BUFFERS // self.metadata.num_columns, 1 << 12), 1 << 20)
        with self.open(self.metadata, pre_buffer=False, buffer_size=buffer) as file:
            yield from file.iter_batches(rows, [group], columns, use_threads=False)

    def tables(self, group: int, rows: int) -> Iterator[tuple[int, Any]]:
        """Yield parts of a row group as tables of the wanted columns, each with where it ends."""
        stop = int(self.ends[group])
        for batch in self.parts(group, rows, self.columns.names):
            stop += len(batch)
            yield stop, pyarrow("").Table.from_batches([batch])


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
        for start, stop, decoded in file.spans(size, done, groups, max_row, names):
            if decoded is None:
                yield ParquetPart(
                    file, BlockExtent(index, start, stop, start + 1, file.check), None
                )
                index += 1
                continue
            group, rows = file.group_at(start), decoded.rows_at_once(size)
            if edges := file.edges(group, rows):
                inner = [max(start, done), *(edge for edge in edges if edge > max(start, done))]
                extents = [
                    BlockExtent(number, *rows, rows[0] + 1, file.check)
                    for number, rows in enumerate(pairwise(inner), index)
                ]
                yield from file.read_parts(extents, None, file.columns.names)
                index += len(extents)
                continue
            for stop, table in file.tables(group, rows):
                begin, start = max(start, done), stop
                if begin < stop:  # of which a part is done, if blocks had another size before
                    extent = BlockExtent(index, begin, stop, begin + 1, file.check)
                    yield ParquetPart(file, extent, None, table.slice(len(table) - (stop - begin)))
                    index += 1


def reread_parquet(
    source: Source, extents: Iterable[BlockExtent], bad: NDArray[np.int64], all_columns: bool
) -> Iterator[ParquetPart]:
    """Read row groups, or parts of them, once more; see `reread_blocks`."""
    with reading(source.path):
        file = ParquetSource(source)
        names = file.head.layout.names if all_columns else file.columns.names
        for group, extents_of_group in groupby(extents, file.group_in_parts):
            mine = list(extents_of_group)
            if any(extent.check != file.check for extent in mine):
                raise changed(source)
            if group is not None:
                yield from file.read_parts(mine, bad, names)
                continue
            for extent in mine:
                table = None if file.ends[-1] else file.head.layout.empty_table()
                yield ParquetPart(file, extent, _within(bad, extent), table)


def _within(bad: NDArray[np.int64] | None, extent: BlockExtent) -> NDArray[np.int64] | None:
    """Return the bad rows of a part, which are not known when it is read first."""
    if bad is None:
        return None
    return bad[slice(*np.searchsorted(bad, (extent.start + 1, extent.stop + 1)))]
