"""The interface of a storage: a container of several values under each key.

A storage keeps the values of a key in order (`OrderedStorage`) or each once (`UnorderedStorage`).
"""

import random
import string
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any


class Storage(ABC):
    """A container of several values under each key."""

    _buffer_size = 50000

    def __getitem__(self, key: Hashable) -> Collection[Any]:
        return self.get(key)

    def __delitem__(self, key: Hashable) -> None:
        self.remove(key)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: Hashable) -> bool:
        return self.has_key(key)

    @abstractmethod
    def keys(self) -> Iterable[Any]:
        """Return the keys."""

    @abstractmethod
    def get(self, key: Hashable) -> Collection[Any]:
        """Return the values of a key; none if it is unknown."""

    def getmany(self, *keys: Hashable) -> list[Any]:
        """Return the values of each key."""
        return [self.get(key) for key in keys]

    @abstractmethod
    def insert(self, key: Hashable, *vals: Any, **kwargs: Any) -> None:
        """Add values to a key."""

    @abstractmethod
    def remove(self, *keys: Hashable, **kwargs: Any) -> None:
        """Remove keys with all their values."""

    @abstractmethod
    def remove_val(self, key: Hashable, val: Any, **kwargs: Any) -> None:
        """Remove one value of a key."""

    @abstractmethod
    def size(self) -> int:
        """Return the number of keys."""

    @abstractmethod
    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of values of each key."""

    @abstractmethod
    def has_key(self, key: Hashable) -> bool:
        """Return whether the key is there."""

    @property
    def buffer_size(self) -> int:
        """How many commands a session gathers before it sends them."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value

    def status(self) -> dict[str, Any]:
        """Return the properties of the storage."""
        return {"keyspace_size": len(self)}

    def empty_buffer(self) -> None:  # noqa: B027 - most have none
        """Carry out the buffered commands."""

    def add_to_select_buffer(self, keys: Iterable[Hashable]) -> None:
        """Look keys up, and remember their values until they are collected."""
        self.selected.extend(self.getmany(*keys))

    def collect_select_buffer(self) -> list[Any]:
        """Return the remembered values, and forget them."""
        buffer = list(self.selected)
        self.selected.clear()
        return buffer

    @property
    def selected(self) -> list[Any]:
        """Keys that were looked up and not collected; datasketch's pickles use this name."""
        buffer: list[Any] = self.__dict__.setdefault("_select_buffer", [])
        return buffer


class OrderedStorage(Storage):
    """A storage that keeps the values of a key in order, repeated ones too."""


class UnorderedStorage(Storage):
    """A storage that keeps each value of a key once."""

    def add(self, key: Hashable, val: Any, buffer: bool = False) -> None:
        """Add one value to a key."""
        self.insert(key, val, buffer=buffer)

    def discard(self, key: Hashable, val: Any, buffer: bool = False) -> None:
        """Remove one value of a key, and with its last value the key."""
        self.remove_val(key, val, buffer=buffer)


def random_name(length: int) -> bytes:
    """Return random lower-case letters: the prefix of an index that was given none."""
    return "".join(random.choices(string.ascii_lowercase, k=length)).encode()
