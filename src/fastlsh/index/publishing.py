"""Files that appear together with a change of an index, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fastlsh.index.online import Index
from fastlsh.index.sqlite import SqliteStore
from fastlsh.index.stored import Stored


@contextmanager
def published(index: Index, moves: list[tuple[str, str]]) -> Iterator[None]:
    """Change an index in a file, then rename files: all of it or nothing.

    The index notes the names in the same transaction. If the process ends before all are renamed,
    `finish_moves` does the rest.

    Parameters
    ----------
    index
        Changed in the body; ValueError if it is not in a file.
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
    """Rename what a process that was ended had no time for; return the names."""
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
        store.note_moves([])
    return [target for _, target in moves]


def _store_of(index: Index) -> SqliteStore:
    backend = index._backend
    if not isinstance(backend, Stored) or not isinstance(backend.store, SqliteStore):
        raise ValueError("only an index in a file can be changed together with other files")
    return backend.store
