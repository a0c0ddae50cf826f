"""Storages for the keys and buckets of an index: in memory or in Redis.

MinHashLSH needs one ordered storage, from each key to its band keys, and for each band an unordered
one, from band keys to keys.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable
from typing import Any

from fastlsh.compat.datasketch.containers import OrderedStorage as OrderedStorage
from fastlsh.compat.datasketch.containers import Storage as Storage
from fastlsh.compat.datasketch.containers import UnorderedStorage as UnorderedStorage
from fastlsh.compat.datasketch.containers import random_name as random_name
from fastlsh.compat.datasketch.redis_storage import RedisListStorage as RedisListStorage
from fastlsh.compat.datasketch.redis_storage import RedisSetStorage as RedisSetStorage


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

    def discard(self, key: Hashable, val: Any, buffer: bool = False) -> None:
        """Remove one value of a key, and with its last value the key."""
        values = self._dict[key]
        values.remove(val)
        if not values:
            del self._dict[key]


def ordered_storage(config: dict[str, Any], name: bytes | None = None) -> OrderedStorage:
    """Return an ordered storage of the type that `config` names.

    Parameters
    ----------
    config
        ``{"type": "dict"}`` or ``{"type": "redis", "redis": {...}}``; see
        `fastlsh.compat.datasketch.redis_storage`.
    name
        Prefix of the storage's keys in Redis.

    Raises
    ------
    ValueError
        Unknown type.
    NotImplementedError
        Cassandra.
    """
    if _type_of(config) == "dict":
        return DictListStorage(config)
    return RedisListStorage(config, name=name)


def unordered_storage(config: dict[str, Any], name: bytes | None = None) -> UnorderedStorage:
    """Return an unordered storage of the type that `config` names; see `ordered_storage`."""
    if _type_of(config) == "dict":
        return DictSetStorage(config)
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
