"""The transactions of a `RedisStore`."""

from typing import Any

from fastlsh.index.store import BusyError, ChangedError, Within


class Reading(Within):
    """A query that sees one state of the index."""

    def begin(self) -> None:
        """Read the state of the index."""
        store = self._store
        store._state = store._look()

    def commit(self) -> None:
        """Raise ChangedError if a document was removed meanwhile."""
        store = self._store
        if store._look().changes != store._state.changes:
            raise ChangedError


class Change(Within):
    """One of the changes of a batch."""

    _before: Any = None

    def begin(self) -> None:
        """Remember the changes so far."""
        self._store._collected.begin()
        self._before = self._store._state

    def rollback(self, error: BaseException) -> None:
        """Drop the changes that were collected since then; may be called again."""
        store = self._store
        if self._before is not None:
            store._collected.undo(self._before.upcoming)
            store._state = self._before


class Batch(Within):
    """A transaction: it has the lock, collects changes, and sends them at its end."""

    def begin(self) -> None:
        """Become the only writer."""
        store = self._store
        store._state = store._state_of(store._server.lock())
        state = store._state[:2]
        store._seen = [None if store._new is not None else b"%d" % each for each in state]
        store._clear()
        store._depth = 1

    def commit(self) -> None:
        """Send the collected changes, which also releases the lock."""
        store = self._store
        store._commit()
        store._new = store._server.token = None
        store._depth = 0
        store._clear()

    def rollback(self, error: BaseException) -> None:
        """Drop the collected changes, and release the lock; may be called again."""
        store = self._store
        store._depth = 0
        store._clear()
        if not isinstance(error, BusyError):
            store._server.disconnect()  # the answer to an interrupted command may still arrive
            store._server.unlock()
