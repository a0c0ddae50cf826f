"""Transactions of an index in SQLite, and what is in memory of the state that they see."""

import errno
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Transaction
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.settings import Settings
from fastlsh.index.sqlite.connection import Connection, named_error
from fastlsh.index.sqlite.damage import numbers_of, signatures_of, state_of
from fastlsh.index.sqlite.levels import Levels


class Session:
    """A connection, and the state that its transaction sees.

    A transaction sees one state. What is in memory, the recent documents and the lists of pages,
    belongs to a state, too, and is read anew where another process has changed it. All rows of a
    statement are fetched at once: if Ctrl-C came between two of them, the traceback would keep the
    statement, and the statement the state that it sees.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.settings = settings
        self.location = connection.location
        self.read_only = connection.read_only
        self.wait = connection.wait
        self._connection = connection
        self._sql = connection.get()
        self._depth = 0
        self._forget()

    def _forget(self) -> None:
        """Know nothing of the database."""
        self._next = self._flushed = self._documents = 0
        search = replace(self.settings.search, verify="none")
        self._plain = replace(self.settings, search=search)
        self._recent = Memory(self._plain)
        self._linked = 0  # documents before this one are in a run or among the recent ones
        self._levels = Levels(self.settings.params.bands)

    # ---- transactions

    def reading(self) -> Transaction:
        """See one state of the database meanwhile."""
        if self._depth:
            return Transaction(_Inside(self))
        if self._sql.in_transaction and not self._connection.fresh:
            # A call in the middle of one that has just begun, or is about to end.
            return Transaction(_Beside(self))
        return Transaction(_Reading(self, "BEGIN", "COMMIT", ["ROLLBACK"]))

    def writing(self) -> Transaction:
        """Make one change; nothing remains of it if there is an error."""
        if not self._depth:
            return self.batch()
        name = f"change{self._depth}"
        undo = [f"ROLLBACK TO {name}", f"RELEASE {name}"]
        return Transaction(_Writing(self, f"SAVEPOINT {name}", f"RELEASE {name}", undo))

    def batch(self) -> Transaction:
        """Make one change of all `writing` meanwhile."""
        if self._depth:
            raise RuntimeError("a batch of this index is under way already")
        return Transaction(_Writing(self, "BEGIN IMMEDIATE", "COMMIT", ["ROLLBACK"]))

    def _check_inside(self) -> None:
        """Raise OSError if SQLite has undone the batch after an error, or it is the parent's."""
        connection = self._connection
        if connection.fresh:
            raise OSError(errno.EIO, "the batch belongs to the parent process", connection.path)
        if not self._sql.in_transaction:
            raise OSError(errno.EIO, "an error has undone the batch", connection.path)

    def _raise_named(self, error: BaseException) -> None:
        if isinstance(error, sqlite3.Error):
            raise named_error(error, self._connection.path, self.wait) from error

    def _refresh(self) -> None:
        """Know the state of the database."""
        row = self._sql.execute("SELECT * FROM state").fetchone()
        after, flushed, documents, runs, removals, page = state_of(row)
        levels = self._levels
        if flushed != self._flushed or removals != levels.removals:
            self._recent = Memory(self._plain)
            self._linked = flushed
        if runs != levels.version or removals != levels.removals:
            levels.read(self._sql, runs, removals)
        levels.page = page
        self._flushed, self._documents, self._next = flushed, documents, after
        if after > self._linked:
            rows = self._sql.execute(
                "SELECT number, signature FROM documents WHERE number >= ?", (self._linked,)
            ).fetchall()
            numbers = numbers_of(number for number, _ in rows)
            self._link(numbers, self._rows(signature for _, signature in rows))
            self._linked = after

    def _save(self) -> None:
        levels = self._levels
        self._sql.execute(
            "UPDATE state SET next = ?, flushed = ?, documents = ?, runs = ?, removals = ?, "
            "page = ?",
            (
                self._next, self._flushed, self._documents, levels.version, levels.removals,
                levels.page,
            ),
        )  # fmt: skip

    def _rows(self, signatures: Iterable[bytes]) -> NDArray[np.uint32]:
        return signatures_of(signatures, self.settings.hasher.num_perm)

    def _link(self, numbers: list[int], signatures: NDArray[np.uint32]) -> None:
        self._recent.insert(numbers, Documents(signatures), {})


class _Inside:
    """A question within a batch; what the other transactions have in common."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self) -> None:
        """Check that the batch is still there."""
        self._session._check_inside()

    def commit(self) -> None:
        """Do nothing."""

    def rollback(self, error: BaseException) -> None:
        """Name the file in the error."""
        self._session._raise_named(error)


class _Beside(_Inside):
    """A question at the very beginning or end of another transaction."""

    def begin(self) -> None:
        """Learn the state of the database."""
        self._session._refresh()


class _Reading(_Inside):
    """A transaction of SQLite, or a savepoint in one; here of one that only reads."""

    def __init__(self, session: Session, begin: str, commit: str, undo: Sequence[str]) -> None:
        super().__init__(session)
        self._outer = -1
        """How many transactions this one is in; -1: it has not begun."""
        self._begin = begin
        self._commit = commit
        self._undo = undo

    def begin(self) -> None:
        """Begin, and learn the state of the database."""
        session = self._session
        if session._connection.fresh:
            session._depth = 0
            session._forget()
        session._sql = session._connection.get()
        if session._depth:
            session._check_inside()
        self._outer = session._depth
        session._sql.execute(self._begin)
        session._depth = self._outer + 1
        session._refresh()

    def commit(self) -> None:
        """Save what is in memory of the state, and commit."""
        session = self._session
        session._check_inside()
        self._save()
        if not self._outer:  # or a call right after the end would miss the transaction
            session._depth = 0
        session._sql.execute(self._commit)
        session._depth = self._outer

    def _save(self) -> None:
        """Do nothing: this one only reads."""

    def rollback(self, error: BaseException) -> None:
        """Undo all of it, and name the file in the error; perhaps again, or half begun."""
        session = self._session
        if self._outer >= 0:
            session._depth = self._outer
            session._connection.undo(self._undo)
            session._forget()
            if self._outer and session._sql.in_transaction:
                session._refresh()  # the batch goes on, and knows what it did before
        session._raise_named(error)


class _Writing(_Reading):
    """A transaction that changes the database."""

    def _save(self) -> None:
        self._session._save()
