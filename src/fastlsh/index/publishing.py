"""Files and counts that appear together with a change of an index, or not at all."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.index.api import Index
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.redis import store as on_server
from fastlsh.index.redis.server import address_of, is_address
from fastlsh.index.settings import Bools
from fastlsh.index.store import Batch, Store, retry_until_consistent
from fastlsh.index.stored_counts import Arrivals, Counted, count_arrivals, counted_of

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
            store.write(Batch(noted=[(folder, run)] if run else []))

    try:
        with replacing_together(Decision(shown(store.location), decide)) as together:
            yield together
    except BaseException as error:
        # An interrupt may come right after the change. A server that is gone may still make it.
        if folders and not isinstance(error, ConnectionError):
            with suppress(Exception):
                finish_outputs(index, folders, own=True)
        raise
    finish_outputs(index)


def finish_outputs(index: Index, folders: Iterable[str] = (), *, own: bool = False) -> None:
    """Complete the outputs whose journals the index has noted, if their process has ended.

    In `folders`, outputs that wait for this index are removed if the index has not noted them.
    `own`: they are those of this process, which raises an error.
    """
    from fastlsh.io import journal_path, recover

    store = store_of(index)
    with index._guard.hold(), store.reading():
        noted = store.outputs()
    runs, name = {run for _, run in noted}, shown(store.location)
    recover(
        [*folders, *(folder for folder, _ in noted)],
        lambda index, run: run in runs if index == name else None,
        own=own,
    )
    # A journal may still be needed if its folder is missing, or its process is running.
    done = [
        (folder, run)
        for folder, run in noted
        if os.path.isdir(folder) and not os.path.lexists(journal_path(folder, run))
    ]
    if done:
        with index.batch():
            store.write(Batch(appeared=done))


def location_of(index: Index) -> str:
    """Return the path of an index, or the address of its server; ValueError if it is in memory."""
    return store_of(index).location


def exists(location: str) -> bool:
    """Whether `Index.open` finds something there."""
    return on_server.exists(location) if is_address(location) else os.path.exists(location)


def shown(location: str) -> str:
    """Return a path, or the address of a server without its password."""
    return address_of(location) if is_address(location) else location


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


def check_counted(index: Index, requested: Counted, *, is_required: bool = True) -> Counted:
    """Return what an index counts from now on, with a run that is to count `requested`.

    Parameters
    ----------
    index
        An index in a database.
    requested
        The columns that the run names.
    is_required
        Whether the columns have no other use in this run.

    Raises
    ------
    ValueError
        The index counts something else, or has documents of which these columns are not known.
    """
    store = store_of(index)

    def ask() -> tuple[Counted | None, int]:
        with index._guard.hold(), store.reading():
            return counted_of(store), store.state.documents

    saved, documents = retry_until_consistent(ask)
    if saved is None:
        if not documents or not requested:
            return requested
        if not is_required:
            return Counted()
        raise ValueError(
            f"{shown(store.location)}: it has documents that were added without source= and"
            " count=, which must be given from the first document on"
        )
    if saved != requested:
        sums = "".join(f", count={name!r}" for name in saved.columns)
        options = ("" if saved.source is None else f", source={saved.source!r}") + sums
        raise ValueError(
            f"{shown(store.location)}: the index counts other columns, or in another order:"
            f" give {options[2:]}"
        )
    return saved


def count_of_names(
    index: Index, what: Counted, names: list[Any], is_new: Bools, arrivals: Arrivals
) -> None:
    """Raise the counts of documents by their ids, within a batch of the index."""
    store = store_of(index)
    with index._guard.hold():
        numbers_by_name = store.find(names)
        numbers = np.array([numbers_by_name[name] for name in names], np.int64)
        count_arrivals(store, what, numbers, is_new, arrivals)
