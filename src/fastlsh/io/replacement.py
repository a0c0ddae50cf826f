"""Files that appear whole or not at all, and several of them together."""

import os
import secrets
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from fastlsh.io import places
from fastlsh.io.errors import reading
from fastlsh.io.places import Upload
from fastlsh.io.special import is_written_in_place

# From so many files on, all are forced to the disk together, where the system waits for it.
_MANY = 64 if sys.platform == "linux" else sys.maxsize


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file that becomes `path` if all goes well.

    A file that is replaced leaves its mode to the new one; where there was none, the mode is the
    usual one.

    Parameters
    ----------
    path : path
        The output; a symbolic link is followed. What `is_written_in_place` has no other name. Of
        a URL, the temporary file is on this machine and is sent when it is whole.

    Yields
    ------
    str
        A name in the same directory, for `open_output`.
    """
    with replacing_together() as together, together.file(path) as temporary:
        yield temporary


class Replacements:
    """Files that are written one after the other and appear together, or none of them.

    Made by `replacing_together`.
    """

    def __init__(self) -> None:
        self._files: list[_Local] = []
        self._uploads: list[Upload] = []
        self._absent: list[str] = []
        self._folders: list[str] = []

    @contextmanager
    def file(self, path: str | os.PathLike[str], *, folders: bool = False) -> Iterator[str]:
        """Give the name of a temporary file that becomes `path` in the end.

        Parameters
        ----------
        path : path
            As for `replacing`.
        folders : bool
            Whether directories that are missing are made.

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
        elif is_written_in_place(name):
            yield name
        else:
            target = os.path.realpath(name)
            if folders:
                with reading(name):
                    self._make_folder(os.path.dirname(target))
            file = _Local(target)
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
            os.mkdir(folder)
            self._folders.append(folder)

    def commit(self) -> None:
        """Let all files appear, one after the other."""
        if len(self._files) >= _MANY and sys.platform == "linux":
            os.sync()
        for upload in self._uploads:
            upload.commit()
        if len(self._files) + len(self._absent) > 1:
            _uninterrupted(self._rename)
        else:
            self._rename()

    def _rename(self) -> None:
        for file in self._files:
            os.replace(file.temporary, file.target)
        for path in self._absent:
            with suppress(FileNotFoundError):
                places.remove(path)

    def undo(self) -> None:
        """Remove whatever is temporary."""
        for upload in self._uploads:
            upload.discard()
        for file in self._files:
            with suppress(OSError):
                os.unlink(file.temporary)
        for folder in reversed(self._folders):
            with suppress(OSError):  # what has appeared in it stays
                os.rmdir(folder)


@contextmanager
def replacing_together() -> Iterator[Replacements]:
    """Give what makes temporary files that all become outputs if all goes well.

    An error or an interrupt before the end leaves nothing behind, directories neither. In the
    end the files of this machine are renamed one after the other, without
    being interrupted; objects behind URLs are completed just before.

    Yields
    ------
    Replacements
    """
    together = Replacements()
    try:
        yield together
        together.commit()
    except BaseException:  # an interrupt too leaves nothing behind
        together.undo()
        raise


class _Local:
    def __init__(self, target: str) -> None:
        self.target = target
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


def _uninterrupted(work: Callable[[], None]) -> None:
    """Do some work to its end, and only then raise what has interrupted it.

    What interrupts before the work has begun is raised at once.
    """
    failed: list[BaseException] = []
    ended = threading.Event()
    wake = threading.Lock()
    wake.acquire()
    deciding = threading.Lock()
    begun = given_up = False

    def run() -> None:
        nonlocal begun
        with deciding:
            if given_up:
                return
            begun = True
        try:
            work()
        except BaseException as error:
            failed.append(error)
        ended.set()
        wake.release()

    thread = threading.Thread(target=run)  # for Python interrupts the main thread only
    interrupt: list[BaseException] = []
    started = False
    while not ended.is_set():
        try:
            if not started:
                started = True
                thread.start()
            wake.acquire(timeout=0.1)
        except BaseException as error:  # noqa: PERF203
            interrupt.append(error)
            with deciding:
                given_up = not begun
            if given_up:
                break
    for raised in (*failed, *interrupt):
        raise raised
