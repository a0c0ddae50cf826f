"""Opening an index in a database, by its path or address."""

import os
from collections.abc import Mapping
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

from fastlsh.arguments import check_recall
from fastlsh.index import redis, sqlite
from fastlsh.index.backend import Backend
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.guard import Guard
from fastlsh.index.settings import Settings
from fastlsh.index.sqlite.files import is_index
from fastlsh.index.store import Store, retry_until_consistent, when_free
from fastlsh.index.stored_counts import copy_counts

_OPENING = Guard(cast("Any", SimpleNamespace(outside=True, changing=False, forked=bool)))
"""For connections that are being opened: no index has them yet, but a fork waits for them."""


def open_store(
    location: str,
    threshold: float | None,
    given: Mapping[str, Any],
    threads: int | None,
    *,
    read_only: bool,
    wait: float,
) -> Store:
    """Open an index, or create it if there is none and a threshold is given: `Index.open`.

    A search by containment has a containment instead of the threshold.
    """
    expected = {"threshold": threshold, **given}
    if (recall := expected.pop("recall", None)) is not None:
        check_recall(recall)  # by which the bands of an index were chosen when it was created
    try:
        return open_known(location, expected, threads, read_only=read_only, wait=wait)
    except FileNotFoundError as error:
        if read_only:
            raise
        least = "containment" if given.get("search") == "containment" else "threshold"
        if {**given, "threshold": threshold}.get(least) is None:
            reason = f"there is no index: give a {least} to create one"
            raise FileNotFoundError(2, reason, error.filename) from None
    wanted = {**given, "threshold": threshold}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    settings = Settings.of(threads=threads, **wanted)
    if redis.is_address(location):
        redis.create(location, settings, wait)
    else:
        try:
            sqlite.create(location, settings)
        except FileExistsError:
            if not os.path.exists(location):  # otherwise another process has just created it
                raise
    return open_known(location, expected, threads, read_only=read_only, wait=wait)


def open_known(
    location: str,
    expected: Mapping[str, Any],
    threads: int | None,
    *,
    read_only: bool,
    wait: float,
) -> Store:
    """Open an index that must exist, with the expected parameters."""
    how = {"read_only": read_only, "wait": wait}
    return when_free(lambda: _opened(location, expected, threads, **how), wait)


def _opened(location: str, expected: Mapping[str, Any], threads: int | None, **how: Any) -> Store:
    if redis.is_address(location):
        store = redis.open_existing(location, expected, threads, **how)
        if store is None:
            raise FileNotFoundError(2, "there is no index", location.rpartition("@")[2])
        return store
    if not is_index(location):
        raise FileNotFoundError(2, "there is no index", location)
    with _OPENING.hold():
        return sqlite.open_existing(location, expected, threads, **how)


def copy_to(backend: Backend, location: str) -> None:
    """Copy an index to a location where there is none; it appears there with its documents."""
    settings = backend.settings
    if redis.is_address(location):
        with closing(redis.open_new(location, settings, 10.0)) as store:
            _fill(store, backend)
        return
    with sqlite.appearing(location, settings) as made:
        _fill(made, backend)


def _fill(store: Store, backend: Backend) -> None:
    """Add all documents in one transaction."""
    copy = DatabaseBackend(store)

    def fill() -> None:
        with copy.batch():
            for names, documents in backend.blocks():
                copy.add(names, documents, "raise")
                if isinstance(backend, DatabaseBackend):
                    copy_counts(backend.store, store, names)

    when_free(lambda: retry_until_consistent(fill), store.wait)
