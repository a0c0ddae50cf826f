"""Opening an index that is always saved, wherever it is."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fastlsh.index import redis, sqlite
from fastlsh.index.backend import Backend
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.settings import Settings
from fastlsh.index.sqlite.files import is_index
from fastlsh.index.store import Store, retry_until_consistent


def open_store(
    location: str,
    threshold: float | None,
    given: Mapping[str, Any],
    threads: int | None,
    *,
    read_only: bool,
    wait: float,
) -> Store:
    """Open an index, or create it with the given parameters if there is none: `Index.open`."""
    expected = {"threshold": threshold, **given}
    if given.get("bands") is not None:
        expected.pop("recall", None)
    try:
        return open_known(location, expected, threads, read_only=read_only, wait=wait)
    except FileNotFoundError:
        if read_only:
            raise
    settings = _new(threshold, given, threads)
    if redis.is_address(location):
        redis.create(location, settings, wait)
    else:
        with suppress(FileExistsError):  # another process was as fast
            sqlite.create(location, settings)
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
    if redis.is_address(location):
        store = redis.open_existing(location, expected, threads, read_only=read_only, wait=wait)
        if store is None:
            raise FileNotFoundError(2, "there is no index", location.rpartition("@")[2])
        return store
    if not is_index(location):
        raise FileNotFoundError(2, "there is no index", location)
    return sqlite.open_existing(location, expected, threads, read_only=read_only, wait=wait)


def _new(threshold: float | None, given: Mapping[str, Any], threads: int | None) -> Settings:
    wanted = {name: value for name, value in given.items() if value is not None}
    return Settings.of(0.8 if threshold is None else threshold, threads=threads, **wanted)


def copy_to(backend: Backend, location: str) -> None:
    """Copy an index to a location where there is none."""
    if redis.is_address(location):
        _copy_to_server(backend, location)
        return
    sqlite.create(location, backend.settings)
    try:
        expected = {"shingler": backend.settings.search.shingler}
        store = sqlite.open_existing(location, expected, None, read_only=False, wait=0.0)
        copy = DatabaseBackend(store)
        try:
            retry_until_consistent(lambda: _fill(copy, backend))
        finally:
            copy.close()
    except BaseException:
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(location + ending)
        raise


def _copy_to_server(backend: Backend, location: str) -> None:
    if not redis.create(location, backend.settings, 10.0):
        raise FileExistsError(17, "there is an index already", location.rpartition("@")[2])
    expected = {"shingler": backend.settings.search.shingler}
    store = redis.open_existing(location, expected, None, read_only=False, wait=10.0)
    assert store is not None
    copy = DatabaseBackend(store)
    try:
        retry_until_consistent(lambda: _fill(copy, backend))
    except BaseException:
        store.forget()
        raise
    finally:
        copy.close()


def _fill(copy: DatabaseBackend, backend: Backend) -> None:
    with copy.batch():
        for names, documents in backend.blocks():
            copy.add(names, documents, "raise")
