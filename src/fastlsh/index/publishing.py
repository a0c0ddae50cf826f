"""Files that appear together with a change of an index, or not at all."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fastlsh.index import redis
from fastlsh.index.api import Index
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.store import Store

if TYPE_CHECKING:
    from fastlsh.io import Replacements


@contextmanager
def published(index: Index, change: Callable[[], object]) -> Iterator["Replacements"]:
    """Write outputs that appear together with a change of an index: all of them or none.

    The index notes the journal of the outputs in the same transaction. If the process ends before
    all files have appeared, `finish_outputs` does the rest, on the same machine.

    Parameters
    ----------
    index
        The index; ValueError if it is in memory.
    change
        Changes the index. It is called when all outputs that were written in the body are complete.

    Yields
    ------
    Replacements
        The object with which the outputs are written.
    """
    from fastlsh.io import Decision, replacing_together  # a third of the time of `import fastlsh`

    store = store_of(index)
    folders: list[str] = []

    def decide(folder: str, run: str) -> None:
        folders.extend([folder] if run else [])
        with index.batch():
            change()
            store.note_outputs([(folder, run)] if run else [])

    try:
        with replacing_together(Decision(shown(store.location), decide)) as together:
            yield together
    except BaseException as error:
        # An interrupt may come right after the change. A server that is gone may still make it.
        if folders and not isinstance(error, ConnectionError):
            with suppress(Exception):
                finish_outputs(index, folders)
        raise
    finish_outputs(index)


def finish_outputs(index: Index, folders: Iterable[str] = ()) -> None:
    """Complete the outputs whose journals the index has noted, if their process has ended.

    In `folders`, outputs that wait for this index are removed if the index has not noted them.
    """
    from fastlsh.io import journal_path, recover

    store = store_of(index)
    with index._guard.hold(), store.reading():
        noted = store.outputs()
    runs, name = {run for _, run in noted}, shown(store.location)
    recover(
        [*folders, *(folder for folder, _ in noted)],
        lambda index, run: run in runs if index == name else None,
    )
    # A journal may still be needed if its folder is missing, or its process is running.
    done = [
        (folder, run)
        for folder, run in noted
        if os.path.isdir(folder) and not os.path.lexists(journal_path(folder, run))
    ]
    if done:
        with index.batch():
            store.forget_outputs(done)


def location_of(index: Index) -> str:
    """Return the path of an index, or the address of its server; ValueError if it is in memory."""
    return store_of(index).location


def exists(location: str) -> bool:
    """Whether `Index.open` finds something there."""
    return redis.exists(location) if redis.is_address(location) else os.path.exists(location)


def shown(location: str) -> str:
    """Return a path, or the address of a server without its password."""
    return redis.address_of(location) if redis.is_address(location) else location


def forget(index: Index) -> None:
    """Close an index, and delete it if it has no documents."""
    if len(index) == 0:
        store_of(index).forget()
    index.close()


def store_of(index: Index) -> Store:
    """Return the database of an index; ValueError if it is in memory."""
    if not isinstance(index._backend, DatabaseBackend):
        raise ValueError("an index in memory cannot be changed together with files")
    return index._backend.store
