"""Seals: how a file of a work directory proves that it is complete and unchanged.

A seal is the last line of a file. It has the length of the content before it, and a checksum of
that content, of the file's name and of its run: a file of another run, or under another name, does
not fit either.
"""

import errno
import os
import re
import stat
from binascii import crc32  # zlib is not in every Python
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

_SEAL = re.compile(rb"\nfastlsh ([0-9a-f]{16}) [0-9a-f]{8}\n")
_FORMAT = "\nfastlsh {:016x} {:08x}\n"
SEAL_BYTES = len(_FORMAT.format(0, 0))
_PIECE = 1 << 22


class UnsealedError(Exception):
    """A file is missing, damaged, unreadable, or belongs to something else."""


def first_checksum(run: str, name: str) -> int:
    """Return the checksum of a file without content."""
    return crc32(f"{run}/{name}".encode())


def seal(path: Path, checksum: int) -> None:
    """Add the seal to a file without one, whose empty content has the given checksum."""
    with open(path, "r+b") as file:
        length, checksum = _checked(file, os.fstat(file.fileno()).st_size, checksum)
        file.write(seal_of(length, checksum))


def seal_of(length: int, checksum: int) -> bytes:
    """Return the seal of a content."""
    return _FORMAT.format(length, checksum).encode()


def content_length(path: Path, checksum: int) -> int:
    """Return the length of a file's content, all of which is read.

    Raises
    ------
    UnsealedError
        The seal is missing, or does not fit.
    """
    with opened(path) as file:
        length = os.fstat(file.fileno()).st_size - SEAL_BYTES
        found = _checked(file, max(length, 0), checksum)
        if file.read() == seal_of(*found):
            return length
    raise UnsealedError("is damaged")


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file carries a seal of its length; its content is not read."""
    with suppress(UnsealedError), opened(path) as file:
        length = os.fstat(file.fileno()).st_size - SEAL_BYTES
        file.seek(max(length, 0))
        found = _SEAL.fullmatch(file.read(SEAL_BYTES))
        return found is not None and int(found[1], 16) == length
    return False


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a file to read it; UnsealedError if that is impossible, or if it is a link or a pipe."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise UnsealedError("is missing")
        with open(path, "rb") as file:
            yield file
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise UnsealedError("is missing") from error
    except OSError as error:
        if error.errno != errno.EIO:  # a damaged sector, about which the system names no file
            raise
        raise UnsealedError("cannot be read") from error


def _checked(file: BinaryIO, length: int, checksum: int) -> tuple[int, int]:
    """Read so many bytes; return how many there were, and their checksum."""
    left = length
    while left:
        data = file.read(min(left, _PIECE))
        if not data:
            break
        checksum = crc32(data, checksum)
        left -= len(data)
    return length - left, checksum
