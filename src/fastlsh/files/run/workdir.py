"""The work directory: what a run has done and written so far, safe from kills and power cuts."""

import errno
import json
import os
import secrets
import stat
from binascii import crc32
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.run.ownership import (
    FINISHED,
    LENGTHS,
    LOCK,
    MANIFEST,
    MARKS,
    OVER,
    TEMPORARY,
    UnsealedError,
    check_ours,
    checksum_of_mark,
    content_length,
    first_checksum,
    held,
    inside,
    is_ours,
    marks_in,
    opened,
    remove,
    seal,
)
from fastlsh.io import STANDARD, Replacements, absolute, exists, give_name, is_remote, open_raw
from fastlsh.parallel import Hold, batches, run_batches


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array; OSError if the disk is full.

    Into a file itself, numpy would write without the system's number of that error.
    """
    with open(path, "wb") as file:
        stream: Any = SimpleNamespace(write=file.write)
        np.save(stream, array, allow_pickle=False)


def save_blocks(path: Path, dtype: Any, blocks: Iterable[NDArray[Any]]) -> None:
    """Write an array of one dimension, whose blocks come one by one; errors as in `save_array`."""
    count = 0

    def header() -> dict[str, Any]:
        kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
        return {"descr": kind, "fortran_order": False, "shape": (count,)}

    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header())
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data)
            count += len(block)
        file.seek(0)
        np.lib.format.write_array_header_1_0(file, header())  # of the same size for each count


def begin_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> int:
    """Begin the file of an array, whose elements `write_at` writes; return where they begin."""
    kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        return file.tell()


def write_at(path: Path, place: int, array: NDArray[Any]) -> None:
    """Write elements into a file, in any thread; a mapping would take longer to synchronise."""
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(array.data)


def new_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> "np.memmap[Any, Any]":
    """Make an array in a file, mapped; OSError if the disk has no room for all of it.

    Without room, it would be a signal that ends the process, once the array is written to.
    """
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    return array


def complete(array: "np.memmap[Any, Any]") -> None:
    """Let the file of a mapped array have all of it.

    It always has, but not on Windows; and numpy would write it with Python's lock held.
    """
    if os.name == "nt":
        array.flush()


T = TypeVar("T")

_ASIDE = ".aside"
"""Behind the name of a file of somebody else, which a run needs, and the number of that run."""
_FULL = "free some space"
_REFUSED = "make it writable"
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

    What others have put here is neither removed nor replaced: `is_ours` tells. No link in here is
    followed, and nothing opened that is no file.

    Parameters
    ----------
    path
        Made if it does not exist, in a directory that does.
    shared
        Whether other processes work here at the same time. Then each writes under names of its
        own, and what is there already stays. Nothing is listed or locked: a network file system
        may list a directory late, and need not have locks.
    kept
        Whether it outlives the process, so that the run can go on.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, shared: bool = False, kept: bool = True
    ) -> None:
        self.path = Path(path)
        self._shared, self._kept = shared, kept
        self._process = f".{secrets.token_hex(8)}" if shared else ""
        self._run: str | None = None
        self._lengths: dict[str, int] = {}
        self._in_the_way: set[str] = set()

    def __truediv__(self, name: str) -> Path:
        """Return the path of what is called so; InputError if that is no file or directory."""
        return inside(self.path, name)

    @property
    def start_over(self) -> str:
        """What to do about a run that cannot go on."""
        if not self._kept:
            return "run the same command again"
        if self._shared:  # from the file on, other processes have gone on with what was in it
            return f"remove the directory {self.path} to start over"
        return "start over with restart=True"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out; raise InputError if one is at work here.

        A directory in which nothing is left goes in the end.
        """
        with self.resumable(), held(self.path):
            yield

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Say how a run goes on that the system has ended: InputError instead of OSError."""
        try:
            yield
        except OSError as error:
            if error.errno not in _REMEDIES or error.filename == STANDARD:
                raise
            goes_on = f", which goes on with the finished work in {self.path}" if self._kept else ""
            raise InputError(
                self.path if error.filename is None else error.filename,
                f"{error.strerror}: {_REMEDIES[error.errno]} and run the same command again"
                f"{goes_on}",
            ) from error

    def has(self, name: str) -> bool:
        """Whether this has been written."""
        if name.partition("/")[0] in self._in_the_way:
            return False
        is_there = (self / name).exists()
        if self._shared and not is_there:
            with suppress(OSError):  # opening a directory makes NFS ask the server what is in it
                os.close(os.open(self.path, os.O_RDONLY))
            is_there = (self / name).exists()
        return is_there

    def begin(self, manifest: dict[str, Any]) -> None:
        """Write the manifest of a new run.

        Of a shared directory, it is the same from every process that begins the run.
        """
        run = secrets.token_hex(8)
        if self._shared:
            from hashlib import sha256  # rarely needed

            run = sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]
            try:
                os.makedirs(self.path)
            except FileExistsError:
                # Another process may have begun the same run, and not yet sealed a file.
                if not any(run in name for name in os.listdir(self.path)):
                    check_ours(self.path)
        else:
            self._in_the_way = set(os.listdir(self.path)) - {LOCK}
        self._run = run
        self.write(MANIFEST, {"run": run, **manifest})
        self._run = None  # of two different runs, the first one has begun

    def finish(self, result: Mapping[str, Any]) -> None:
        """Remove everything, and leave a value that says that the run is over."""
        self.write(FINISHED, {"run": self._run_id(), **result})
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
        return checksum_of_mark(name) if name in MARKS else first_checksum(self._run_id(), name)

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
        temporary = self._temporary(name)
        try:
            yield temporary
            if unsealed:
                lengths = {file: os.path.getsize(temporary / file) for file in unsealed}
                (temporary / LENGTHS).write_text(json.dumps(lengths), encoding="utf-8")
            inside = sorted(temporary.rglob("*"))
            for path in (*inside, temporary):
                if path.is_file() and path.name not in unsealed:
                    relative = path.relative_to(temporary)
                    seal(path, self.first_checksum((Path(name) / relative).as_posix()))
                synchronise(path)
            self._forget(name)
            self._rename(temporary, name)
        except BaseException as error:
            if self._shared or name == MANIFEST:  # nobody would remove it later
                with suppress(OSError):
                    remove(temporary)
            if isinstance(error, OSError) and str(error.filename or temporary).startswith(
                os.fspath(temporary)
            ):
                error.filename, error.filename2 = os.fspath(self / name), None
            raise

    def _temporary(self, name: str) -> Path:
        """Return the path of what is not finished."""
        return self / f"{name}.{self._run_id()}{self._process}{TEMPORARY}"

    def _rename(self, temporary: Path, name: str) -> None:
        """Give something its name; in a shared directory, unless another process has done so."""
        if not self._shared:
            self.make_way(name)
            os.replace(temporary, self / name)
        else:
            try:
                # Neither replaces what is there, an empty directory excepted.
                (os.rename if temporary.is_dir() else give_name)(temporary, self / name)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
            remove(temporary)
        synchronise(temporary.parent)

    def make_way(self, name: str) -> None:
        """Give what somebody else has put here another name until the run is over."""
        path = self / name
        if path.exists() and not is_ours(path):
            os.rename(path, self / f"{name}.{self._run_id()}{_ASIDE}")
        self._in_the_way.discard(name)

    def clean(self) -> None:
        """Remove what an interrupted run has not finished."""
        names = [name for name in os.listdir(self.path) if name.endswith(TEMPORARY)]
        self.drop(*names, runs=marks_in(self.path).values())

    def give_up(self) -> None:
        """Begin a run of nothing in the place of one whose manifest is damaged or missing."""
        if (self / MANIFEST).is_file():
            os.unlink(self / MANIFEST)
        self.begin({})

    def drop(self, *names: str, runs: Collection[str] = ()) -> None:
        """Remove what is of no further use; a directory loses its name before what is in it.

        `runs`: as for `is_ours`.
        """
        for name in names:
            self._forget(name)
            with suppress(FileNotFoundError):  # another process may remove the same
                if not is_ours(self.path / name, runs):
                    continue
                path = self / name
                if path.is_dir() and not name.endswith(TEMPORARY):
                    path = self._temporary(name)
                    remove(path)
                    os.replace(self / name, path)
                remove(path)

    def empty(self, threads: int = 1) -> None:
        """Remove everything that a run has made but the lock, and what `finish` has left.

        First of all the manifest gets another name, which takes no room on a full disk: what a kill
        leaves is then thrown away, too. Without a manifest that is verified, nothing is removed.
        """
        runs = marks_in(self.path).values()
        if not runs:
            return
        self._run = self._run or min(runs)
        self._forget(MANIFEST)
        if is_ours(self.path / MANIFEST):
            self.make_way(OVER)
            with suppress(FileNotFoundError):
                os.replace(self / MANIFEST, self / OVER)
            synchronise(self.path)
        names = sorted(set(os.listdir(self.path)) - {LOCK, OVER, FINISHED})
        run_batches(
            lambda first, last: self.drop(*names[first:last], runs=runs), batches(len(names), 1),
            threads,
        )  # fmt: skip
        self.drop(OVER)
        for name in os.listdir(self.path):
            before, _, number = name.removesuffix(_ASIDE).rpartition(".")
            if number in runs and not os.path.lexists(self.path / before):
                os.rename(self.path / name, self.path / before)
        self._run = None

    def _forget(self, name: str) -> None:
        for inner in [*self._lengths]:  # a copy, for other threads may add to it
            if f"{inner}/".startswith(f"{name}/"):
                self._lengths.pop(inner, None)

    def size(self) -> int:
        """Return how many bytes it takes on the disk."""
        statuses = [path.lstat() for path in self.path.rglob("*")]
        return sum(status.st_size for status in statuses if stat.S_ISREG(status.st_mode))


def synchronise(path: Path) -> None:
    """Bring a file, or the names in a directory, to the disk."""
    if path.is_dir() and os.name == "nt":  # Windows cannot, and need not
        return
    number = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


Paths = Mapping[int, str]
"""Outputs by number: that of a plan."""


@contextmanager
def recording(
    files: Replacements, work: WorkDirectory, name: str, made: str | None, paths: Paths
) -> Iterator[None]:
    """Keep a record of the outputs that are written inside, before they appear.

    Parameters
    ----------
    files
        What they are written with.
    work, name
        Where the record is kept.
    made
        How they are converted, or what else their bytes depend on besides the manifest.
    paths
        The outputs; one that is not written has no rows.
    """
    written: dict[str, Any] = {}

    def add(path: str, temporary: str) -> None:
        written[path] = _file_record(path, temporary), _checksum(temporary)

    files.on_complete = add
    yield
    files.on_complete = None
    outputs = {number: written.get(path) for number, path in paths.items()}
    work.write(name, {"made": made, "outputs": outputs})


def outputs_there(
    work: WorkDirectory, name: str, made: str | None, paths: Paths, *, elsewhere: bool = False
) -> set[int]:
    """Return the numbers of the outputs that a record has, and that are at these paths.

    An output is recognised by its path, length, time, device and inode; if one of these differs, or
    is unknown, a checksum decides.

    Parameters
    ----------
    work, name, made, paths
        As for `recording`.
    elsewhere
        Whether another machine may have written it, where its device has another number: then
        length and time are enough.
    """
    if work.has(name):
        with suppress(InputError):
            saved = work.read(name)
            records = saved["outputs"] if saved["made"] == made else {}
            return {
                number
                for number, path in paths.items()
                if str(number) in records and _is_at(path, records[str(number)], elsewhere)
            }
    return set()


def _is_at(path: str, record: Any, elsewhere: bool) -> bool:
    if record is None or not exists(path):
        return record is None and not exists(path)
    identity, checksum = record
    with suppress(OSError):
        now = identity if is_remote(path) else _file_record(path, path)
        same = now[1:3] == identity[1:3] if elsewhere else now == identity and not is_remote(path)
        return same or _checksum(path) == checksum
    return False


def _file_record(path: str, file: str) -> list[Any]:
    status = os.stat(file)
    return [absolute(path), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino]


def _checksum(path: str) -> int:
    checksum = 0
    with open_raw(path) as file:
        while data := file.read(1 << 22):
            checksum = crc32(data, checksum)
    return checksum
