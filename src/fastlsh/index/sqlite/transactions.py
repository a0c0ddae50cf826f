"""The transactions of a `SqliteStore`."""

from collections.abc import Sequence
from typing import Any

from fastlsh.index.store import Within


class Reading(Within):
    """A transaction of SQLite that only reads; base of those that write."""

    def __init__(self, store: Any, begin: str, commit: str, undo: Sequence[str]) -> None:
        super().__init__(store)
        self._outer = -1
        """How many transactions enclose this one; -1: it has not begun."""
        self._begin = begin
        self._commit = commit
        self._undo = undo

    def begin(self) -> None:
        """Begin the transaction, and read the state of the database."""
        store = self._store
        if store._depth:
            store._check_inside()
        else:
            store._connection.check_file()
        store._sql = store._connection.get()
        self._outer = store._depth
        self._execute_begin()
        store._depth = self._outer + 1
        store._refresh()

    def _execute_begin(self) -> None:
        self._store._sql.execute(self._begin)

    def commit(self) -> None:
        """Save the changed state, and commit."""
        store = self._store
        store._check_inside()
        self._save()
        if not self._outer:  # otherwise a call right after COMMIT would not see that it has ended
            store._depth = 0
        store._sql.execute(self._commit)
        store._depth = self._outer

    def _save(self) -> None:
        """Do nothing: this one only reads."""

    def rollback(self, error: BaseException) -> None:
        """Undo the transaction, perhaps one that has begun in part."""
        store = self._store
        if self._outer >= 0:
            store._depth = self._outer
            store._connection.undo(self._undo)
            store._forget()
            if self._outer and store._connection.in_transaction:
                store._refresh()  # the batch continues with its earlier changes


class Writing(Reading):
    """A transaction that changes the database."""

    def _execute_begin(self) -> None:
        if self._outer:
            super()._execute_begin()
        else:
            self._store._connection.execute_at_once(self._begin)
            self._store._connection.mark()

    def _save(self) -> None:
        if not self._outer:
            self._store._connection.check_file()
        self._store._save()
