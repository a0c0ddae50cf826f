"""A gzip file whose pieces are compressed by several threads, as pigz does."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh.parallel import background_calls

_PIECE = 1 << 20
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
        while len(self._waiting) >= _PIECE:
            self.cut()
        return len(data)

    def cut(self) -> None:
        """Hand on a piece, if there is any."""
        piece = bytes(self._waiting[:_PIECE])
        if piece:
            del self._waiting[:_PIECE]
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
