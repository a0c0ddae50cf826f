"""The bytes and the lines of a file, without its compression and its byte order mark."""

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from fastlsh.errors import InputError
from fastlsh.io import filesystems
from fastlsh.io.errors import codec, pyarrow, reading
from fastlsh.io.filesystems import Identity
from fastlsh.io.folders import COLUMNAR
from fastlsh.io.sources import Source
from fastlsh.parallel import background_calls

_COMPRESSED_PIECE = 1 << 20
"""Bytes that are compressed together, by whichever thread."""
_WINDOW = 1 << 15
"""Bytes before a piece that it may refer to: all that deflate allows."""
_LEVEL = 6
# RFC 1952: no name and no time inside, so the same rows give the same bytes; an unknown system.
_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
_LAST_BLOCK = b"\x03\x00"


class _Pieces(io.RawIOBase):
    """Cuts what is written into pieces, and hands each on with the bytes before it."""

    def __init__(self, take: Any) -> None:
        super().__init__()
        self._take = take
        self._waiting = bytearray()
        self._before = b""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Take some bytes."""
        self._waiting += data
        while len(self._waiting) >= _COMPRESSED_PIECE:
            self.cut()
        return len(data)

    def cut(self) -> None:
        """Hand on a piece, if there is any."""
        piece = bytes(self._waiting[:_COMPRESSED_PIECE])
        if piece:
            del self._waiting[:_COMPRESSED_PIECE]
            self._take((self._before, piece))
            self._before = piece[-_WINDOW:]


@contextmanager
def gzip_stream(raw: io.BufferedIOBase, threads: int) -> Iterator[io.RawIOBase]:
    """Give a stream that compresses into another one, as one member.

    Parameters
    ----------
    raw : io.BufferedIOBase
        Takes the compressed bytes.
    threads : int
        How many compress. The bytes are the same for every number.
    """
    import zlib

    def deflated(item: tuple[bytes, bytes]) -> bytes:
        before, piece = item
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=before)
        # Ends at a whole byte, so that the next piece can follow.
        return deflate.compress(piece) + deflate.flush(zlib.Z_SYNC_FLUSH)

    checksum = size = 0

    def take(item: tuple[bytes, bytes]) -> None:
        nonlocal checksum, size
        checksum = zlib.crc32(item[1], checksum)
        size += len(item[1])
        soon(deflated, item)

    raw.write(_HEADER)
    with background_calls(0 if threads == 1 else threads, raw.write) as soon:
        pieces = _Pieces(take)
        yield pieces
        pieces.cut()
    raw.write(_LAST_BLOCK + checksum.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"))


_MEMBER_PIECE = 1 << 16
_PADDING = 4
"""The padding of .xz is a multiple of so many null bytes (The .xz File Format, section 2.2)."""


class MemberReader(io.RawIOBase):
    """The content of all members of a .bz2 or .xz file, one after the other.

    The readers of the standard library end without an error at a member whose first bytes are
    damaged, and at anything else behind the first member: the rows behind it would be lost.

    Parameters
    ----------
    raw : io.BufferedReader
        The compressed bytes.
    decompressor : callable
        Makes an object that decompresses one member, as in `bz2` and `lzma`.
    padded : bool
        Whether null bytes may follow a member.
    """

    def __init__(
        self, raw: io.BufferedReader, decompressor: Callable[[], Any], *, padded: bool
    ) -> None:
        super().__init__()
        self._raw = raw
        self._new = decompressor
        self._member = decompressor()
        self._padded = padded

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes, 0 only at the end of the file.

        Raises
        ------
        EOFError
            The last member is not complete.
        OSError, lzma.LZMAError
            A member is damaged, or the file goes on with something else.
        """
        view = memoryview(buffer).cast("B")
        if not len(view):
            return 0
        pending = b""
        while True:
            if self._member.eof:
                pending = self._behind_member()
                if not pending:
                    return 0
                self._member = self._new()
            elif not pending and self._member.needs_input:
                pending = self._raw.read1(_MEMBER_PIECE)
                if not pending:
                    raise EOFError(
                        "Compressed file ended before the end-of-stream marker was reached"
                    )
            data = self._member.decompress(pending, len(view))
            pending = b""
            if data:
                view[: len(data)] = data
                return len(data)

    def _behind_member(self) -> bytes:
        """Return the bytes that begin the next member; none at the end of the file."""
        data: bytes = self._member.unused_data or self._raw.read1(_MEMBER_PIECE)
        nulls = 0
        while self._padded and data:
            rest = data.lstrip(b"\0")
            nulls += len(data) - len(rest)
            data = rest
            if data:
                break
            data = self._raw.read1(_MEMBER_PIECE)
        if nulls % _PADDING:
            raise OSError(
                f"{nulls} null bytes follow a member: the padding of .xz is a multiple of"
                f" {_PADDING}"
            )
        return data


