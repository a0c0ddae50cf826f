"""Checks of the arguments of an index, and the guard of its calls."""

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import numpy as np

from fastlsh._kernels.common._common import Hold
from fastlsh.arguments import check_ids, check_parameter, check_share
from fastlsh.arrays import offsets_of, plain_values
from fastlsh.candidates import check_signatures
from fastlsh.index.backend import Backend
from fastlsh.index.documents import IndexDocuments, packed
from fastlsh.index.settings import SETS, TEXTS, Settings, UInt32s
from fastlsh.index.store import T, when_free
from fastlsh.parallel import RunOptions
from fastlsh.parameters import check_same
from fastlsh.sets import all_sets
from fastlsh.signatures import MinHasher
from fastlsh.texts import Texts, as_texts, with_key


def read_documents(
    settings: Settings, texts: Any, signatures: Any, *, one: bool = False
) -> IndexDocuments:
    """Check and prepare what a caller gave: texts or signatures, or both.

    Parameters
    ----------
    settings
        How texts are signed, which num_perm signatures must have, and whether texts are needed.
    texts, signatures
        A collection of texts, or uint32 (n, num_perm); both for exact verification without
        signing again.
    one
        The caller takes a single text, or one signature, uint32 (num_perm,).

    Raises
    ------
    TypeError, ValueError
        None is given, or what is given does not suit.
    """
    text, signature = ("text", "signature") if one else ("texts", "signatures")
    if texts is None and signatures is None:
        raise TypeError(f"give either {text} or {signature}, got neither")
    if texts is None and settings.keeps:
        raise ValueError(
            f'verify="exact" compares texts: give {text}, too, not {signature} alone, or make the '
            'index with verify="signature"'
        )
    if texts is not None and signatures is not None and not settings.keeps:
        raise TypeError(f"give either {text} or {signature}, got both")
    ready = None if signatures is None else _checked(settings.hasher, signatures, signature, one)
    if texts is None:
        assert ready is not None
        return IndexDocuments(ready)
    prepared = settings.hasher.shingler.prepared(as_texts([texts] if one else texts))
    return _from_texts(settings, prepared, ready, text)


def _checked(hasher: MinHasher, signatures: Any, name: str, one: bool) -> UInt32s:
    if one:
        if not isinstance(signatures, np.ndarray) or signatures.ndim != 1:
            raise TypeError(
                f"signature must be an array of uint32 of shape ({hasher.num_perm},), "
                f"got {_described(signatures)}"
            )
        signatures = signatures[None, :]
    signatures = check_signatures(signatures)
    if signatures.shape[1] != hasher.num_perm:
        raise ValueError(
            f"{name} must have num_perm={hasher.num_perm} values, got {signatures.shape[1]}"
        )
    return signatures  # type: ignore[no-any-return]


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


def _from_texts(
    settings: Settings, texts: Texts, ready: UInt32s | None, name: str
) -> IndexDocuments:
    hasher = settings.hasher
    if ready is not None and len(ready) != len(texts):
        raise ValueError(f"{len(ready)} signatures for {len(texts)} {name}")
    signatures = hasher.sign(texts) if ready is None else ready
    signatures = settings.rows(signatures, texts, hasher.shingler)
    if settings.keeps == TEXTS:
        return IndexDocuments(signatures, *packed(texts, hasher.shingler, hasher.threads))
    if settings.keeps == SETS:
        hashes, size = all_sets(texts, hasher.shingler, RunOptions.of(hasher.threads))
        return IndexDocuments(signatures, hashes, offsets_of(size))
    return IndexDocuments(signatures)


def check_expected(threads: int | None, expected: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters, with texts to ignore that can be read more than once.

    Raises
    ------
    TypeError, ValueError
        No index can have a parameter. Otherwise the error would be taken for damage of the index,
        or for a difference to it.
    """
    RunOptions.of(threads)
    with_key(expected.get("shingler"), expected.get("key"))
    ignore = expected.get("ignore")
    ignore = None if ignore is None else as_texts(ignore)
    for name, value in expected.items():
        if value is not None and name not in ("shingler", "key", "ignore"):
            check_parameter(value, name)
    return {**expected, "ignore": ignore}


def check_limit(limit: int | None) -> int:
    """Return the most documents to return."""
    if limit is None:
        return sys.maxsize
    if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 1:
        raise ValueError(f"limit must be an integer of at least 1, or None, got {limit!r}")
    return min(int(limit), sys.maxsize)


def check_query_threshold(threshold: float | None, settings: Settings) -> float:
    """Return the least similarity of the documents to return."""
    if threshold is None:
        return settings.threshold
    if settings.search.verify == "none":
        raise ValueError('threshold= needs similarities, and the index has verify="none"')
    threshold = check_share(threshold, "threshold")
    if threshold < settings.threshold:
        raise ValueError(
            f"threshold={threshold:g} is below that of the index, {settings.threshold:g}, which"
            f" has no bands for less similar documents: build one with a lower {settings.least}"
        )
    return threshold


def check_on_known(on_known: str) -> None:
    """Raise ValueError unless it is "raise" or "replace"."""
    if on_known not in ("raise", "replace"):
        raise ValueError(f'on_known must be "raise" or "replace", got {on_known!r}')


def names_of(ids: Any, documents: IndexDocuments) -> list[Any]:
    """Return an id for each document, in plain form."""
    if ids is None or isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a collection of ids, got {type(ids).__name__}")
    return plain_values(list(check_ids(ids, documents.n) or ()))


def check_mergeable(settings: Settings, other: Settings) -> None:
    """Raise ValueError if an index cannot take the documents of another one."""
    names = ("num_perm", "seed", "scheme", "search")
    check_same(other.search, settings.search, names, "the other index")
    if settings.keeps and not other.keeps:
        raise ValueError(
            f"the other index keeps neither texts nor sets, this one {settings.keeps}, which "
            'verify="exact" compares'
        )


PATIENCE = 10.0
"""Seconds that a fork waits for calls of other threads. An index that is still in use then cannot
be used in the child."""
AT_A_TIME = 0.25
"""Seconds that it waits for one lock, before it lets go of the others: their order may be another
one where a `__del__` method in the middle of a call uses another index."""


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
    backend
        What is protected. A fork waits while it is being changed, at most some milliseconds; if it
        is a database, while it is in use.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
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
    while any(guard.backend.changing for guard in _all()):
        time.sleep(0.0005)
    databases = [guard for guard in _all() if guard.backend.outside]
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
        guard.backend.forked(guard in _taken)
        guard.renew()
    _taken.clear()
    _forking.release()


def _all() -> list[Guard]:
    """Return all guards in the order in which they were made."""
    guards = [guard for reference in list(_guards) if (guard := reference())]
    return sorted(guards, key=lambda guard: guard.number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
