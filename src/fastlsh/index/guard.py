"""The lock of an index, which knows of forks and of calls within calls."""

import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
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
        lock = threading.RLock()
        self.hold: Callable[[], Hold] = partial(Hold, lock)
        """Makes what holds the lock for a block, and tells it what `held` would have said."""
        self.held: Callable[[], bool] = lock._is_owned  # type: ignore[attr-defined]
        """Whether the calling thread is in the middle of another call already."""

    def change(self) -> Hold:
        """Return what holds the lock for a change; RuntimeError in the middle of another call."""
        if self.held():
            raise RuntimeError(
                "an index cannot be changed in the middle of another of its calls: a __del__ "
                "method or a handler of signals can only query, remove and discard"
            )
        return self.hold()


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
