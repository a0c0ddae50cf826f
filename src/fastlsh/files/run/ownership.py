"""What is ours in a work directory: only that is removed, or replaced by something else.

A file is ours if it carries a seal, even if its content is damaged, or if a sealed file beside it
has its length. What is being written is ours by the number of its run, once the manifest of that
run has been verified. Names alone say nothing, and no link is followed.

A seal is the last line of a file. It has the length of the content before it, and a checksum of
that content, of the file's name and of its run: a file of another run, or under another name, does
not fit either.
"""

import errno
import json
import os
import re
import shutil
import stat
from binascii import crc32  # zlib is not in every Python
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path, PurePath
from typing import BinaryIO

from fastlsh.errors import InputError
from fastlsh.io import is_at, try_lock

StrPath = str | os.PathLike[str]

LOCK = "lock"
MANIFEST = "manifest.json"
OVER = "over.json"
"""What the manifest is called when nothing of the run is needed any more."""
FINISHED = "finished.json"
"""What stays of a run whose stages were worked on by several processes: what it was about."""
MARKS = (MANIFEST, OVER, FINISHED)
"""The files that have the number of a run, and whose seals can be checked without it."""
LENGTHS = "lengths.json"
"""In a directory, the lengths of its files without a seal, of which pieces have checksums."""
TEMPORARY = ".tmp"
NUMBER = "[0-9a-f]{16}"
"""The number of a run, or of a process."""
_BEGINNING = re.compile(rf"{MANIFEST}\.{NUMBER}(\.{NUMBER})?\{TEMPORARY}")
"""A manifest that a process is writing, or was when it was killed: then it has no seal."""
IN_USE = "another run is using this directory: wait until it has finished"
INNER = "search-in-documents"
"""The work directory of a search in documents that were made of rows."""
_TEMPORARY = re.compile(rf".*?\.({NUMBER})(\.{NUMBER})?\.tmp")


def inside(folder: Path, name: str) -> Path:
    """Return a path in a work directory; InputError if that is no file or directory of its own."""
    path = folder
    for part in PurePath(name).parts:
        path /= part
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = os.lstat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                reason = "is a link, or not a regular file: give another directory as work="
                raise InputError(path, reason)
    return path


def is_ours(path: str | os.PathLike[str], runs: Collection[str] = ()) -> bool:
    """Whether a file, or everything in a directory, was made by fastlsh; links are not followed.

    Parameters
    ----------
    path
        The file or directory.
    runs
        The numbers of the runs whose manifests were verified: what they have not finished is ours.
    """
    try:
        mode = os.lstat(path).st_mode
        begun = _TEMPORARY.fullmatch(os.path.basename(path))
        if begun is not None and begun[1] in runs:
            return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
        if stat.S_ISREG(mode):
            return is_sealed(path) or _has_known_length(path)
        names = set(os.listdir(path) if stat.S_ISDIR(mode) else [])
    except (FileNotFoundError, NotADirectoryError):  # another process may have removed it
        return False
    if os.path.basename(path) == INNER:
        runs = marks_in(Path(path)).values()
    elif names & {LOCK, *MARKS}:  # the work directory of another run
        return False
    return bool(names) and all(is_ours(os.path.join(path, name), runs) for name in names)


def _has_known_length(path: str | os.PathLike[str]) -> bool:
    """Whether a sealed file beside a file has its length."""
    folder, name = os.path.split(path)
    lengths = os.path.join(folder, LENGTHS)
    if not is_sealed(lengths):
        return False
    with suppress(UnsealedError, ValueError, AttributeError), opened(lengths) as file:
        content = file.read()[:-SEAL_BYTES]
        status = os.lstat(path)
        return stat.S_ISREG(status.st_mode) and json.loads(content).get(name) == status.st_size
    return False


def checksum_of_mark(name: str) -> int:
    """Return the checksum of one of `MARKS` without content."""
    return first_checksum("", MANIFEST if name == OVER else name)


def marks_in(folder: Path) -> dict[str, str]:
    """Return which of `MARKS` are undamaged, and the numbers of their runs."""
    marks = {}
    for name in MARKS:
        path = folder / name
        with suppress(UnsealedError, ValueError, LookupError, TypeError):
            length = content_length(path, checksum_of_mark(name))
            with opened(path) as file:
                marks[name] = str(json.loads(file.read(length))["run"])
    return marks


def holds_work(folder: StrPath) -> bool:
    """Whether a file in a directory has our seal, apart from the lock."""
    names = set(os.listdir(folder)) - {LOCK}
    return any(is_sealed(os.path.join(folder, name)) for name in names)


def check_ours(folder: Path) -> None:
    """Raise InputError if something else uses a directory: nothing in it has our seal."""
    names = {name for name in os.listdir(folder) if not _BEGINNING.fullmatch(name)}
    if LOCK in names:
        lock = os.lstat(folder / LOCK)
        if is_sealed(folder / LOCK) or (stat.S_ISREG(lock.st_mode) and not lock.st_size):
            names.remove(LOCK)
    if names and not holds_work(folder):
        raise InputError(
            folder,
            f"not a work directory of fastlsh, because it contains {min(names)!r}: "
            "give an empty or a new directory as work=",
        )


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a directory, which is made if it does not exist; if nothing is left in it, it goes.

    Raises
    ------
    InputError
        Another run has locked it, or it is not ours.
    """
    number, is_mine = _locked(folder)
    with os.fdopen(number, "r+b"):
        try:
            if is_mine:
                os.truncate(number, 0)
                os.write(number, seal_of(0, first_checksum("", LOCK)))
            yield
        finally:
            with suppress(FileNotFoundError):  # which would hide the error of the run
                if is_mine and not holds_work(folder):
                    os.unlink(folder / LOCK)
                    with suppress(OSError):  # a link, or another run has begun in it
                        os.rmdir(folder)


def _locked(folder: Path) -> tuple[int, bool]:
    """Return the lock file of a directory, open and locked, and whether it is ours to remove."""
    try:
        while True:
            os.makedirs(folder, exist_ok=True)
            with suppress(FileNotFoundError):  # a run that ends removes the directory
                check_ours(folder)
                for parent in (folder, folder / INNER):
                    for name in os.listdir(parent) if parent.is_dir() else ():
                        inside(parent, name)  # a link is refused before anything is removed
                lock = inside(folder, LOCK)
                is_mine = not lock.exists() or is_sealed(lock)
                number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
                is_free = try_lock(number)
                if is_free and is_at(number, str(lock)):  # a run that ended may have removed it
                    return number, is_mine
                os.close(number)
                if not is_free:
                    raise InputError(folder, IN_USE)
    except OSError as error:
        raise InputError(
            folder,
            f"cannot be used as a work directory: {error.strerror}: give another one as work=",
        ) from error


def remove(path: Path) -> None:
    """Remove a file or a directory, if there is one."""
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


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
        checked = _checked(file, max(length, 0), checksum)
        if file.read() == seal_of(*checked):
            return length
    raise UnsealedError("is damaged")


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file carries a seal of its length; its content is not read."""
    with suppress(UnsealedError), opened(path) as file:
        length = os.fstat(file.fileno()).st_size - SEAL_BYTES
        file.seek(max(length, 0))
        match = _SEAL.fullmatch(file.read(SEAL_BYTES))
        return match is not None and int(match[1], 16) == length
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
