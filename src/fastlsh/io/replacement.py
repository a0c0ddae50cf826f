"""Files that appear whole or not at all, and several of them together."""

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from fastlsh.io import places
from fastlsh.io.errors import reading
from fastlsh.io.journal import Journal, recover
from fastlsh.io.places import Upload
from fastlsh.io.special import is_written_in_place
from fastlsh.io.uninterrupted import uninterrupted

# From so many files on, all are forced to the disk together, where the system waits for it.
_MANY = 64 if sys.platform == "linux" else sys.maxsize


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file that becomes `path` if all goes well.

    A file that is replaced leaves its mode to the new one; where there was none, the mode is the
    usual one. Inside `replacing_together`, it appears with the others.

    Parameters
    ----------
    path : path
        The output; a symbolic link is followed. What `is_written_in_place` has no other name. Of
        a URL, the temporary file is on this machine and is sent when it is whole.

    Yields
    ------
    str
        A name in the same directory, for `open_output`.

    Raises
    ------
    OSError
        With the name of the output, if it cannot be written.
    """
    with replacing_together() as together, together.file(path) as temporary:
        yield temporary


class Replacements:
    """Files that are written one after the other and appear together, or none of them.

    Made by `replacing_together`.
    """

    def __init__(self) -> None:
        self._journal = Journal()
        self._files: list[_Local] = []
        self._uploads: list[Upload] = []
        self._absent: list[str] = []
        self._folders: list[str] = []
        self._appeared = False

    @contextmanager
    def file(
        self, path: str | os.PathLike[str], *, folders: bool = False, last: bool = False
    ) -> Iterator[str]:
        """Give the name of a temporary file that becomes `path` in the end.

        Parameters
        ----------
        path : path
            As for `replacing`.
        folders : bool
            Whether directories that are missing are made.
        last : bool
            Whether it appears behind those of which this is not said.

        Yields
        ------
        str
        """
        name = os.fspath(path)
        if places.is_remote(name):
            upload = Upload(name)
            self._uploads.append(upload)
            yield upload.temporary
            upload.send()
            return
        in_place = is_written_in_place(name)
        file = None if in_place else _Local(os.path.realpath(name), last)
        with told(name, None if file is None else file.temporary):
            if file is None:
                yield name
                return
            if folders:
                with reading(name):
                    self._make_folder(os.path.dirname(file.target))
            if not self._journal.has_begun:
                recover([os.path.dirname(file.target)])
                self._journal.begin(os.path.dirname(file.target))
                for folder in self._folders:
                    self._journal.add(folder=folder)
            self._journal.add(temporary=file.temporary)
            self._files.append(file)
            file.begin()
            yield file.temporary
            file.finish(sync=len(self._files) < _MANY)

    def absent(self, path: str) -> None:
        """Let there be no such file in the end."""
        self._absent.append(path)

    def _make_folder(self, folder: str) -> None:
        if not os.path.isdir(folder):
            self._make_folder(os.path.dirname(folder))
            if self._journal.has_begun:
                self._journal.add(folder=folder)
            self._folders.append(folder)  # before it is there: an interrupt may come right after
            os.mkdir(folder)

    def commit(self) -> None:
        """Let all files appear, one after the other."""
        if len(self._files) >= _MANY and sys.platform == "linux":
            os.sync()
        for upload in self._uploads:
            upload.commit()
        self._files.sort(key=lambda file: file.last)  # the others stay in order
        if self._journal.has_begun and len(self._files) + len(self._absent) > 1:
            local = [os.path.realpath(path) for path in self._absent if not places.is_remote(path)]
            self._journal.whole([(file.temporary, file.target) for file in self._files], local)
        if len(self._files) + len(self._absent) > 1:
            uninterrupted(self._rename)
        else:
            self._rename()

    def _rename(self) -> None:
        for file in self._files:
            with told(file.target, file.temporary):
                os.replace(file.temporary, file.target)
            self._appeared = True
        for path in self._absent:
            with suppress(FileNotFoundError):
                places.remove(path)
        self._journal.end()

    def undo(self) -> None:
        """Remove whatever is temporary, unless some files have appeared: the others still can."""
        for upload in self._uploads:
            upload.discard()
        if self._appeared and self._journal.has_begun:
            self._journal.leave()
            return
        for file in self._files:
            with suppress(OSError):
                os.unlink(file.temporary)
        self._journal.end()
        for folder in reversed(self._folders):
            with suppress(OSError):  # what has appeared in it stays
                os.rmdir(folder)


@contextmanager
def replacing_together() -> Iterator[Replacements]:
    """Give what makes temporary files that all become outputs if all goes well.

    An error or an interrupt before the end leaves nothing behind, directories neither. In the
    end the files of this machine are renamed one after the other, without
    being interrupted; objects behind URLs are completed just before. What a kill leaves is
    completed, or removed, by `recover_outputs`, and so is what is left by an error between two
    renames. Inside another one, this is that one.

    Yields
    ------
    Replacements
    """
    outer = _OUTER.get()
    if outer is not None:
        yield outer
        return
    together = Replacements()
    token = _OUTER.set(together)
    try:
        yield together
        together.commit()
    except BaseException:  # an interrupt too leaves nothing behind
        together.undo()
        raise
    finally:
        _OUTER.reset(token)


_OUTER: ContextVar[Replacements | None] = ContextVar("fastlsh_outputs", default=None)


@contextmanager
def told(path: str, temporary: str | None) -> Iterator[None]:
    """Let an error of the system name an output, which it has only by a temporary name."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, temporary):
            raise
        raise OSError(error.errno, error.strerror or str(error), path) from error


class _Local:
    def __init__(self, target: str, last: bool) -> None:
        self.target = target
        self.last = last
        unique = f".fastlsh-{os.getpid()}-{secrets.token_hex(4)}.tmp"
        self.temporary = os.path.join(os.path.dirname(target), unique)
        self._mode = _mode(target) if os.path.exists(target) else None

    def begin(self) -> None:
        if self._mode is not None:  # until it is whole, nobody else may read what may be a secret
            os.close(os.open(self.temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def finish(self, *, sync: bool) -> None:
        if sync:
            with open(self.temporary, "rb+") as file:
                os.fsync(file.fileno())
        if self._mode is not None and _mode(self.temporary) != self._mode:
            os.chmod(self.temporary, self._mode)


def _mode(name: str) -> int:
    return stat.S_IMODE(os.stat(name).st_mode) & 0o777
