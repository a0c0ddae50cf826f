"""Row formats: bytes of a stream, cut where rows end."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastlsh.errors import LongRowError
from fastlsh.io import filesystems
from fastlsh.io.blocks.contract import ALL_BYTES, BlockExtent, ByteRange, Bytes, Head, checksum
from fastlsh.io.blocks.lines import ENDS, LF, Indices, Lines, line_feeds
from fastlsh.io.sources import Source
from fastlsh.io.streams import Stream, changed, open_utf8


class Format:
    """What tells a row format from another; one for each reading of a file.

    Parameters
    ----------
    source : Source
        The file.
    ends : tuple of bytes
        What may end a row.
    """

    begun = True
    """Whether the head is complete."""

    def __init__(self, source: Source, ends: tuple[bytes, ...] = ENDS) -> None:
        self.source = source
        self.head = Head(row_ends=ends)

    def open(self, stream: Stream) -> None:
        """Look at the beginning of the file, which the rows may follow."""

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the rows."""
        return line_feeds(data, last)

    def next_end(self, data: Bytes) -> int | None:
        """Return where a row ends that began before these bytes; None: behind them."""
        ends = np.flatnonzero(data == LF)
        return int(ends[0]) if len(ends) else None

    def begin(self, data: Bytes, lines: Lines, row: int) -> int:
        """Complete the head, if that can be; return how many of the rows are no documents."""
        return 0

    def end(self, rest: Bytes, lines: Lines, row: int) -> None:
        """Raise if a file must not end so.

        Its last bytes are those of `lines` and the rest, in which row `row` would begin.
        """

    def block(self, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None) -> Any:
        """Make a block; `bad` is None as long as nobody has parsed it."""
        raise NotImplementedError


def read_row_blocks(
    kind: Format,
    size: int,
    after: BlockExtent | None,
    max_row: int | None,
    within: ByteRange = ALL_BYTES,
) -> Iterator[Any]:
    """Cut a file into blocks of about `size` bytes; see `read_blocks`."""
    with open_utf8(kind.source) as stream:
        _learn(kind, stream)
        if within.start:
            _complete(kind, max_row, within.start)
            _skip_to_row(kind, stream, within.start)
        start, row, index = stream.position, 1, 0
        if after is not None:
            _complete(kind, max_row)
            _, lines = _extent_lines(kind, stream, after)
            start, row, index = after.stop, after.row + lines.count, after.index + 1
        for data, lines, ended in _pieces(stream, kind, size, max_row):
            is_end = False
            if within.stop is not None and start + lines.end >= within.stop:
                is_end = True
                lines, ended = _begun_before(lines, within.stop - start), True
                data = data[: lines.end]
            if max_row is not None:
                _check_length(kind, stream, data, lines, row, max_row)
                if not kind.begun:  # the names in a header become objects, too
                    head, extent = lines.up_to_row(min(len(lines), 1)), BlockExtent(0, 0, 0, row, 0)
                    kind.block(extent, data, head, None).check_objects(max_row)
            first = 0 if kind.begun else kind.begin(data, lines, row)
            if is_end:  # the head may begin behind the range
                _complete(kind, max_row)
            rows = lines.from_row(first)
            complete = ended and not is_end and stream.error is None
            if complete and not len(rows):
                kind.end(data[lines.end :], lines, row + lines.count)
            if len(rows) or (ended and not index):
                begin, line = int(lines.bounds[first]), lines.line(first)
                part = data[begin : lines.end]
                check = checksum(part, kind.head.seed)
                extent = BlockExtent(index, start + begin, start + lines.end, row + line, check)
                block = kind.block(extent, part, rows, None)
                if max_row is not None:
                    block.check_objects(max_row)
                yield block
                index += 1
            start, row = start + lines.end, row + lines.count
            if complete:
                kind.end(data[lines.end :], lines, row)
            if is_end:
                return
        if stream.error is not None:
            raise stream.error


def reread_rows(kind: Format, extents: Iterable[BlockExtent], bad: Indices) -> Iterator[Any]:
    """Read blocks once more; see `reread_blocks`. `bad` is sorted."""
    with open_utf8(kind.source) as stream:
        _learn(kind, stream)
        _complete(kind)
        for extent in extents:
            data, lines = _extent_lines(kind, stream, extent)
            first, last = np.searchsorted(bad, (extent.row, extent.row + lines.count))
            yield kind.block(extent, data, lines, bad[first:last])


