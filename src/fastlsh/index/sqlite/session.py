"""Transactions of an index in SQLite, and what is in memory of the state that they see."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.settings import Settings
from fastlsh.index.sqlite.connection import Connection, named_errors
from fastlsh.index.sqlite.damage import numbers_of, signatures_of, state_of
from fastlsh.index.sqlite.levels import Levels


class Session:
    """A connection, and the state that its transaction sees.

    A transaction sees one state. What is in memory, the recent documents and the lists of pages,
    belongs to a state, too, and is read anew where another process has changed it.
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
        self._plain = replace(self.settings, search=search, keeps="")
        self._recent = Memory(self._plain)
        self._linked = 0  # documents before this one are in a run or among the recent ones
        self._levels = Levels(self.settings.params.bands)

    # ---- transactions

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of the database meanwhile."""
        if self._depth:
            with self._inside():
                yield
        elif self._sql.in_transaction and not self._connection.fresh:
            # A call in the middle of one that has just begun, or is about to end.
            with named_errors(self._connection.path, self._connection.wait):
                self._refresh()
                yield
        else:
            with self._transaction("BEGIN", "COMMIT", "ROLLBACK"):
                yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make one change; nothing remains of it if there is an error."""
        if self._depth:
            with (
                self._inside(),
                self._transaction("SAVEPOINT change", "RELEASE change", "ROLLBACK TO change"),
            ):
                yield
        else:
            with self.batch():
                yield

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make one change of all `writing` meanwhile."""
        if self._depth:
            raise RuntimeError("a batch of this index is under way already")
        with self._transaction("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"):
            yield

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Be in the middle of a batch, which SQLite may have undone after an earlier error."""
        connection = self._connection
        if not self._sql.in_transaction:
            raise OSError(errno.EIO, "an error has undone the batch", connection.path)
        with named_errors(connection.path, connection.wait):
            yield

    @contextmanager
    def _transaction(self, begin: str, end: str, undo: str) -> Iterator[None]:
        connection = self._connection
        with named_errors(connection.path, connection.wait):
            if connection.fresh:
                self._depth = 0
                self._forget()
            self._sql = connection.get()
            depth = self._depth
            try:
                self._sql.execute(begin)
                self._depth = depth + 1
                self._refresh()
                yield
                with self._inside():
                    if begin != "BEGIN":
                        self._save()
                    if not depth:  # or a call right after the end would miss the transaction
                        self._depth = 0
                    self._sql.execute(end)
            except BaseException:
                self._undo(depth, undo)
                raise
            finally:
                self._depth = depth

    def _undo(self, depth: int, statement: str) -> None:
        self._connection.end(statement)
        self._forget()
        self._depth = depth
        if depth and self._sql.in_transaction:
            self._refresh()  # the batch goes on, and knows what it did before

    def settle(self, batched: bool) -> None:
        """Undo what was interrupted so late that it could not be: all but the batch, if any."""
        if self._connection.fresh or self._depth == batched == self._sql.in_transaction:
            return
        with named_errors(self._connection.path, self._connection.wait):
            if not batched:
                self._undo(0, "ROLLBACK")
            elif self._depth > 1:
                self._undo(1, "ROLLBACK TO change")

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
