"""A connection to SQLite, and its errors with the file's name."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import walk_tb

from fastlsh.index.store import FORKED, BusyError

APPLICATION = 0x66736C68
""" "fslh" """
VERSION = 4

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
        self.path = path
        self._durable = durable
        self.location = os.path.abspath(path)
        """The absolute path, which stays right if the working directory changes."""
        self.read_only = read_only
        self.wait = wait
        self._file: tuple[int, int] | None = None
        """The device and inode of the file, once it was open."""
        self._process = -1
        self._connection: sqlite3.Connection | None = None

    _process_number = staticmethod(os.getpid)
    """A reference of its own, because Python clears the module `os` when it exits."""

    @property
    def fresh(self) -> bool:
        """Whether the next call opens a connection."""
        return self._connection is None

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
            mode = "ro" if self.read_only else "rw"
            connection = sqlite3.connect(
                f"{Path(self.location).as_uri()}?mode={mode}", uri=True, isolation_level=None,
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
        return self._connection

    @property
    def _patience(self) -> float:
        return min(max(self.wait, SHORTLY), LONGEST)

    def check_file(self) -> None:
        """Raise OSError if the path no longer names the file that was opened."""
        try:
            status = os.stat(self.location)
        except FileNotFoundError:
            found = None
        else:
            found = status.st_dev, status.st_ino
            self._file = self._file or found
        if self._file is not None and found != self._file:
            reason = "the file of the index was deleted or replaced: open the index anew"
            raise OSError(errno.ESTALE, reason, self.path)
        if found in _left:
            raise ValueError(f"{self.path}: {FORKED}")

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
        from fastlsh.io import database_files  # a third of the time of `import fastlsh`

        self.close()
        for path in (self.location, *database_files(self.location)):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def undo(self, statements: Iterable[str]) -> None:
        """Roll back whatever has begun, if the connection is open."""
        for statement in statements:
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.execute(statement)


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
