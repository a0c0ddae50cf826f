"""Whether paths name the same file, which files a folder has, and what is no regular file."""

import os
import stat
import sys
import unicodedata
from collections.abc import Hashable
from functools import cache
from pathlib import PurePath

from fastlsh.io import filesystems
from fastlsh.io.filesystems import STANDARD


def is_special(name: str) -> bool:
    """Whether this is a device or a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)


def descriptor(name: str) -> int | None:
    """Return the number of the open file that an output like ``/dev/stdout`` or ``-`` is."""
    if name == STANDARD:
        return 1
    path = os.path.abspath(name)
    folder, _, number = path.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd") and number.isdecimal():
        return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def is_written_in_place(name: str) -> bool:
    """Whether this is a device, a pipe or an open file, which is written to and never replaced."""
    return descriptor(name) is not None or is_special(name)


_LOCAL = ("file://", "local://")


class FileIdentities:
    """Identities of files: equal for all paths of one file, whether it exists already or not.

    A file is identified by its device and inode, links followed; a file that does not exist by its
    folder and its name; a URL by its canonical spelling; a terminal or socket by the number of the
    open file, because the same one may serve as standard input and standard output.

    The identities are remembered: an object serves while no file is made or removed.
    """

    def __init__(self) -> None:
        self._real = cache(_real)  # of the many paths in a folder, the folder is followed once
        self._is_link = cache(os.path.islink)
        self._chain = cache(self._chain_of)
        self._names = cache(self._names_of)
        self._spellings: dict[Hashable, str] = {}

    def of(self, path: str, *, standard: int | None = None) -> Hashable | None:
        """Return the identity of a file; None for the null device, which paths may share.

        Parameters
        ----------
        path : str
            A path of this machine, or a URL.
        standard : int, optional
            The number of the open file that ``-`` stands for; by default, it is a name.
        """
        path = _as_local(path)
        if filesystems.is_remote(path):
            return filesystems.canonical(path)
        number = standard if path == filesystems.STANDARD else descriptor(path)
        try:
            status = os.stat(path) if number is None else os.fstat(number)
        except (OSError, ValueError):
            return self._missing(path) if number is None else ("open file", number)
        if stat.S_ISCHR(status.st_mode) or stat.S_ISSOCK(status.st_mode) or not status.st_ino:
            if _is_null(status):
                return None
            return ("open file", os.path.realpath(path) if number is None else number)
        return status.st_dev, status.st_ino

    def relative(self, path: str, folder: str) -> list[str] | None:
        """Return the names that lead from a folder to a file; None if the file lies elsewhere."""
        path, folder = _as_local(path), _as_local(folder)
        if path == filesystems.STANDARD:
            return None
        if filesystems.is_remote(path) or filesystems.is_remote(folder):
            inside = filesystems.relative(
                filesystems.canonical(path), filesystems.canonical(folder)
            )
            return None if inside is None else inside.split("/")
        head, name = os.path.split(path)
        names = self._names(head, folder)
        if names is None and self._is_link(path):  # the file that it leads to lies elsewhere
            head, name = os.path.split(os.path.realpath(path))
            names = self._names(head, folder)
        return None if names is None else [*names, name]

    def _names_of(self, head: str, folder: str) -> list[str] | None:
        """Return the names of the folders between two folders; None if `head` is not inside."""
        real = self._real(head or os.curdir)
        chain, identity = self._chain(real), self._chain(self._real(folder))[0]
        if identity not in chain:
            return None
        names = real.split(os.sep)[len(chain) - chain.index(identity) :]
        return [name for name in names if name]  # of the root

    def above(self, path: str) -> tuple[Hashable, ...]:
        """Return the identities of all folders that a file lies in."""
        path = _as_local(path)
        if path == filesystems.STANDARD:
            return ()
        if filesystems.is_remote(path):
            names = filesystems.canonical(path).split("/")
            return tuple("/".join(names[:count]) for count in range(3, len(names)))
        head = os.path.dirname(os.path.realpath(path) if self._is_link(path) else path)
        return self._chain(self._real(head or os.curdir))

    def _missing(self, path: str) -> Hashable:
        if self._is_link(path) or os.pardir in path:
            return self._chain(self._real(path))[0]
        head, name = os.path.split(path.rstrip("/" + os.sep))
        return self._child(self._real(head or os.curdir), name)

    def _child(self, folder: str, name: str) -> Hashable:
        """Return the identity of a file that does not exist, by the first spelling of its name."""
        above = self._chain(folder)[:1]
        folded = unicodedata.normalize("NFC", name).casefold()
        first = self._spellings.setdefault((above, folded), name)
        return above, first if first == name or _ignores_case(folder) else name

    def _chain_of(self, real: str) -> tuple[Hashable, ...]:
        """Return the identities of a file and of all folders above it."""
        parent, name = os.path.split(real)
        above = () if parent == real else self._chain(parent)
        try:
            status = os.stat(real)
            first: Hashable = (status.st_dev, status.st_ino)
        except (OSError, ValueError):
            first = self._child(parent, name)
        return (first, *above)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a path with NUL, which is refused where it is opened
        return os.path.abspath(path)


def _ignores_case(folder: str) -> bool:
    """Whether names that differ in case are one file in a folder, or in the first that exists."""
    import tempfile

    folders = [folder, *map(str, PurePath(folder).parents)]
    existing = next(filter(os.path.isdir, folders), None)
    try:
        with tempfile.NamedTemporaryFile(prefix=".fastlsh-case-", dir=existing) as file:
            head, name = os.path.split(file.name)
            return os.path.exists(os.path.join(head, name.upper()))
    except OSError:
        return sys.platform in ("darwin", "win32")


def _as_local(path: str) -> str:
    scheme = next((prefix for prefix in _LOCAL if path.startswith(prefix)), "")
    return path[len(scheme) :]


def _is_null(status: os.stat_result) -> bool:
    if not hasattr(status, "st_rdev"):
        return False
    null = os.stat(os.devnull)
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev
