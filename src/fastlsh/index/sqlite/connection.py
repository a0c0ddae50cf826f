"""A connection to SQLite, its transactions, and its errors with the file's name."""

import errno
import os
import shutil
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from traceback import walk_tb
from typing import BinaryIO

import numpy as np

from fastlsh.index.store import FORKED, BusyError

APPLICATION = 0x66736C68
""" "fslh" """
VERSION = 4
NUMBER_BITS, VERSION_BITS = 23, 8
"""Of the `user_version` of a file: a random number, by which its log is known, and `VERSION`."""

SYNCHRONOUS = "FULL"
"""A change is on the disk when its call returns, whatever happens to the machine."""

_inherited: list[sqlite3.Connection] = []
"""Connections that a child has of its parent, without a transaction. The library takes their locks
for locks of the child, which has none: they are closed before another connection is opened."""
_left: dict[tuple[int, int], sqlite3.Connection] = {}
"""Those with a transaction, by device and inode. To close one would undo what the parent has
written; and as the library keeps its locks, no other connection to the file can be right."""
SHORTLY = 1.0
"""Least seconds for which a query waits while another process opens or closes the file."""
LONGEST = 1e6


class Connection:
    """A connection that is opened anew after a fork, but never to another file.

    Parameters
    ----------
    path
        The file, which must exist.
    read_only
        Whether it is only read.
    wait
        Seconds to wait for another process that writes.
    durable
        Whether a change is on the disk when its call returns; not of a file that has no name yet.
    """

    def __init__(self, path: str, read_only: bool, wait: float, *, durable: bool = True) -> None:
        from fastlsh.io import database_files  # a third of the time of `import fastlsh`

        self.path = path
        self._durable = durable
        self.location = os.path.abspath(path)
        """The absolute path, which stays right if the working directory changes."""
        self._beside = database_files(self.location)
        self.read_only = read_only
        self.wait = wait
        self._version = 0
        """The `user_version` of the file, as its header has it."""
        self._file: tuple[int, int] | None = None
        """The device and inode of the file, once it was open."""
        self._log: tuple[int, int] | None = None
        """Those of its log, while it is open."""
        self._process = -1
        self._connection: sqlite3.Connection | None = None

    _process_number = staticmethod(os.getpid)
    """A reference of its own, because Python clears the module `os` when it exits."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return self._connection is not None and self._connection.in_transaction

    def __del__(self) -> None:
        """Close the connection without a ResourceWarning: an index need not be closed."""
        self.close()

    def get(self) -> sqlite3.Connection:
        """Return the connection, which is opened if it is not open."""
        if self._connection is None:
            while _inherited:
                _inherited.pop().close()
            self.check_file()
            self._check_log()
            mode = "ro" if self.read_only else "rw"
            connection = sqlite3.connect(
                f"{_uri(self.location)}?mode={mode}", uri=True, isolation_level=None,
                timeout=self._patience, check_same_thread=False,
            )  # fmt: skip
            try:
                if self._durable:
                    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
                else:
                    connection.execute("PRAGMA synchronous = OFF")
                    connection.execute("PRAGMA journal_mode = MEMORY")
                connection.execute("PRAGMA cache_size = -65536")
                connection.execute("PRAGMA temp_store = MEMORY")
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._process = os.getpid()
            self._log = _device_and_inode(self._beside[0])
        return self._connection

    @property
    def _patience(self) -> float:
        return min(max(self.wait, SHORTLY), LONGEST)

    def check_file(self) -> None:
        """Raise OSError if the paths no longer name the file and the log that were opened."""
        identity = _device_and_inode(self.location)
        self._file = self._file or identity
        is_open = self._connection is not None and self._log is not None
        if identity != self._file or (is_open and _device_and_inode(self._beside[0]) != self._log):
            reason = "the file of the index or its log was deleted or replaced: open the index anew"
            raise OSError(errno.ESTALE, reason, self.path)
        if identity in _left:
            raise ValueError(f"{self.path}: {FORKED}")

    def _check_log(self) -> None:
        """Raise ValueError if what lies beside the file belongs to another database.

        SQLite would take it for the end of this one.
        """
        log, _, journal = self._beside
        self._version, _ = header_of(self.location)
        for path, is_foreign in ((log, self._is_foreign), (journal, _is_in_use)):
            with suppress(FileNotFoundError), open(path, "rb") as file:
                if is_foreign(file):
                    raise ValueError(
                        f"{path}: another database of this name has left it, and its entries would"
                        " replace those of the index: delete it, or move it to that database"
                    )

    def _is_foreign(self, log: BinaryIO) -> bool:
        return version_in_log(log) not in (None, self._version)

    def mark(self) -> None:
        """Write the first page in a transaction, so that the log has the number of the file."""
        self.get().execute(f"PRAGMA user_version = {self._version}")

    def execute_at_once(self, statement: str) -> None:
        """Execute what must be the only change; `BusyError` if another process is writing."""
        connection = self.get()
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute(statement)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._patience)}")

    def forked(self, at_rest: bool) -> bool:
        """Let go of the connection of the parent process; return whether there can be another."""
        connection, self._connection = self._connection, None
        if connection is None:
            return True
        if at_rest and not connection.in_transaction:
            _inherited.append(connection)
            return True
        assert self._file is not None
        _left[self._file] = connection
        with suppress(ImportError):  # so that it is not closed when the child exits, either
            from ctypes import py_object, pythonapi

            pythonapi.Py_IncRef(py_object(connection))
        return False

    def close(self) -> None:
        """Close the connection, if it is open and was opened by this process."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._process == self._process_number():
            connection.close()
        else:
            _inherited.append(connection)

    def delete(self) -> None:
        """Close the connection, and delete the file and those beside it."""
        self.close()
        for path in (self.location, *self._beside):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def undo(self, statements: Iterable[str]) -> None:
        """Roll back whatever has begun, if the connection is open."""
        for statement in statements:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute(statement)


