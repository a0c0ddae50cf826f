"""The lock of an index. It survives forks, and recognises calls within calls."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from typing import Protocol

from fastlsh._kernels import Hold
from fastlsh.index.store import T, when_free

PATIENCE = 10.0
"""Seconds that a fork waits for calls of other threads. An index that is still in use then cannot
be used in the child."""
AT_A_TIME = 0.25
"""Seconds that it waits for one lock, before it lets go of the others: their order may be another
one where a `__del__` method in the middle of a call uses another index."""


class Changeable(Protocol):
    """An object that is protected by a `Guard`."""

    outside: bool
    """Whether it is a database: no call may be using its connection while the process forks."""

    @property
    def changing(self) -> bool:
        """Whether a thread is changing the tables: a fork would copy a half-changed state."""

    def forked(self, at_rest: bool) -> None:
        """Forget what belongs to the parent process; `at_rest`: no call was under way."""


_guards: set["weakref.ref[Guard]"] = set()
"""Guards are removed from it by C code, which Ctrl-C cannot interrupt."""
_numbers = count()


class Guard:
    """Lets one thread at a time use an index.

    The user's code can run in the middle of a call: a signal handler, a `__del__`, or the `__eq__`
    of an id. If it calls the index, it gets the lock again (`held` tells beforehand). It may query
    the index, whose tables are consistent at any moment, but not change it.

    Parameters
    ----------
    kernel
        The object to protect. A fork waits while it is being changed, at most some milliseconds;
        if it is a database, while it is in use.
    """

    def __init__(self, kernel: Changeable) -> None:
        self.kernel = kernel
        self.number = next(_numbers)
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

    def changed(self, make: Callable[[], T], wait: float) -> T:
        """Call a function that makes a change, as soon as no other process is writing."""

        def now() -> T:
            with self.change():
                return make()

        return when_free(now, wait)


class GuardedBatch:
    """Begins and ends a batch under the lock of the index, which is free in between.

    Parameters
    ----------
    guard
        The lock of the index.
    make
        Returns the batch of the index; it is called under the lock.
    wait
        How many seconds to wait while another process writes.
    """

    def __init__(
        self, guard: Guard, make: Callable[[], AbstractContextManager[None]], wait: float
    ) -> None:
        self._guard = guard
        self._make = make
        self._wait = wait
        self._batch: AbstractContextManager[None] | None = None

    def begin(self) -> None:
        """Begin the batch, as soon as no other process is writing."""
        self._guard.changed(self._begin, self._wait)

    def _begin(self) -> None:
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


_forking = threading.RLock()
_taken: list[Guard] = []
"""The databases that are locked while a process forks."""


def _before_fork() -> None:
    """Wait for changes in memory, and lock the databases. One thread at a time forks."""
    _forking.acquire()
    while any(guard.kernel.changing for guard in _all()):
        time.sleep(0.0005)
    databases = [guard for guard in _all() if guard.kernel.outside]
    until = time.monotonic() + PATIENCE
    while len(_taken) < len(databases):
        _let_go()
        is_late = time.monotonic() > until
        for guard in databases:
            if guard._lock.acquire(timeout=AT_A_TIME):
                _taken.append(guard)
            elif not is_late:
                break
        if is_late:
            break


def _let_go() -> None:
    while _taken:
        _taken.pop()._lock.release()


def _in_parent() -> None:
    _let_go()
    _forking.release()


def _in_child() -> None:
    """Renew all locks, as no thread is left that could release them."""
    for guard in _all():
        guard.kernel.forked(guard in _taken)
        guard.renew()
    _taken.clear()
    _forking.release()


def _all() -> list[Guard]:
    """Return all guards in the order in which they were made."""
    guards = [guard for reference in list(_guards) if (guard := reference())]
    return sorted(guards, key=lambda guard: guard.number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
