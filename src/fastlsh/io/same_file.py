"""Whether paths name the same file, and which file lies in which folder."""

import os
import stat
import sys
from collections.abc import Hashable

from fastlsh.io import places
from fastlsh.io.special import descriptor

_FOLDS_CASE = sys.platform in ("darwin", "win32")
_LOCAL = ("file://", "local://")


class FileIdentities:
    """Identities of files: equal for all paths of one file, whether it exists already or not.

    A file is known by its device and inode, links followed; a file that does not exist by its
    folder and its name; a URL by its canonical spelling; a terminal or socket by the number of the
    open file, because the same one may serve as standard input and standard output.

    The identities are remembered: an object serves while no file is made or removed.
    """

    def __init__(self) -> None:
        self._chains: dict[str, tuple[Hashable, ...]] = {}
        self._real_folders: dict[str, str] = {}

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
        if places.is_remote(path):
            return places.canonical(path)
        number = standard if path == places.STANDARD else descriptor(path)
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
        if path == places.STANDARD:
            return None
        if places.is_remote(path) or places.is_remote(folder):
            inside = places.relative(places.canonical(path), places.canonical(folder))
            return None if inside is None else inside.split("/")
        wanted = self._chain(self._real(folder))[0]
        folder, name = os.path.split(os.path.abspath(path))
        # A link lies in one folder, and the file that it leads to in another one.
        for each in (self._real(path), os.path.join(self._real(folder), name)):
            chain = self._chain(os.path.dirname(each))
            if wanted in chain:
                return each.split(os.sep)[-1 - chain.index(wanted) :]
        return None

    def above(self, path: str) -> tuple[Hashable, ...]:
        """Return the identities of all folders that a file lies in."""
        path = _as_local(path)
        if path == places.STANDARD:
            return ()
        if places.is_remote(path):
            names = places.canonical(path).split("/")
            return tuple("/".join(names[:count]) for count in range(3, len(names)))
        return self._chain(self._real(path))[1:]

    def _missing(self, path: str) -> Hashable:
        return self._chain(self._real(path))[0]

    def _real(self, path: str) -> str:
        """Return `os.path.realpath`, in which folders are looked up once."""
        folder, name = os.path.split(os.path.abspath(path))
        try:
            if not name or os.path.islink(path):
                return os.path.realpath(path)
            if folder not in self._real_folders:
                self._real_folders[folder] = os.path.realpath(folder)
        except ValueError:  # a path with NUL, which is refused where it is opened
            return os.path.abspath(path)
        return os.path.join(self._real_folders[folder], name)

    def _chain(self, real: str) -> tuple[Hashable, ...]:
        """Return the identities of a file and of all folders above it."""
        found = self._chains.get(real)
        if found is None:
            parent, name = os.path.split(real)
            above = () if parent == real else self._chain(parent)
            try:
                status = os.stat(real)
                first: Hashable = (status.st_dev, status.st_ino)
            except (OSError, ValueError):
                first = (above[:1], name.casefold() if _FOLDS_CASE else name)
            found = self._chains[real] = (first, *above)
        return found


def _as_local(path: str) -> str:
    scheme = next((each for each in _LOCAL if path.startswith(each)), "")
    return path[len(scheme) :]


def _is_null(status: os.stat_result) -> bool:
    if not hasattr(status, "st_rdev"):
        return False
    null = os.stat(os.devnull)
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev
