"""Plain text: a file is a document, or its lines and paragraphs are."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.rows._rows import line_bounds
from fastlsh.errors import LongRowError
from fastlsh.io import filesystems
from fastlsh.io.arrays import AS_OBJECTS, PER_ROW, memory_as_objects
from fastlsh.io.blocks.contract import (
    AddedColumns,
    BlockDocuments,
    BlockExtent,
    Bytes,
    Flags,
    Head,
    NewTexts,
    checksum,
)
from fastlsh.io.blocks.writing import json_tails
from fastlsh.io.errors import reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import BOM, advice_for, changed, exact_codec, open_bytes
from fastlsh.parallel import batches

LF, CR, QUOTE = 10, 13, 34
ENDS = b"\r\n", b"\n"
"""What may end a row; of CSV, a carriage return may, too."""
_PIECE = 1 << 20
"""Bytes in which quotes are looked for together."""
_FIELD_LIMIT = 2**31 - 1  # fits a C long everywhere
_ONE_AT_A_TIME = Lock()
Indices = NDArray[np.int64]


@dataclass
class Lines:
    """The whole rows at the beginning of some bytes; blank lines count as rows here."""

    bounds: Indices
    """int64 (rows + 1,): row i is ``bounds[i]`` ... ``bounds[i + 1] - 1``, with its line end."""
    numbers: Indices | None
    """int64 (rows,): the physical line that each begins on, from 0; None: each is one."""
    count: int
    """Physical lines, up to the last bound."""
    is_open: bool = False
    """Whether what follows, to the end of the file, is a quote that is never closed."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.bounds) - 1

    @property
    def end(self) -> int:
        """Where the last row ends."""
        return int(self.bounds[-1])

    def from_row(self, row: int) -> "Lines":
        """Return those from a row on, as if they were the first."""
        start = int(self.bounds[row])
        before = self.line(row)
        numbers = None if self.numbers is None else self.numbers[row:] - before
        return Lines(self.bounds[row:] - start, numbers, self.count - before, self.is_open)

    def up_to_row(self, row: int) -> "Lines":
        """Return those before a row, as if nothing came behind them."""
        numbers = None if self.numbers is None else self.numbers[:row]
        return Lines(self.bounds[: row + 1], numbers, self.line(row))

    def line(self, row: int) -> int:
        """Return the physical line that a row begins on; of the one after the last, too."""
        if row == len(self):
            return self.count
        return row if self.numbers is None else int(self.numbers[row])


def line_feeds(data: Bytes, last: bool) -> Lines:
    """Split at each line feed."""
    bounds = line_bounds(data, last)
    return Lines(bounds, None, len(bounds) - 1)


def delimited_lines(data: Bytes, last: bool, delimiter: str, quotes: bool) -> Lines:
    """Split CSV: line ends inside quotes are text."""
    physical = line_bounds(data, last, returns=True)
    if not quotes or not (data == QUOTE).any():
        return Lines(physical, None, len(physical) - 1)
    outside = _as_written(data, physical, ord(delimiter)) if delimiter.isascii() else None
    if outside is None:
        outside = _as_read(data, physical, delimiter)
    bounds = physical[outside]
    numbers = np.flatnonzero(outside)
    is_open = last and int(bounds[-1]) < len(data)
    return Lines(bounds, numbers[:-1].astype(np.int64), int(numbers[-1]), is_open)


def _as_written(data: Bytes, physical: Indices, delimiter: int) -> NDArray[np.bool_] | None:
    """Return which line ends are those of rows, if quotes are as one writes them.

    Each one then opens a field, closes it, or is doubled inside: so they alternate. None: they do
    not. One piece of the data is looked at after the other, for the places of all quotes may take
    more memory than the data.
    """
    if sys.version_info < (3, 11) and not data.all():  # which ends a row at each NUL
        return None
    edge = np.zeros(256, np.bool_)
    edge[[LF, CR, QUOTE, delimiter]] = True
    outside = np.zeros(len(physical), np.bool_)
    count = done = 0
    for start, stop in batches(len(data), _PIECE):
        marks = np.flatnonzero(data[start:stop] == QUOTE) + start
        opening, closing = marks[count % 2 :: 2], marks[1 - count % 2 :: 2]
        before = edge[data[opening[opening > 0] - 1]]
        after = edge[data[closing[closing < len(data) - 1] + 1]]
        # Before an opening one, a quote is that which closed; after a closing one, it opens.
        if not (before.all() and after.all()):
            return None
        end = int(np.searchsorted(physical, stop, "right"))
        outside[done:end] = (count + np.searchsorted(marks, physical[done:end])) % 2 == 0
        count, done = count + len(marks), end
    return outside


