"""Where files are: on this machine, or behind a URL.

A path with a scheme (``s3://bucket/key``) is opened by fsspec, any other one by the system. What
stands here is all that the rest of the package has to know of the difference.
"""

import io
import os
from types import ModuleType

from fastlsh.io.filesystems import local, remote
from fastlsh.io.filesystems.local import Identity as Identity
from fastlsh.io.filesystems.local import Listing as Listing
from fastlsh.io.filesystems.local import is_left_out as is_left_out
from fastlsh.io.filesystems.local import sorted_paths as sorted_paths
from fastlsh.io.filesystems.remote import Upload as Upload
from fastlsh.io.filesystems.remote import check_writable as check_writable
from fastlsh.io.filesystems.remote import is_remote as is_remote
from fastlsh.io.filesystems.spool import STANDARD as STANDARD
from fastlsh.io.filesystems.spool import CopiedInput as CopiedInput
from fastlsh.io.filesystems.spool import has_end as has_end
from fastlsh.io.filesystems.spool import is_piped as is_piped
from fastlsh.io.filesystems.spool import real as real
from fastlsh.io.filesystems.spool import spooled as spooled


def _of(path: str) -> ModuleType:
    return remote if is_remote(path) else local


def exists(path: str) -> bool:
    """Whether there is a file or folder, or a link with this name."""
    return bool(_of(path).exists(path))


def is_folder(path: str) -> bool:
    """Whether there is a folder of this name; OSError if there is nothing."""
    return bool(_of(path).is_folder(path))


def is_regular(path: str) -> bool:
    """Whether this is a file that can be read twice: no device, no pipe."""
    return is_remote(path) or (not is_piped(path) and os.path.isfile(real(path)))


def is_pattern(path: str) -> bool:
    """Whether a path may stand for several files."""
    return any(character in path for character in "*?[")


def matches(pattern: str) -> list[tuple[str, bool]]:
    """Return what a pattern stands for, in order of the bytes, and which of it are folders."""
    paths: dict[str, bool] = _of(pattern).matches(pattern)
    return [(path, paths[path]) for path in sorted_paths(paths)]


def listing(folder: str, *, recursive: bool) -> Listing:
    """Return what is in a folder; see `Listing`."""
    content: Listing = _of(folder).listing(folder, recursive)
    return content


def identity(path: str) -> Identity:
    """Return the identity of a file now; another one, or a changed one, has another identity."""
    return remote.identity(path) if is_remote(path) else local.identity(path)


def open_raw(path: str) -> io.BufferedReader:
    """Open a file for reading bytes; it can seek if what is there can."""
    opened: io.BufferedReader = _of(path).open_raw(path)
    return opened


def remove(path: str) -> None:
    """Remove a file; FileNotFoundError if there is none."""
    remote.remove(path) if is_remote(path) else os.unlink(path)


def parent(path: str) -> str:
    """Return the folder of a file."""
    if not is_remote(path):
        return os.path.dirname(path)
    folder = path.rpartition("/")[0]
    return folder if is_remote(folder) else f"{folder}/"  # what stands before it is a scheme only


def path_in(folder: str, name: str) -> str:
    """Return the path of a file in a folder; `name` has slashes."""
    if is_remote(folder):
        return f"{folder.rstrip('/')}/{name}"
    return os.path.join(folder, *name.split("/"))


def absolute(path: str) -> str:
    """Return the path from the root; links stay."""
    return remote.canonical(path) if is_remote(path) else os.path.abspath(path)


def canonical(path: str) -> str:
    """Return the one spelling of a path; links are followed."""
    return remote.canonical(path) if is_remote(path) else os.path.realpath(path)


def relative(path: str, folder: str) -> str | None:
    """Return the path from a folder, with slashes; None if it does not lie there.

    Both are `absolute`, or both `canonical`.
    """
    separator = "/" if is_remote(folder) else os.sep
    start = folder.rstrip(separator) + separator
    if not path.startswith(start):
        return None
    return path[len(start) :].replace(separator, "/").lstrip("/")