BOM = "\ufeff"
_MARK = BOM.encode()
JSON_SPACE = b" \t\r\n"
_PIECE = 1 << 17
_HEAD = 1 << 16
_MOST_SPACE = 1 << 24
_NO_TEXT = "fastlsh.no_text"


def _lone_surrogates(error: UnicodeError) -> tuple[str, int]:
    """Turn each byte that is no text into a surrogate; "surrogateescape" refuses those of ASCII."""
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in bad), error.end


codecs.register_error(_NO_TEXT, _lone_surrogates)


_stored: WeakValueDictionary[str, io.BufferedReader] = WeakValueDictionary()
"""The file behind each compressed path that is being read: its position tells how far."""


def stored_bytes_read(source: Source) -> int | None:
    """Return how many bytes of a compressed file have been read; None: all, and it is closed."""
    raw = _stored.get(source.path)
    try:
        return None if raw is None else raw.tell()
    except (OSError, ValueError):  # a pipe; or closed
        return None


def identity(source: Source) -> Identity | None:
    """Return the identity of a file now; None for a pipe, which cannot be read again."""
    with reading(source.path):
        return filesystems.identity(source.path) if filesystems.is_regular(source.path) else None


def changed(source: Source) -> InputError:
    """Return the error of a file that is no longer what was read."""
    return source.error("changed during the run")


@contextmanager
def open_bytes(source: Source) -> Iterator[io.BufferedReader]:
    """Open a file for reading, without its compression.

    A file cut short or not compressed as its name says raises an `InputError`, here or later
    while it is read.
    """
    with reading(source.path), ExitStack() as stack:
        raw: Any = stack.enter_context(filesystems.open_raw(source.path))
        # gzip and zstd take a file of no bytes for a whole one.
        if source.compression and filesystems.is_regular(source.path) and not raw.peek(1):
            raise source.error(f"truncated: an empty file is not a .{source.compression} file")
        if source.compression:
            _stored[source.path] = raw
        if source.compression == "zst":
            raw = pyarrow(source.path).CompressedInputStream(raw, "zstd")
        elif source.compression == "gz":
            raw = codec(source.path, "gz").open(raw)
        elif source.compression == "bz2":
            decompressor = codec(source.path, "bz2").BZ2Decompressor
            raw = MemberReader(raw, decompressor, padded=False)
        elif source.compression == "xz":
            lzma = codec(source.path, "xz")
            decompressor = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
            raw = MemberReader(raw, decompressor, padded=True)
        yield stack.enter_context(io.BufferedReader(raw, 1 << 17))


def expanded(source: Source, limit: int) -> tuple[int, int]:
    """Return the stored bytes of the beginning of a compressed file, and the bytes they give.

    At most about `limit` bytes are decompressed; what was read ahead counts as stored.
    """
    with reading(source.path), filesystems.open_raw(source.path) as raw:
        head = raw.read(1 << 20)
        whole = not raw.read(1)
    begun, size = _Sips(head), 0
    with suppress(InputError), reading(source.path):  # the sample may end within a stream
        if source.compression == "zst":
            stream: Any = pyarrow(source.path).CompressedInputStream(begun, "zstd")
        else:
            stream = codec(source.path, source.compression or "").open(begun)
        while size < limit and (piece := stream.read(min(_PIECE, limit - size))):
            size += len(piece)
    return begun.tell() if size >= limit or whole else len(head), size


class _Sips(io.BytesIO):
    """Bytes that are given few at a time: its position tells how many a decompressor needed."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(None if size is None else min(size, 1 << 12))


@contextmanager
def open_arrow(source: Source) -> Iterator[Any]:
    """Open a file of a columnar format as Arrow's own file, which can seek.

    Yields
    ------
    pyarrow.NativeFile
    """
    pa = pyarrow(source.path)
    if not filesystems.is_regular(source.path):
        kind = source.format
        raise source.error(f"{kind} is not read from a pipe or device: give a regular file")
    with reading(source.path), ExitStack() as stack:
        if filesystems.is_remote(source.path):
            stream = stack.enter_context(filesystems.open_raw(source.path))
            yield stack.enter_context(pa.PythonFile(stream, "r"))
        else:
            yield stack.enter_context(pa.OSFile(os.fsencode(filesystems.real(source.path))))


_BEGINNINGS = {
    b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zst",
    b"PAR1": "parquet", b"ARROW1": "arrow",
}  # fmt: skip
"""The first bytes of files that are no text, whatever their names say."""


def advice_for(source: Source, head: bytes) -> str:
    """Return the end of a message about bytes that are no text.

    Parameters
    ----------
    source : Source
        The file.
    head : bytes
        Its first bytes, or none if they are not known.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return '; the file begins as those in UTF-16 do: give encoding="utf16"'
    for beginning, kind in _BEGINNINGS.items():
        if head.startswith(beginning):
            form = kind if kind in COLUMNAR else f"{source.format}.{kind}"
            return (
                f"; the file begins as a .{kind} does: let its name end so, or, if it is the"
                f" standard input, name {form} with format="
            )
    return '; if the file has another encoding, give it, such as encoding="cp1252"'


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


