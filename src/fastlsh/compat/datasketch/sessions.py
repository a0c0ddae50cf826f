"""Context managers that insert or remove many keys."""

from collections.abc import Hashable
from typing import TypeVar

from fastlsh.compat.datasketch.index import Index
from fastlsh.compat.datasketch.params import Sketch

S = TypeVar("S", bound="_Session")


class _Session:
    """Gathers commands of an index, and sends them whenever there are `buffer_size`."""

    def __init__(self, lsh: Index, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __enter__(self: "S") -> "S":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Send the gathered commands."""
        self.lsh._engine.empty_buffers()


class MinHashLSHInsertionSession(_Session):
    """Inserts into an index; made by `MinHashLSH.insertion_session`."""

    def insert(self, key: Hashable, minhash: Sketch, check_duplication: bool = True) -> None:
        """Insert a key with its sketch, as `MinHashLSH.insert` does."""
        self.lsh._insert(key, minhash, check_duplication, buffer=True)


class MinHashLSHDeletionSession(_Session):
    """Removes from an index; made by `MinHashLSH.deletion_session`."""

    def remove(self, key: Hashable) -> None:
        """Remove a key, as `MinHashLSH.remove` does."""
        self.lsh._remove(key, buffer=True)
