"""The lock of an index, which knows of forks and of calls within calls."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from fastlsh._kernels import Hold


class Changeable(Protocol):
    """What a guard is for."""

    @property
    def changing(self) -> bool:
        """Whether a thread changes the memory right now, so that a copy of it would be useless."""


_guards: set["weakref.ref[Guard]"] = set()
"""Emptied by C alone: Ctrl-C cannot end that half-way."""


class Guard:
    """Lets one thread work at a time.

    Code of others can run in the middle of a call: a handler of signals, a `__del__`, or the
    `__eq__` of an id. If it calls the index, it gets the lock again (`held` says so beforehand).
    It may ask, as all is sound at any moment, but change nothing.

    Parameters
    ----------
    kernel
        What is guarded. A fork waits while it changes, for some milliseconds at most.
    """

    def __init__(self, kernel: Changeable) -> None:
        self.kernel = kernel
        self.renew()
        _guards.add(weakref.ref(self, _guards.discard))

    def renew(self) -> None:
        """Begin with a lock that nobody holds."""
        self._lock = threading.RLock()

    def hold(self) -> Hold:
        """Return what holds the lock for a block, and gives to it what `held` would have said."""
        return Hold(self._lock)

    def held(self) -> bool:
        """Whether the calling thread is in the middle of another call already."""
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]

    def change(self) -> Hold:
        """Return what holds the lock for a change; RuntimeError in the middle of another call."""
        lock = self._lock
        if lock._is_owned():  # type: ignore[attr-defined]
            raise RuntimeError(
                "an index cannot be changed in the middle of another of its calls: a __del__ "
                "method or a handler of signals can only query, remove and discard"
            )
        return Hold(lock)


class GuardedBatch:
    """Begins and ends a batch under the lock of the index, but lets other calls in.

    Parameters
    ----------
    guard
        Of the index.
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
        """Undo all changes, unless that is done."""
        if self._batch is not None:
            with self._guard.hold():
                self._batch.__exit__(type(error), error, None)


def _all() -> list[Guard]:
    return [guard for reference in list(_guards) if (guard := reference())]


def _wait_for_changes() -> None:
    while any(guard.kernel.changing for guard in _all()):
        time.sleep(0.0005)


def _unlock() -> None:
    """In the child only the thread that forked goes on; nobody would unlock for the others."""
    for guard in _all():
        guard.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_changes, after_in_child=_unlock)
