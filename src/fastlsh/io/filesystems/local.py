"""Files of this machine."""

import glob
import io
import os

from fastlsh.io.errors import reading
from fastlsh.io.filesystems.contents import Identity, Listing, is_left_out, sorted_paths
from fastlsh.io.filesystems.spool import STANDARD, open_file, real


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
    found = os.stat(real(path))
    return Identity(found.st_size, found.st_mtime_ns, found.st_ino)


def matches(pattern: str) -> dict[str, bool]:
    """Return what the pattern stands for, and which are folders; ``**`` is any number of these."""
    return {path: os.path.isdir(path) for path in glob.glob(pattern, recursive=True)}


def listing(folder: str, recursive: bool) -> Listing:
    """Return what is in a directory; links are followed, but not in circles."""
    found = Listing([], [], [], [])
    _list(folder, recursive, found, ())
    return Listing(*map(sorted_paths, found))


def _list(folder: str, recursive: bool, found: Listing, above: tuple[tuple[int, int], ...]) -> None:
    with reading(folder):
        status = os.stat(folder)
        entries = list(os.scandir(folder))
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        return
    inner: list[str] = []
    for entry in entries:
        if is_left_out(entry.name, folder=entry.is_dir()):
            found.passed_over.append(entry.path)
        elif entry.is_dir():
            (inner if recursive else found.folders).append(entry.path)
        elif entry.is_file() or not os.path.exists(entry.path):  # a broken link is an error
            found.files.append(entry.path)
        else:
            found.others.append(entry.path)
    for path in inner:
        _list(path, recursive, found, (*above, identity))


def open_raw(path: str) -> io.BufferedReader:
    """Open a file for reading."""
    return open_file(path)