class Stream:
    """A file as UTF-8, from its beginning; bytes that are no text in UTF-8 stay as they are.

    From another encoding, bytes that are no text become lone surrogates, encoded like characters,
    so that one bad row does not hide the others.

    Parameters
    ----------
    source : Source
        The file.
    raw : io.BufferedReader
        Its bytes, from `open_bytes`.

    Attributes
    ----------
    codec : str
        The encoding found.
    mark : bool
        Whether the file began with a byte order mark, which is skipped.
    position : int
        How many bytes of UTF-8 were given, with the mark.
    error : InputError or None
        Why the file cannot be read further, once `fill` has met it.
    """

    def __init__(self, source: Source, raw: io.BufferedReader) -> None:
        self.source = source
        self.codec = exact_codec(source.options.encoding, raw.peek(4)[:4])
        self.error: InputError | None = None
        self.position = 0
        self._raw = raw
        self._ready = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        if self.codec != "utf-8":
            self._decoder = codecs.getincrementaldecoder(self.codec)(_NO_TEXT)
        # What a decompressor has given is lost if it fails in the same call.
        self._step = _PIECE if source.compression else sys.maxsize
        head = bytearray(3)
        count = self.fill(memoryview(head))
        self.mark = head.startswith(_MARK)
        if not self.mark:
            self._ready = bytes(head[:count]) + self._ready
            self.position = 0

    def fill(self, view: memoryview) -> int:
        """Fill with what comes next; return how much it was, less only at the end or an error."""
        done = 0
        try:
            with reading(self.source.path):
                while done < len(view) and (count := self._some(view[done:])):
                    done += count
        except InputError as error:
            self.error = error
        self.position += done
        return done

    def give_back(self, data: bytes) -> None:
        """Let the last bytes that were given come next once more."""
        self._ready = data + self._ready
        self.position -= len(data)

    def _some(self, view: memoryview) -> int:
        if not self._ready:
            if self.error is not None:
                return 0
            if self._decoder is None:
                return self._raw.readinto1(view[: self._step])
            self._decode()
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decode(self) -> None:
        assert self._decoder is not None
        while not self._ready:
            data = self._raw.read1(_PIECE)
            text = self._decoder.decode(data, final=not data)
            self._ready = text.encode("utf-8", "surrogatepass")
            if not data:
                return

    def is_array(self) -> bool:
        """Whether this is an array of JSON; then go behind its bracket.

        White space before the bracket does not count, up to `_MOST_SPACE`.
        """
        head = memoryview(bytearray(_HEAD))
        data, elements = bytearray(), b""
        while not elements and len(data) < _MOST_SPACE and (count := self.fill(head)):
            data += head[:count]
            elements = bytes(head[:count]).lstrip(JSON_SPACE)
        begins = elements.startswith(b"[")
        self.give_back(elements[1:] if begins else bytes(data))
        return begins

    def skip_to(self, position: int) -> bool:
        """Go forward; return whether the file reaches so far."""
        if self._decoder is None and not self.source.compression and self._raw.seekable():
            self._raw.seek(position)
            self._ready = b""
            self.position = position
        scratch = memoryview(bytearray(_PIECE))
        while self.position < position:
            if not self.fill(scratch[: position - self.position]):
                return False
        return self.position == position


@contextmanager
def open_utf8(source: Source) -> Iterator[Stream]:
    """Open a row format for reading as UTF-8."""
    with open_bytes(source) as raw, reading(source.path):
        stream = Stream(source, raw)
        yield stream


def is_array(source: Source) -> bool:
    """Whether a file is an array of JSON; what can be read only once is taken for lines."""
    if source.format != "jsonl" or not filesystems.is_regular(source.path):
        return False
    with open_utf8(source) as stream:
        return stream.is_array()
