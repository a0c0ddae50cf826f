"""Compressed files of several members, read as strictly as a file of one."""

import io
from collections.abc import Callable
from typing import Any

_PIECE = 1 << 16
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
                pending = self._raw.read1(_PIECE)
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
        data: bytes = self._member.unused_data or self._raw.read1(_PIECE)
        nulls = 0
        while self._padded and data:
            rest = data.lstrip(b"\0")
            nulls += len(data) - len(rest)
            data = rest
            if data:
                break
            data = self._raw.read1(_PIECE)
        if nulls % _PADDING:
            raise OSError(
                f"{nulls} null bytes follow a member: the padding of .xz is a multiple of"
                f" {_PADDING}"
            )
        return data
