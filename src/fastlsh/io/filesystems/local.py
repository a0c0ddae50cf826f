"""Files of this machine, and the contents of a folder in an order that is the same everywhere."""

import glob
import io
import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from fastlsh.io.errors import reading
from fastlsh.io.filesystems.spool import STANDARD, open_file, real

_WITHOUT_ROWS = (
    ".*", "_SUCCESS", "*.crc", "*.lock", "*.md", "README*", "LICENSE*", "dataset_info*.json",
    "state.json", "_metadata", "_common_metadata",
)  # fmt: skip
"""Names of files that stand beside data and have no rows."""


class Listing(NamedTuple):
    """What is in a folder.

    Parameters
    ----------
    files : list of str
        Paths, in order of their bytes; of folders inside only if these are listed too.
    others : list of str
        What is neither a file nor a folder: pipes, devices.
    folders : list of str
        Those that were not entered.
    passed_over : list of str
        Files that have no rows by their names, and hidden folders.
    """

    files: list[str]
    others: list[str]
    folders: list[str]
    passed_over: list[str]


class Identity(NamedTuple):
    """Identity of a file while it is worked on, as plain integers."""

    size: int
    time: int
    """Of the last change, in nanoseconds."""
    number: int
    """The inode; of an object, a checksum of its tag."""


def is_left_out(name: str, *, folder: bool = False) -> bool:
    """Whether a file has no rows by its name, or a folder is not entered: ``_temporary``."""
    if folder:
        return name.startswith((".", "_"))
    return any(fnmatchcase(name, pattern) for pattern in _WITHOUT_ROWS)


def sorted_paths(paths: Iterable[str]) -> list[str]:
    """Sort by the bytes of the paths, with slashes: as object storage lists them."""
    return sorted(paths, key=_bytes)


def _bytes(path: str) -> bytes:
    # What is no UTF-8 (no UTF-16 on Windows) in a local name came as lone surrogates.
    errors = "surrogatepass" if os.name == "nt" else "surrogateescape"
    return path.replace(os.sep, "/").encode("utf-8", errors)


def exists(path: str) -> bool:
    """Whether there is something of this name, be it a link to nothing."""
    return path == STANDARD or os.path.lexists(path)


def is_folder(path: str) -> bool:
    """Whether this is a directory; OSError if there is nothing."""
    if path == STANDARD:
        return False
    os.stat(path)
    return os.path.isdir(path)


def identity(path: str) -> Identity:
    """Return the identity of the file."""
    status = os.stat(real(path))
    return Identity(status.st_size, status.st_mtime_ns, status.st_ino)


def matches(pattern: str) -> dict[str, bool]:
    """Return what the pattern stands for, and which are folders; ``**`` is any number of these."""
    return {path: os.path.isdir(path) for path in glob.glob(pattern, recursive=True)}


def listing(folder: str, recursive: bool) -> Listing:
    """Return what is in a directory; links are followed, but not in circles."""
    content = Listing([], [], [], [])
    _list(folder, recursive, content, ())
    return Listing(*map(sorted_paths, content))


def _list(folder: str, recursive: bool, seen: Listing, above: tuple[tuple[int, int], ...]) -> None:
    with reading(folder):
        status = os.stat(folder)
        entries = list(os.scandir(folder))
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        return
    inner: list[str] = []
    for entry in entries:
        if is_left_out(entry.name, folder=entry.is_dir()):
            seen.passed_over.append(entry.path)
        elif entry.is_dir():
            (inner if recursive else seen.folders).append(entry.path)
        elif entry.is_file() or not os.path.exists(entry.path):  # a broken link is an error
            seen.files.append(entry.path)
        else:
            seen.others.append(entry.path)
    for path in inner:
        _list(path, recursive, seen, (*above, identity))


def open_raw(path: str) -> io.BufferedReader:
    """Open a file for reading."""
    return open_file(path)
