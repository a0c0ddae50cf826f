"""The lock of an index. It survives forks, and recognises calls within calls."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from fastlsh._kernels import Hold


class Changeable(Protocol):
    """An object that is protected by a `Guard`."""

    @property
    def changing(self) -> bool:
        """Whether a thread is changing the tables: a fork would copy a half-changed state."""


_guards: set["weakref.ref[Guard]"] = set()
"""Guards are removed from it by C code, which Ctrl-C cannot interrupt."""


class Guard:
    """Lets one thread at a time use an index.

    The user's code can run in the middle of a call: a signal handler, a `__del__`, or the `__eq__`
    of an id. If it calls the index, it gets the lock again (`held` tells beforehand). It may query
    the index, whose tables are consistent at any moment, but not change it.

    Parameters
    ----------
    kernel
        The object to protect. A fork waits while it is being changed, at most some milliseconds.
    """

    def __init__(self, kernel: Changeable) -> None:
        self.kernel = kernel
        self.renew()
        _guards.add(weakref.ref(self, _guards.discard))

    def renew(self) -> None:
        """Create a new lock, which no thread holds."""
        self._lock = threading.RLock()

    def hold(self) -> Hold:
        """Return a context manager that holds the lock, and gives what `held` would return."""
        return Hold(self._lock)

    def held(self) -> bool:
        """Whether the calling thread is already in the middle of another call."""
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]

    def change(self) -> Hold:
        """Return a context manager that holds the lock; RuntimeError within another call."""
        lock = self._lock
        if lock._is_owned():  # type: ignore[attr-defined]
            raise RuntimeError(
                "an index cannot be changed in the middle of another of its calls: a __del__ "
                "method or a handler of signals can only query, remove and discard"
            )
        return Hold(lock)


class GuardedBatch:
    """Begins and ends a batch under the lock of the index, which is free in between.

    Parameters
    ----------
    guard
        The lock of the index.
    make
        Returns the batch of the index; it is called under the lock.
    """

    def __init__(self, guard: Guard, make: Callable[[], AbstractContextManager[None]]) -> None:
        self._guard = guard
        self._make = make
        self._batch: AbstractContextManager[None] | None = None

    def begin(self) -> None:
        """Begin the batch."""
        with self._guard.change():
            self._batch = self._make()
            self._batch.__enter__()

    def commit(self) -> None:
        """Make all changes."""
        assert self._batch is not None
        with self._guard.change():
            self._batch.__exit__(None, None, None)

    def rollback(self, error: BaseException) -> None:
        """Undo all changes, unless they are undone already."""
        if self._batch is not None:
            with self._guard.hold():
                self._batch.__exit__(type(error), error, None)


def _all() -> list[Guard]:
    return [guard for reference in list(_guards) if (guard := reference())]


def _wait_for_changes() -> None:
    while any(guard.kernel.changing for guard in _all()):
        time.sleep(0.0005)


def _unlock() -> None:
    """Renew all locks in a child process, which has no thread that could release them."""
    for guard in _all():
        guard.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_changes, after_in_child=_unlock)