def _learn(kind: Format, stream: Stream) -> None:
    kind.head.codec, kind.head.mark = stream.codec, stream.mark
    kind.open(stream)


def _complete(kind: Format, max_row: int | None = None, before: int | None = None) -> None:
    """Read the beginning of the file, for its head, which may be in rows behind a position."""
    if kind.begun:
        return
    with open_utf8(kind.source) as stream:
        start, row = stream.position, 1
        for data, lines, _ in _pieces(stream, kind, 1 << 16, max_row):
            if before is not None and start + lines.end >= before:
                lines = _begun_before(lines, before - start)
                data = data[: lines.end]
            if max_row is not None:
                _check_length(kind, stream, data, lines, row, max_row)
            kind.begin(data, lines, row)
            start, row = start + lines.end, row + lines.count
            if kind.begun or (before is not None and start >= before):
                return


def rows_before(kind: Format, position: int) -> int:
    """Return how many rows begin before a position in the stored bytes."""
    with open_utf8(kind.source) as stream:
        start, row = stream.position, 0
        for _, lines, _ in _pieces(stream, kind, 1 << 22):
            begun = _begun_before(lines, position - start)
            start, row = start + begun.end, row + begun.count
            if start >= position:
                break
        return row


def _begun_before(lines: Lines, position: int) -> Lines:
    """Return those of the rows that begin before a position."""
    return lines.up_to_row(int(np.searchsorted(lines.bounds[:-1], position)))


def _skip_to_row(kind: Format, stream: Stream, position: int) -> None:
    """Go to the first row that begins at a position or behind it; `stream` is at its beginning."""
    buffer = np.empty(1 << 16, np.uint8)
    stream.skip_to(position - 1)  # the byte there may end a row
    while count := stream.fill(buffer.data):
        lines = kind.split(buffer[:count], count < len(buffer))
        if len(lines):
            stream.give_back(buffer[lines.bounds[1] : count].tobytes())
            return
        if count < len(buffer):
            return
        stream.give_back(buffer[-1:].tobytes())  # it may be the first of two that end a row


def _extent_lines(kind: Format, stream: Stream, extent: BlockExtent) -> tuple[Bytes, Lines]:
    """Return the bytes and the rows of an extent, if they have not changed."""
    if extent.start < stream.position:
        raise ValueError("extents must be in ascending order")
    data = np.empty(extent.stop - extent.start, np.uint8)
    is_read = stream.skip_to(extent.start) and stream.fill(data.data) == len(data)
    if stream.error is not None:
        raise stream.error
    if not is_read or checksum(data, kind.head.seed) != extent.check:
        raise changed(kind.source)
    return data, kind.split(data, True)


def _check_length(
    kind: Format, stream: Stream, data: Bytes, lines: Lines, row: int, max_row: int
) -> None:
    """Raise LongRowError if a row has more than `max_row` bytes; the last one may go on."""
    edges = np.append(lines.bounds, len(data))
    size = np.diff(edges)
    if int(size.max()) <= max_row:
        return
    line = int(np.argmax(size > max_row))
    long = int(size[line])
    goes_on = edges[line + 1] == len(data) and not filesystems.has_end(kind.source.path)
    if line == len(lines) and not goes_on:  # no line feed yet
        buffer = np.empty(1 << 20, np.uint8)
        while count := stream.fill(buffer.data):
            end = kind.next_end(buffer[:count])
            long += count if end is None else end
            if end is not None:
                break
    raise LongRowError(kind.source.path, long, row + lines.line(line), goes_on=bool(goes_on))


def _pieces(
    stream: Stream, kind: Format, size: int, max_row: int | None = None
) -> Iterator[tuple[Bytes, Lines, bool]]:
    """Yield bytes that begin with whole rows, those rows, and whether no more bytes come.

    The last ones come always, were it without a row; so do those before an error, and more than
    `max_row` bytes without the end of a row.
    """
    left = np.empty(0, np.uint8)
    while True:
        buffer = np.empty(max(size, 2 * len(left)), np.uint8)
        buffer[: len(left)] = left
        count = stream.fill(buffer.data[len(left) :])
        ended = count < len(buffer) - len(left)
        data = buffer[: len(left) + count]
        lines = kind.split(data, ended and stream.error is None)
        if ended or lines.end or (max_row is not None and len(data) > max_row):
            yield data, lines, ended
        if ended:
            return
        left = data[lines.end :]
