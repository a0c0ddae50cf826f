"""Plain text: a file is a document, every character as it is, line ends too."""

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import LongRowError
from fastlsh.io import filesystems
from fastlsh.io.blocks.added import json_tails
from fastlsh.io.blocks.checks import checksum
from fastlsh.io.blocks.contract import (
    AddedColumns,
    BlockDocuments,
    BlockExtent,
    Flags,
    Head,
    NewTexts,
)
from fastlsh.io.errors import reading
from fastlsh.io.row_sizes import AS_OBJECTS, PER_ROW, memory_as_objects
from fastlsh.io.sources import Source
from fastlsh.io.streams import BOM, advice_for, changed, exact_codec, open_bytes

_PIECE = 1 << 20


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

    def documents(self, wanted: Flags | None = None) -> BlockDocuments:
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
        if wanted is not None and not wanted[0]:
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
                rest = 0 if goes_on else sum(map(len, iter(lambda: stream.read(_PIECE), b"")))
                raise LongRowError(source.path, len(data) + rest, goes_on=goes_on)
        yield TextBlock(source, data)


def _read(stream: BinaryIO, max_row: int) -> bytes:
    """Read so many bytes at most; `read` would take memory for all of them at once."""
    pieces, left = [], max_row
    while left and (piece := stream.read(min(left, _PIECE))):
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
