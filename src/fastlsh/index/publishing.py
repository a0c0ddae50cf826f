"""Files that appear together with a change of an index, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fastlsh.index import redis
from fastlsh.index.online import Index
from fastlsh.index.store import Store
from fastlsh.index.stored import Stored


@contextmanager
def published(index: Index, moves: list[tuple[str, str]]) -> Iterator[None]:
    """Change an index in a file, then rename files: all of it or nothing.

    The index notes the names in the same transaction. If the process ends before all are renamed,
    `finish_moves` does the rest, on the same machine.

    Parameters
    ----------
    index
        Changed in the body; ValueError if it is in memory.
    moves
        (written, target): files that are written in full when the body ends, each in a folder of
        its own that goes, too.
    """
    store = _store_of(index)
    with index.batch():
        yield
        store.note_moves([(os.path.abspath(a), os.path.abspath(b)) for a, b in moves])
    finish_moves(index)


def finish_moves(index: Index) -> list[str]:
    """Rename what a process on this machine that was ended had no time for; return the names."""
    store = _store_of(index)
    with store.reading():
        if not store.moves():
            return []
    with store.batch():
        moves = store.moves()
        for written, target in moves:
            with suppress(FileNotFoundError):  # another process was faster
                os.replace(written, target)
            with suppress(OSError):
                os.rmdir(os.path.dirname(written))
        store.forget_moves(moves)
    return [target for _, target in moves]


def exists(location: str) -> bool:
    """Whether `Index.open` finds something there."""
    return redis.exists(location) if redis.is_address(location) else os.path.exists(location)


def shown(location: str) -> str:
    """Return a path, or the address of a server without its password."""
    return redis.address_of(location) if redis.is_address(location) else location


def forget(index: Index) -> None:
    """Close an index, and delete it if it has no documents."""
    store = _store_of(index)
    empty = len(index) == 0
    index.close()
    if empty:
        store.forget()


def _store_of(index: Index) -> Store:
    if not isinstance(index._backend, Stored):
        raise ValueError("an index in memory cannot be changed together with files")
    return index._backend.store