def _device_and_inode(path: str) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None


def header_of(path: str) -> tuple[int, int]:
    """Return the `user_version` and the `application_id` of a file, without its log.

    SQLite reads them: if a process closes a file that it has opened otherwise, the system drops the
    locks of its other connections. Another process would then delete the log that these write to.
    """
    with closing(sqlite3.connect(f"{_uri(path)}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")  # pages may still be in the log alone
        version, application = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("user_version", "application_id")
        )
    return version, application


def _uri(path: str) -> str:
    return Path(os.path.abspath(path)).as_uri()


def _is_in_use(journal: BinaryIO) -> bool:
    """Whether SQLite would undo what a journal has; an index, which has a log, has none."""
    return journal.read(1) not in (b"", b"\0")


_LOG = struct.Struct(">4s4xI4x8s2I")
"""The header of a log: the order of bytes, the bytes of a page, salts, checksums."""
_ORDERS = {b"\x37\x7f\x06\x82": "<u4", b"\x37\x7f\x06\x83": ">u4"}
_FRAME = struct.Struct(">I4x8s2I")
"""What is before a page in a log: its number, salts, checksums of all up to its end."""
_VERSION_AT = slice(60, 64)
"""Where the first page of a database has its `user_version`."""


def version_in_log(log: BinaryIO) -> int | None:
    """Return the `user_version` that the first page has in a log; None if it is not there.

    A page whose checksum differs is none: another process may be writing it.
    """
    try:
        order, size, salts, *sums = _LOG.unpack(log.read(_LOG.size))
        number, count = 0, 0
        while number != 1:
            number, salts_of_page, *expected = _FRAME.unpack(log.read(_FRAME.size))
            if salts_of_page != salts:
                return None
            log.seek(size, os.SEEK_CUR)
            count += 1
        log.seek(_LOG.size)
        for _ in range(count):
            frame, page = log.read(_FRAME.size), log.read(size)
            sums = _added(sums, frame[:8] + page, _ORDERS[order])
    except (struct.error, KeyError):  # it ends here, or is no log
        return None
    return int.from_bytes(page[_VERSION_AT], "big", signed=True) if sums == expected else None


def _added(sums: list[int], data: bytes, order: str) -> list[int]:
    """Return the checksums of a log after some more of its bytes."""
    first, second = sums
    words = iter(np.frombuffer(data, order).tolist())
    for word in words:
        first = (first + word + second) & 0xFFFFFFFF
        second = (second + next(words) + first) & 0xFFFFFFFF
    return [first, second]


_DAMAGED = ("not a database", "malformed", "not decode", "no such table", "no such column")

_QUERY_SPACE = 32 << 10
"""Bytes of the file that SQLite keeps beside an open index, even for queries."""


@contextmanager
def named_errors(path: str, wait: float) -> Iterator[None]:
    """Replace errors of SQLite by errors that name the file and the reason."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise named_error(error, path, wait) from error


def is_of_sqlite(error: BaseException) -> bool:
    """Whether SQLite's module has raised this, and not the caller's own code inside a batch.

    Messages and names of columns quote what the module has read, which may be no UTF-8.
    """
    if not isinstance(error, UnicodeDecodeError):
        return isinstance(error, sqlite3.Error)
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("fastlsh.index.sqlite.")


def named_error(error: BaseException, path: str, wait: float) -> Exception:
    """Return the error that replaces an error of SQLite."""
    said = "" if isinstance(error, UnicodeDecodeError) else str(error)
    if "locked" in said or "busy" in said:
        return BusyError(wait, path)
    if "full" in said:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    if "readonly" in said or "read-only" in said:
        return PermissionError(errno.EACCES, "the file or its folder is read-only", path)
    # Python 3.10 gives no message for a schema that is not text.
    if not said or any(part in said for part in _DAMAGED):
        return ValueError(f"{path}: the index is damaged: {said or 'its schema is no text'}")
    if os.path.exists(path):  # it may be relative, and the working directory another one by now
        folder = os.path.dirname(path) or os.curdir
        if "unable to open" in said and not os.access(folder, os.W_OK):
            reason = "its folder is read-only, and SQLite writes there for queries, too"
            return OSError(errno.EACCES, f"the index cannot be opened: {reason}", path)
        if "I/O" in said and shutil.disk_usage(folder).free < _QUERY_SPACE:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    if "unable to open" in said:
        return OSError(errno.EACCES, "the index cannot be opened", path)
    return OSError(errno.EIO, said, path)
