"""Where an index keeps its keys and buckets: in memory or in Redis.

A storage maps keys to several values, in order (`OrderedStorage`) or each once
(`UnorderedStorage`). MinHashLSH needs one ordered storage, from each key to its band keys, and for
each band an unordered one, from band keys to keys.
"""

import random
import string
from abc import ABC, abstractmethod
from collections import defaultdict
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
        yield from self.keys()

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
        """Return what is known of the storage."""
        return {"keyspace_size": len(self)}

    def empty_buffer(self) -> None:  # noqa: B027 - most have none
        """Carry out what is buffered."""

    def add_to_select_buffer(self, keys: Iterable[Hashable]) -> None:
        """Look keys up, and remember their values until they are collected."""
        self.__dict__.setdefault("_select_buffer", []).extend(self.getmany(*keys))

    def collect_select_buffer(self) -> list[Any]:
        """Return the remembered values, and forget them."""
        buffer: list[Any] = self.__dict__.pop("_select_buffer", [])
        return buffer


class OrderedStorage(Storage):
    """A storage that keeps the values of a key in order, repeated ones too."""


class UnorderedStorage(Storage):
    """A storage that keeps each value of a key once."""


class DictListStorage(OrderedStorage):
    """Lists in a dict."""

    def __init__(self, config: dict[str, Any] | None = None, name: bytes | None = None) -> None:
        self._dict: defaultdict[Any, Any] = defaultdict(list)

    def keys(self) -> Iterable[Any]:
        """Return the keys."""
        return self._dict.keys()

    def get(self, key: Hashable) -> Collection[Any]:
        """Return the values of a key; none if it is unknown."""
        values: Collection[Any] = self._dict.get(key, [])
        return values

    def insert(self, key: Hashable, *vals: Any, **kwargs: Any) -> None:
        """Add values to a key."""
        self._dict[key].extend(vals)

    def remove(self, *keys: Hashable, **kwargs: Any) -> None:
        """Remove keys with all their values; KeyError if one is unknown."""
        for key in keys:
            del self._dict[key]

    def remove_val(self, key: Hashable, val: Any, **kwargs: Any) -> None:
        """Remove one value of a key; ValueError or KeyError if it is not there."""
        self._dict[key].remove(val)

    def size(self) -> int:
        """Return the number of keys."""
        return len(self._dict)

    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of values of each key."""
        return {key: len(values) for key, values in self._dict.items()}

    def has_key(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        return key in self._dict


class DictSetStorage(UnorderedStorage, DictListStorage):
    """Sets in a dict."""

    def __init__(self, config: dict[str, Any] | None = None, name: bytes | None = None) -> None:
        self._dict = defaultdict(set)

    def get(self, key: Hashable) -> Collection[Any]:
        """Return the values of a key; none if it is unknown."""
        values: Collection[Any] = self._dict.get(key, set())
        return values

    def insert(self, key: Hashable, *vals: Any, **kwargs: Any) -> None:
        """Add values to a key."""
        self._dict[key].update(vals)


def ordered_storage(config: dict[str, Any], name: bytes | None = None) -> OrderedStorage:
    """Return an ordered storage of the type that `config` names.

    Parameters
    ----------
    config
        ``{"type": "dict"}`` or ``{"type": "redis", "redis": {...}}``; see
        `fastlsh.compat.datasketch.redis_storage`.
    name
        Prefix of its keys in Redis.

    Raises
    ------
    ValueError
        Unknown type.
    NotImplementedError
        Cassandra.
    """
    if _type_of(config) == "dict":
        return DictListStorage(config)
    from fastlsh.compat.datasketch.redis_storage import RedisListStorage

    return RedisListStorage(config, name=name)


def unordered_storage(config: dict[str, Any], name: bytes | None = None) -> UnorderedStorage:
    """Return an unordered storage of the type that `config` names; see `ordered_storage`."""
    if _type_of(config) == "dict":
        return DictSetStorage(config)
    from fastlsh.compat.datasketch.redis_storage import RedisSetStorage

    return RedisSetStorage(config, name=name)


def _type_of(config: dict[str, Any]) -> str:
    kind: str = config["type"]
    if kind == "cassandra":
        raise NotImplementedError(
            "fastlsh keeps no index in Cassandra: use the storage type 'dict' or 'redis'"
        )
    if kind not in ("dict", "redis"):
        raise ValueError(f"Unknown storage type: {kind}; expected 'dict' or 'redis'")
    return kind


def random_name(length: int) -> bytes:
    """Return random lower-case letters: the prefix of an index that was given none."""
    return "".join(random.choices(string.ascii_lowercase, k=length)).encode()
