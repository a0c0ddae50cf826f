"""Pickles: what another process needs in order to have the same index."""

from collections.abc import Callable
from typing import Any

from fastlsh.index.backend import Backend
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.in_memory import Memory
from fastlsh.index.layout import parameters_of
from fastlsh.index.memory import IndexDocuments
from fastlsh.index.settings import Settings
from fastlsh.index.storage import map_index
from fastlsh.parameters import SearchParams

Recipe = tuple[Callable[..., Backend], tuple[Any, ...]]
"""A function, and the arguments with which it makes a backend again."""


def recipe_of(backend: Backend) -> Recipe:
    """Return how to make a backend again: from its documents, or by opening its file or server.

    Nothing in it depends on how tables are linked, so that a later version can read it.
    """
    settings = backend.settings
    threads = settings.hasher.threads
    expected = {**parameters_of(settings), "shingler": settings.search.shingler}
    if isinstance(backend, DatabaseBackend):
        store = backend.store
        return _opened, (store.location, expected, threads, store.read_only, store.wait)
    assert isinstance(backend, Memory)
    if backend.file is not None:
        return _mapped, (backend.file, expected, threads)
    ((names, documents),) = backend.blocks()
    return _filled, (settings.search, threads, names, tuple(documents))


def _filled(
    search: SearchParams, threads: int, names: list[Any], documents: tuple[Any, ...]
) -> Memory:
    tables = Memory(Settings.over(search, threads))
    tables.insert(names, IndexDocuments(*documents), {})
    return tables


def _mapped(path: str, expected: dict[str, Any], threads: int) -> Memory:
    return map_index(path, expected, threads, check=False)


def _opened(
    location: str, expected: dict[str, Any], threads: int, read_only: bool, wait: float
) -> DatabaseBackend:
    """Open what must be there: an index that is gone is not created anew."""
    from fastlsh.index.opening import open_known  # most programs open none, and import faster

    return DatabaseBackend(open_known(location, expected, threads, read_only=read_only, wait=wait))