def _as_read(data: Bytes, physical: Indices, delimiter: str) -> NDArray[np.bool_]:
    """Ask the csv module which line ends are those of rows."""
    outside = np.zeros(len(physical), np.bool_)
    outside[0] = True
    # Each byte as a character takes least memory, and shows the same quotes and delimiters.
    codec = "latin-1" if delimiter.isascii() else "utf-8"
    stored = io.BytesIO(data[: physical[-1]].tobytes())
    lines = io.TextIOWrapper(stored, codec, "replace", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    with fields_of_any_size():
        while True:
            try:
                next(reader)
            except StopIteration:
                return outside
            except csv.Error as error:
                if "unexpected end" in str(error):
                    return outside
            outside[reader.line_num] = True


@contextmanager
def fields_of_any_size() -> Iterator[None]:
    """Lift the limit of the csv module, which is one for the whole process."""
    with _ONE_AT_A_TIME:
        limit = csv.field_size_limit(_FIELD_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


_TEXT_PIECE = 1 << 20


class TextBlock:
    """A file; the id is its name."""

    def __init__(self, source: Source, data: bytes) -> None:
        self.source = source
        self.head = Head()
        check = checksum(np.frombuffer(data, np.uint8))
        self.extent = BlockExtent(0, 0, len(data), 1, check)
        self.data = data
        """Its bytes."""

    @property
    def next_row(self) -> int:
        """The number of the row behind the block; see `Block`."""
        return 2

    def documents(self, kept: Flags | None = None) -> BlockDocuments:
        """Decode it; see `Block`."""
        data = self.data
        codec = exact_codec(self.source.options.encoding, data[:4])
        try:
            text = data.decode(codec)
        except UnicodeDecodeError as error:
            byte = data[error.start]
            reason = f"not {codec}: byte 0x{byte:02x} at offset {error.start}: {error.reason}"
            bad = self.source.error(reason + advice_for(self.source, data[:8]))
            return BlockDocuments([], None, np.empty(0, np.int64), bad=[bad])
        if kept is not None and not kept[0]:
            return BlockDocuments([], None, np.empty(0, np.int64))
        return BlockDocuments([text.removeprefix(BOM)], [self.source.path], np.array([1]))

    def check_objects(self, max_row: int, copies: int = 0) -> None:
        """Raise LongRowError if its text is too large as objects of Python; see `Block`."""
        taken = memory_as_objects(np.frombuffer(self.data, np.uint8), ",", 0)
        if taken > PER_ROW * max_row:
            raise LongRowError(self.source.path, taken, what=AS_OBJECTS)

    def first(self, documents: int) -> Iterator["TextBlock"]:
        """Yield the file, which is one document; see `Block`."""
        yield self

    def rows(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> bytes:
        """Return a line of JSON; see `Block`."""
        if not kept.any():
            return b""
        text = self.documents().texts[0] if not texts else texts[0]
        tail = b"" if added is None else json_tails(added, plain=False)[0]
        return as_json(self.source.path, text, tail)

    def copy(self, texts: NewTexts | None = None) -> bytes:
        """Return the bytes of the file, or those of another text."""
        if not texts:
            return self.data
        codec = exact_codec(self.source.options.encoding, self.data[:4])
        mark = BOM if self.data.decode(codec).startswith(BOM) else ""
        return (mark + texts[0]).encode(codec)


def as_json(path: str, text: str | None, tail: bytes = b"") -> bytes:
    """Return a document as a line of JSON; `tail` is that of `json_tails`."""
    line = json.dumps({"id": path, "text": text}, ensure_ascii=False).removesuffix("}")
    # A file name need not be UTF-8; what is not becomes an escape that JSON knows.
    return line.encode("utf-8", "backslashreplace") + tail + b"}\n"


def read_text_blocks(
    source: Source, after: BlockExtent | None, max_row: int | None = None
) -> Iterator[TextBlock]:
    """Read a file; see `read_blocks`."""
    if after is None:
        with open_bytes(source) as stream, reading(source.path):
            data = stream.read() if max_row is None else _read(stream, max_row + 1)
            if max_row is not None and len(data) > max_row:
                goes_on = not filesystems.has_end(source.path)
                rest = 0 if goes_on else sum(map(len, iter(lambda: stream.read(_TEXT_PIECE), b"")))
                raise LongRowError(source.path, len(data) + rest, goes_on=goes_on)
        yield TextBlock(source, data)


def _read(stream: BinaryIO, max_row: int) -> bytes:
    """Read so many bytes at most; `read` would take memory for all of them at once."""
    pieces, left = [], max_row
    while left and (piece := stream.read(min(left, _TEXT_PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def reread_text(
    source: Source, extents: Iterable[BlockExtent], bad: NDArray[np.int64]
) -> Iterator[TextBlock]:
    """Read it once more; see `reread_blocks`."""
    for extent in extents:
        for block in read_text_blocks(source, None):
            if block.extent != extent:
                raise changed(source)
            yield block
