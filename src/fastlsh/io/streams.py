"""The bytes and the lines of a file, without its compression and its byte order mark."""

import codecs
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from fastlsh.io import places
from fastlsh.io.errors import codec, pyarrow, reading
from fastlsh.io.files import Source

BOM = "\ufeff"


@contextmanager
def open_bytes(source: Source) -> Iterator[io.BufferedReader]:
    """Open a file for reading, without its compression.

    A file cut short or not compressed as its name says raises an `InputError`, here or later
    while it is read.
    """
    with reading(source.path), ExitStack() as stack:
        raw: Any = stack.enter_context(places.open_raw(source.path))
        # gzip alone takes a file of no bytes for a whole one.
        if source.compression and places.is_regular(source.path) and not raw.peek(1):
            raise source.error(f"truncated: an empty file is no .{source.compression}")
        if source.compression == "zst":
            raw = pyarrow(source.path).CompressedInputStream(raw, "zstd")
        elif source.compression:
            raw = codec(source.path, source.compression).open(raw)
        yield stack.enter_context(io.BufferedReader(raw, 1 << 17))


@contextmanager
def open_arrow(source: Source) -> Iterator[Any]:
    """Open a file of a columnar format as Arrow's own file, which can seek.

    Yields
    ------
    pyarrow.NativeFile
    """
    pa = pyarrow(source.path)
    with reading(source.path), ExitStack() as stack:
        if places.is_remote(source.path):
            stream = stack.enter_context(places.open_raw(source.path))
            yield stack.enter_context(pa.PythonFile(stream, "r"))
        else:
            yield stack.enter_context(pa.OSFile(source.path))


def exact_codec(encoding: str, head: bytes) -> str:
    """Return the codec that leaves a byte order mark in the text, where it can be seen.

    Parameters
    ----------
    encoding : str
        As the user names it.
    head : bytes
        The first bytes of the file: they decide the byte order of UTF-16 and UTF-32.

    Returns
    -------
    str
    """
    name = codecs.lookup(encoding).name
    if name == "utf-8-sig":
        return "utf-8"
    if name in ("utf-16", "utf-32"):
        big = head.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        return f"{name}-{'be' if big else 'le'}"
    return name


class Record(NamedTuple):
    """A row as it came: where it starts, its text, and its fields if the format has any."""

    row: int
    raw: str
    fields: list[str] | Exception


class TextReader:
    """Base of the readers of row formats: decoded lines that can be written back exactly.

    Bytes that are no text in the encoding come as lone surrogates, so that one bad row does not
    hide the others; `check` finds them.

    Parameters
    ----------
    source : Source
        The file.

    Attributes
    ----------
    codec : str
        The encoding found; ``raw.encode(codec)`` gives the bytes of a good row.
    bom : bool
        Whether the file began with a byte order mark, which is no part of the first row.
    layout : tuple of str or None
        The columns, where the format names them once for all rows.
    header : str
        The raw header, if there is one.
    """

    newline = "\n"

    def __init__(self, source: Source) -> None:
        self.source = source
        self.codec = source.options.encoding
        self.bom = False
        self.layout: tuple[str, ...] | None = None
        self.header = ""

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends."""
        with open_bytes(self.source) as stream:
            self.codec = exact_codec(self.source.options.encoding, stream.peek(4)[:4])
            text = io.TextIOWrapper(stream, self.codec, "surrogateescape", newline=self.newline)
            first = next(text, "")
            self.bom = first.startswith(BOM)
            if first.removeprefix(BOM):
                yield first.removeprefix(BOM)
            yield from text

    def check(self, record: Record) -> None:
        """Raise if the row has bytes that are no text."""
        if record.raw.isascii():
            return
        try:
            record.raw.encode()
        except UnicodeEncodeError as error:
            byte = ord(record.raw[error.start]) & 0xFF
            reason = f"not {self.codec}: byte 0x{byte:02x} at character {error.start + 1}"
            raise self.source.error(reason, record.row) from None
