"""The work directory: what a run has done so far, safe from kills and power cuts."""

import errno
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.run.arrays import save_array
from fastlsh.files.run.seals import (
    UnsealedError,
    content_length,
    first_checksum,
    is_foreign,
    opened,
    seal,
)
from fastlsh.io import STANDARD, try_lock
from fastlsh.parallel import Hold, batches, run

T = TypeVar("T")

LOCK = "lock"
MANIFEST = "manifest.json"
TEMPORARY = ".tmp"
OVER = "over.json"
"""What the manifest is called when nothing of the run is needed any more."""
FINISHED = "finished.json"
"""What stays of a run whose stages were worked on by several processes: what it was about."""
_OWN = re.compile(
    r"(lock|search-in-documents|((run|links|texts|answer|limited|found|written|column|documents)"
    r"-[0-9-]+(\.npy|\.json)?|(manifest|over|finished|broken|result|signed|linked|gathered|common"
    r"|families-so-far|document-files|grouped|data-sets)\.json|(sample|traced|parts|document-of-row"
    r"|families-so-far|answer|answer-echoes|kept|cut|totals)\.npy)"
    r"(\.[0-9a-f]{16})?(\.tmp)?)"
)
"""The names of everything that a run makes in its directory; files with other names stay."""
_FULL = "free some space"
_REFUSED = "make it writable"
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What a file system says that has no hard links."""
_REMEDIES = {
    errno.ENOSPC: _FULL, errno.EDQUOT: _FULL,
    errno.EROFS: _REFUSED, errno.EACCES: _REFUSED, errno.EPERM: _REFUSED,
}  # fmt: skip
"""What to do about errors of the system that end a run, and that somebody can mend."""
_HEADERS = RLock()
"""NumPy parses the header of an array as Python, which CPython 3.11 cannot do in two threads."""


class WorkDirectory:
    """A directory of one run; everything in it appears whole or not at all.

    A file or directory is written under another name, sealed, brought to the disk, and renamed. So
    what has its own name is complete, and the same command goes on behind it. A file is read in
    full, and compared with its seal, before it is used for the first time: a file that is damaged
    or missing is an error that names it.

    Parameters
    ----------
    path
        Made if it does not exist, in a directory that does.
    shared
        Whether other processes work here at the same time. Then each writes under names of its
        own, and what is there already stays. Nothing is listed or locked: a network file system
        may list a directory late, and need not have locks.
    """

    def __init__(self, path: str | os.PathLike[str], *, shared: bool = False) -> None:
        self.path = Path(path)
        self._shared = shared
        self._temporary = f".{secrets.token_hex(8)}{TEMPORARY}" if shared else TEMPORARY
        self._run: str | None = None
        self._lengths: dict[str, int] = {}

    def __truediv__(self, name: str) -> Path:
        """Return the path of what is called so."""
        return self.path / name

    @property
    def start_over(self) -> str:
        """What to do about a run that cannot go on."""
        if self._shared:  # from the file on, other processes have gone on with what was in it
            return f"remove the directory {self.path} to start over"
        return "start over with restart=True"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out; raise InputError if one is at work here.

        A directory in which nothing is left goes in the end.
        """
        try:
            os.makedirs(self.path, exist_ok=True)
            names = set(os.listdir(self.path))
            strangers = sorted(names - {LOCK, MANIFEST + TEMPORARY})
            marks = [self / name for name in sorted(names & {MANIFEST, OVER, FINISHED})]
            if strangers and all(map(is_foreign, marks)):
                raise self.not_ours(strangers[0])
            number = os.open(self / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(
                self.path,
                f"cannot be used as a work directory: {error.strerror}: give another one as work=",
            ) from error
        try:
            if not try_lock(number):
                raise InputError(
                    self.path, "another run is using this directory: wait until it has finished"
                )
            try:
                with self.resumable():
                    yield
            finally:
                with suppress(FileNotFoundError):  # which would hide the error of the run
                    if set(os.listdir(self.path)) == {LOCK}:
                        self.drop(LOCK)
                        os.rmdir(self.path)
        finally:
            os.close(number)

    def not_ours(self, name: str) -> InputError:
        """Return the error of a directory that something else uses, by the name of a file in it."""
        return InputError(
            self.path,
            f"not a work directory of fastlsh, because it contains {name!r}: "
            "give an empty or a new directory as work=",
        )

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Say how a run goes on that the system has ended: InputError instead of OSError."""
        try:
            yield
        except OSError as error:
            if error.errno not in _REMEDIES or error.filename == STANDARD:
                raise
            raise InputError(
                self.path if error.filename is None else error.filename,
                f"{error.strerror}: {_REMEDIES[error.errno]} and run the same command again, which"
                f" goes on with the finished work in {self.path}",
            ) from error

    def has(self, name: str) -> bool:
        """Whether this has been written."""
        there = (self / name).exists()
        if self._shared and not there:
            with suppress(OSError):  # opening a directory makes NFS ask the server what is in it
                os.close(os.open(self.path, os.O_RDONLY))
            there = (self / name).exists()
        return there

    def begin(self, manifest: dict[str, Any]) -> None:
        """Write the manifest of a new run.

        Of a shared directory, it is the same from every process that begins the run.
        """
        self._run = None
        run = secrets.token_hex(8)
        if self._shared:
            from hashlib import sha256  # rarely needed

            try:
                os.makedirs(self.path)
            except FileExistsError:
                names = os.listdir(self.path)  # once: another process may be renaming its files
                if strangers := sorted(name for name in names if not _OWN.fullmatch(name)):
                    raise self.not_ours(strangers[0]) from None
            run = sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]
        self.write(MANIFEST, {"run": run, **manifest})

    def finish(self, result: Any) -> None:
        """Remove everything, and leave a value that says that the run is over."""
        self.write(FINISHED, result)
        self.empty()

    def read(self, name: str) -> Any:
        """Return what `write` has written."""
        length = self.length(name)
        with self._parsing(name):
            return json.loads((self / name).read_bytes()[:length])

    def read_as(self, kind: Callable[..., T], name: str) -> T:
        """Return what `write` has written of a named tuple."""
        value = self.read(name)
        with self._parsing(name):
            return kind(**value)

    def write(self, name: str, value: Any) -> None:
        """Write a JSON value."""
        with self.replacing(name) as temporary:
            temporary.write_text(json.dumps(value, ensure_ascii=True), encoding="utf-8")

    def save(self, name: str, array: NDArray[Any]) -> None:
        """Write an array."""
        with self.replacing(name) as temporary:
            save_array(temporary, array)

    def load(self, name: str, *, sealed: bool = True) -> NDArray[Any]:
        """Return an array that `save` has written, mapped: it takes no memory of its own.

        `sealed`: it is compared with its seal; if not, the caller compares what it uses.
        """
        if sealed:
            self.length(name)
        else:
            with self.checking(name), opened(self / name):
                pass
        with self._parsing(name), Hold(_HEADERS):
            array: NDArray[Any] = np.load(self / name, mmap_mode="r", allow_pickle=False)
        return array

    def map(self, name: str, dtype: Any) -> NDArray[Any]:
        """Return the elements of a file that `seal` has completed, mapped."""
        length = self.length(name)
        if not length:  # which cannot be mapped
            return np.empty(0, dtype)
        with self._parsing(name):
            return np.memmap(self / name, dtype, "r", shape=length // np.dtype(dtype).itemsize)

    def length(self, name: str) -> int:
        """Return the bytes of a file's content, which is compared with its seal the first time.

        Raises
        ------
        InputError
            The file is missing, damaged, or belongs to another run.
        """
        if name not in self._lengths:
            with self.checking(name):
                self._lengths[name] = content_length(self / name, self.first_checksum(name))
        return self._lengths[name]

    def first_checksum(self, name: str) -> int:
        """Return the checksum of a file without content."""
        run = "" if name in (MANIFEST, FINISHED) else self._run_id()
        return first_checksum(run, name)

    def _run_id(self) -> str:
        if self._run is None:
            manifest = self.read(MANIFEST)
            with self._parsing(MANIFEST):
                self._run = str(manifest["run"])
        return self._run

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Name the file in the error that it is missing or damaged."""
        try:
            yield
        except UnsealedError as error:
            raise InputError(self / name, f"the file {error}: {self.start_over}") from error

    @contextmanager
    def _parsing(self, name: str) -> Iterator[None]:
        """Raise InputError for whatever a damaged file leads to: numpy even tokenises headers."""
        try:
            yield
        except OSError:
            raise
        except Exception as error:
            raise InputError(self / name, f"the file is damaged: {self.start_over}") from error

    @contextmanager
    def replacing(self, name: str, *, unsealed: Collection[str] = ()) -> Iterator[Path]:
        """Give the path of a file or directory that gets its name when all of it is on the disk.

        `unsealed`: names of files in a directory that are read stretch by stretch, each with a
        checksum that is kept elsewhere.
        """
        temporary = self / (name + self._temporary)
        try:
            yield temporary
            inside = sorted(temporary.rglob("*"))
            for path in (*inside, temporary):
                if path.is_file() and path.name not in unsealed:
                    relative = path.relative_to(temporary)
                    seal(path, self.first_checksum((Path(name) / relative).as_posix()))
                synchronise(path)
            self._forget(name)
            self._rename(temporary, name)
        except BaseException as error:
            if self._shared:  # under this name, nobody would remove it later
                with suppress(OSError):
                    _remove(temporary)
            if isinstance(error, OSError) and str(error.filename or temporary).startswith(
                os.fspath(temporary)
            ):
                error.filename, error.filename2 = os.fspath(self / name), None
            raise

    def _rename(self, temporary: Path, name: str) -> None:
        """Give something its name; in a shared directory, unless another process has done so."""
        if not self._shared:
            os.replace(temporary, self / name)
        else:
            try:
                # Neither replaces what is there, an empty directory excepted.
                (os.rename if temporary.is_dir() else os.link)(temporary, self / name)
            except OSError as error:
                if error.errno in _NO_LINKS:
                    if not self.has(name):
                        os.replace(temporary, self / name)
                elif error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
            _remove(temporary)
        synchronise(temporary.parent)

    def clean(self) -> None:
        """Remove what an interrupted run has not finished."""
        for name in self._own():
            inside = list((self / name).glob("*" + TEMPORARY))
            for path in [self / name] if name.endswith(TEMPORARY) else inside:
                _remove(path)

    def _own(self) -> list[str]:
        """Return the names of what a run has made here."""
        return [name for name in os.listdir(self.path) if _OWN.fullmatch(name)]

    def drop(self, *names: str) -> None:
        """Remove what is of no further use; a directory loses its name before what is in it."""
        for name in names:
            self._forget(name)
            path = self / name
            with suppress(FileNotFoundError):  # another process may remove the same
                if path.is_dir() and not name.endswith(TEMPORARY):
                    path = self / (name + self._temporary)
                    _remove(path)
                    os.replace(self / name, path)
                _remove(path)

    def empty(self, threads: int = 1) -> None:
        """Remove everything that a run has made but the lock, and what `finish` has left.

        First of all the manifest gets another name, which takes no room on a full disk: what a kill
        leaves is then thrown away, too.
        """
        self._run = None
        self._forget(MANIFEST)
        if self.has(MANIFEST):
            with suppress(FileNotFoundError):
                os.replace(self / MANIFEST, self / OVER)
            synchronise(self.path)
        names = sorted(set(self._own()) - {LOCK, OVER, FINISHED})
        run(lambda first, last: self.drop(*names[first:last]), batches(len(names), 1), threads)
        self.drop(OVER)

    def _forget(self, name: str) -> None:
        for inner in [*self._lengths]:  # a copy, for other threads may add to it
            if f"{inner}/".startswith(f"{name}/"):
                self._lengths.pop(inner, None)

    def size(self) -> int:
        """Return how many bytes it takes on the disk."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


def synchronise(path: Path) -> None:
    """Bring a file, or the names in a directory, to the disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot, and need not
        return
    number = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
