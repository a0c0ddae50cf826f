"""Outputs that appear whole or not at all, and several of them together."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import RLock
from typing import NamedTuple

from fastlsh.io import filesystems
from fastlsh.io.errors import name_output_in_errors
from fastlsh.io.filesystems import Upload
from fastlsh.io.journal import MANY, Journal
from fastlsh.io.recovery import recover
from fastlsh.io.same_file import is_written_in_place
from fastlsh.parallel import Hold


def uninterrupted(work: Callable[[], None]) -> None:
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

    def begin() -> None:
        try:
            threading.Thread(target=run).start()  # for Python interrupts the main thread only
        except RuntimeError:  # no thread can be started
            run()

    interrupt: list[BaseException] = []
    started = False
    while not ended.is_set():
        try:
            if not started:
                started = True
                begin()
            wake.acquire(timeout=0.1)
        except BaseException as error:  # noqa: PERF203
            interrupt.append(error)
            with deciding:
                given_up = not begun
            if given_up:
                break
    for raised in (*failed, *interrupt):
        raise raised


NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What a file system says that has no hard links."""


class LocalFile:
    """An output on this machine, and the temporary file that becomes it."""

    def __init__(self, target: str, place: int) -> None:
        self.target = target
        self.place = place
        self.temporary = ""
        self._mode = _mode(target) if os.path.exists(target) else None

    def begin(self) -> None:
        """Make the temporary file, if only its owner may read it until it is complete."""
        if self._mode is not None:
            os.close(os.open(self.temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def finish(self, *, sync: bool) -> None:
        """Give the complete file its mode, and bring it to the disk."""
        if sync:
            with open(self.temporary, "rb+") as file:
                os.fsync(file.fileno())
        if self._mode is not None and _mode(self.temporary) != self._mode:
            os.chmod(self.temporary, self._mode)


def give_name(temporary: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give a complete file its name; FileExistsError if another file has it.

    On a file system without hard links, a file of that name that appears at the same moment may be
    replaced.
    """
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(path):
            reason = os.strerror(errno.EEXIST)
            raise FileExistsError(errno.EEXIST, reason, os.fspath(path)) from None
        os.rename(temporary, path)


def _mode(name: str) -> int:
    return stat.S_IMODE(os.stat(name).st_mode) & 0o777


class Decision(NamedTuple):
    """A change of an index that decides whether the files of a run appear.

    Parameters
    ----------
    location : str
        Where the index is.
    change : callable
        Makes the change, given the folder and the number of the run's first journal, which it
        notes in the same transaction.
    """

    location: str
    change: Callable[[str, str], None]


@contextmanager
def replacing(
    path: str | os.PathLike[str], together: "Replacements | None" = None
) -> Iterator[str]:
    """Give the name of a temporary file that becomes `path` if all goes well.

    A file that is replaced leaves its mode to the new one; where there was none, the mode is the
    usual one.

    Parameters
    ----------
    path : path
        The output; a symbolic link is followed. What `is_written_in_place` has no other name. Of
        a URL, the temporary file is on this machine and is sent when it is whole.
    together : Replacements, optional
        It appears with these; by default alone, at the end of the block.

    Yields
    ------
    str
        A name in the same directory, for `open_output`.

    Raises
    ------
    OSError
        With the name of the output, if it cannot be written.
    """
    with together_or_new(together) as files, files.file(path) as temporary:
        yield temporary


class Replacements:
    """Files that appear together, or none of them.

    Made by `replacing_together`. Several threads may write files at the same time.
    """

    def __init__(self, decision: Decision | None = None, *, recovers: bool = True) -> None:
        self._recovers = recovers
        self.on_complete: Callable[[str, str], None] | None = None
        """Is called with the output and the temporary file when a file is complete."""
        self._lock = RLock()  # always by Hold, as in `parallel`
        self._journal = Journal()
        self._decision = decision
        self._files: list[LocalFile] = []
        self._uploads: list[Upload] = []
        self._absent: list[str] = []
        self._must_stay = False  # some files have appeared, or an index decides about them

    @contextmanager
    def file(
        self, path: str | os.PathLike[str], *, folders: bool = False, place: int = 0
    ) -> Iterator[str]:
        """Give the name of a temporary file that becomes `path` in the end.

        Parameters
        ----------
        path : path
            As for `replacing`.
        folders : bool
            Whether directories that are missing are made.
        place : int
            It appears behind those with a lower one, and those with the same that came before.

        Yields
        ------
        str
        """
        name = os.fspath(path)
        if filesystems.is_remote(name):
            upload = Upload(name, place)
            self._uploads.append(upload)
            yield upload.temporary
            if self.on_complete is not None:
                self.on_complete(name, upload.temporary)
            upload.send()
            return
        in_place = is_written_in_place(name)
        file = None if in_place else LocalFile(os.path.realpath(name), place)
        with name_output_in_errors(name, None):
            if file is None:
                yield name
                return
            with Hold(self._lock):
                self._add(file, name if folders else None)
            file.begin()
            yield file.temporary
            file.finish(sync=len(self._files) < MANY)
            if self.on_complete is not None:
                self.on_complete(name, file.temporary)

    def _add(self, file: LocalFile, name: str | None) -> None:
        """Give a file its temporary name; with its own name, make the directory of it."""
        folder = os.path.dirname(file.target)
        if name is not None:
            self._make_folder(folder)
        self._begin(folder)
        file.temporary = self._journal.temporary(folder)
        self._files.append(file)

    def absent(self, path: str) -> None:
        """Let there be no such file in the end."""
        self._absent.append(path)

    def _begin(self, folder: str, *, made: bool = False) -> None:
        if not self._journal.has(folder):
            if self._recovers:
                recover([folder])
            self._journal.begin(folder, made=made)

    def _make_folder(self, folder: str) -> None:
        if not os.path.isdir(folder):
            self._make_folder(os.path.dirname(folder))
            try:
                os.mkdir(folder)
                self._begin(folder, made=True)
            except FileExistsError:  # another process has made it meanwhile
                if not os.path.isdir(folder):
                    raise
            except BaseException:
                with suppress(OSError):
                    os.rmdir(folder)
                raise

    def commit(self) -> None:
        """Let all files appear, one after the other."""
        if len(self._files) >= MANY:
            os.sync()
        for upload in sorted(self._uploads, key=lambda upload: upload.place):
            upload.commit()
        for path in filter(filesystems.is_remote, self._absent):
            with suppress(FileNotFoundError):
                filesystems.remove(path)
        absent = [_location(path) for path in self._absent if not filesystems.is_remote(path)]
        self._absent = [path for path in absent if os.path.lexists(path)]
        self._files.sort(key=lambda file: file.place)  # equal ones stay in order
        if not self._files and not self._absent:
            if self._decision is not None:
                self._decision.change("", "")
            return self._journal.end()
        if self._is_single:
            return self._rename()
        with name_output_in_errors(self._first(), None):
            self._decide()
        return uninterrupted(self._rename)

    @property
    def _is_single(self) -> bool:
        """Whether one rename is all, which needs no decision."""
        return len(self._files) + len(self._absent) == 1 and self._decision is None

    def _decide(self) -> None:
        for path in self._absent:
            self._begin(os.path.dirname(path))
        files = [(file.temporary, file.target) for file in self._files]
        index = None if self._decision is None else self._decision.location
        self._journal.prepare(files, self._absent, index)
        if self._decision is not None:
            self._must_stay = True
            self._decision.change(self._journal.lead, self._journal.run)
        self._journal.decide()

    def _rename(self) -> None:
        for file in self._files:
            with name_output_in_errors(file.target, file.temporary):
                os.replace(file.temporary, file.target)
            self._must_stay = True
        for path in self._absent:
            with suppress(FileNotFoundError):
                os.unlink(path)
        with name_output_in_errors(self._first(), None):
            self._journal.end()

    def _first(self) -> str:
        return self._files[0].target if self._files else self._absent[0]

    def undo(self) -> None:
        """Remove whatever is temporary, unless some files have appeared: the others still can."""
        for upload in self._uploads:
            upload.discard()
        if self._must_stay and not self._is_single:
            self._journal.leave()
            return
        with suppress(OSError):
            self._journal.revoke()
        for file in self._files:
            with suppress(OSError):
                os.unlink(file.temporary)
        self._journal.discard()


@contextmanager
def replacing_together(
    decision: Decision | None = None, *, recovers: bool = True
) -> Iterator[Replacements]:
    """Give what makes temporary files that all become outputs if all goes well.

    An error or an interrupt before the end leaves nothing behind, directories neither. In the
    end the files of this machine are renamed one after the other, without
    being interrupted; objects behind URLs are completed just before. What a kill leaves is
    completed, or removed, by `recover_outputs`, and so is what is left by an error between two
    renames.

    Parameters
    ----------
    decision : Decision, optional
        A change of an index that is made when all files are complete: they appear if, and only if,
        it is made.
    recovers : bool
        Whether what killed processes have left in the same directories is completed or removed.

    Yields
    ------
    Replacements
    """
    together = Replacements(decision, recovers=recovers)
    try:
        yield together
        together.commit()
    except BaseException:  # an interrupt too leaves nothing behind
        together.undo()
        raise


def together_or_new(
    together: Replacements | None, *, recovers: bool = True
) -> AbstractContextManager[Replacements]:
    """Return `together`, or else new ones whose files appear at the end of the block."""
    return replacing_together(recovers=recovers) if together is None else nullcontext(together)


def _location(path: str) -> str:
    """Return the path of a name in its real folder; the name may be that of a link."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)
