"""Storages in Redis, with the keys of datasketch: each reads what the other wrote.

A storage is a hash of its `name`, from each key to ``name + key``, where the values lie: a list,
or a set. Values and keys are bytes.
"""

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage, random_name

# KEYS: the hash of all keys, and the list of this one; for each of its bands, the hash of all
# buckets, and the set of one. ARGV: whether the key must be new; the key; the keys of its bands.
INSERT = """
if ARGV[1] == '1' and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], KEYS[2])
for i = 3, #ARGV do
    local bucket = 2 * i - 2
    redis.call('RPUSH', KEYS[2], ARGV[i])
    redis.call('HSET', KEYS[bucket - 1], ARGV[i], KEYS[bucket])
    redis.call('SADD', KEYS[bucket], ARGV[2])
end
return 1
"""

# KEYS, ARGV: as for INSERT.
REMOVE = """
for i = 3, #ARGV do
    local bucket = 2 * i - 2
    redis.call('SREM', KEYS[bucket], ARGV[2])
    if redis.call('EXISTS', KEYS[bucket]) == 0 then
        redis.call('HDEL', KEYS[bucket - 1], ARGV[i])
    end
end
redis.call('DEL', KEYS[2])
return redis.call('HDEL', KEYS[1], ARGV[2])
"""

# KEYS: the hash of all keys, and the values of one. ARGV: this key.
FORGET = """
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('HDEL', KEYS[1], ARGV[1]) end
"""
SCRIPTS = INSERT, REMOVE, FORGET


class RedisListStorage(OrderedStorage):
    """Lists in Redis.

    Parameters
    ----------
    config
        ``{"type": "redis", "redis": {"host": "localhost", "port": 6379}}``: the arguments of
        `redis.Redis`; with ``"redis_buffer": {"transaction": False}``, a session's commands are
        sent, but not as one transaction. A value may be ``{"env": "REDIS_HOSTNAME", "default":
        "localhost"}``: then the environment decides, also after unpickling elsewhere.
    name
        Prefix of the storage's keys; random if None.

    Raises
    ------
    ImportError
        The package `redis` is not installed: ``pip install redis``.
    """

    def __init__(self, config: dict[str, Any], name: bytes | None = None) -> None:
        try:
            import redis
        except ImportError as error:
            raise ImportError(
                'storage of type "redis" needs the package redis: pip install redis'
            ) from error
        self.config = config
        self._name = random_name(11) if name is None else name
        self._redis: Any = redis.Redis(**_read(config["redis"]))
        self._scripts = {text: self._redis.register_script(text) for text in SCRIPTS}
        buffering = _read(config.get("redis_buffer", {}))
        self._buffer = self._redis.pipeline(transaction=buffering.get("transaction", True))
        self._buffered = 0

    def redis_key(self, key: Hashable) -> bytes:
        """Return the key in Redis of a key's values."""
        return self._name + (key.encode() if isinstance(key, str) else key)  # type: ignore[operator]

    def keys(self) -> Iterable[Any]:
        """Return the keys."""
        keys: Iterable[Any] = self._redis.hkeys(self._name)
        return keys

    def redis_keys(self) -> Iterable[Any]:
        """Return the keys in Redis of all values."""
        keys: Iterable[Any] = self._redis.hvals(self._name)
        return keys

    def status(self) -> dict[str, Any]:
        """Return the connection's properties, and the number of keys."""
        return {**_read(self.config["redis"]), **super().status()}

    def get(self, key: Hashable) -> Collection[Any]:
        """Return the values of a key; none if it is unknown."""
        values: Collection[Any] = self._get_items(self._redis, self.redis_key(key))
        return values

    def getmany(self, *keys: Hashable) -> list[Any]:
        """Return the values of each key, with one request."""
        return self._ask(self._get_items, keys)

    def insert(self, key: Hashable, *vals: Any, **kwargs: Any) -> None:
        """Add values to a key; with ``buffer=True``, when the buffer is sent."""

        def commands(pipe: Any) -> None:
            pipe.hset(self._name, key, self.redis_key(key))
            self._put_items(pipe, self.redis_key(key), *vals)

        self._do(commands, **kwargs)

    def remove(self, *keys: Hashable, **kwargs: Any) -> None:
        """Remove keys with all their values."""

        def commands(pipe: Any) -> None:
            pipe.hdel(self._name, *keys)
            pipe.delete(*[self.redis_key(key) for key in keys])

        self._do(commands, **kwargs)

    def remove_val(self, key: Any, val: Any, **kwargs: Any) -> None:
        """Remove one value of a key, and with the last one the key."""

        def commands(pipe: Any) -> None:
            self._remove_item(pipe, self.redis_key(key), val)
            self._scripts[FORGET]([self._name, self.redis_key(key)], [key], client=pipe)

        self._do(commands, **kwargs)

    def size(self) -> int:
        """Return the number of keys."""
        return int(self._redis.hlen(self._name))

    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of values of each key."""
        keys = list(self.keys())
        return dict(zip(keys, self._ask(self._count_items, keys), strict=True))

    def has_key(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        return bool(self._redis.hexists(self._name, key))

    def empty_buffer(self) -> None:
        """Send the buffered commands."""
        self._buffer.execute()
        self._buffered = 0

    def _do(self, commands: Callable[[Any], None], buffer: bool = False) -> None:
        if buffer:
            commands(self._buffer)
            self._buffered += 1
            if self._buffered >= self.buffer_size:
                self.empty_buffer()
        else:
            pipe = self._redis.pipeline()
            commands(pipe)
            pipe.execute()

    def _ask(self, command: Callable[[Any, bytes], Any], keys: Iterable[Hashable]) -> list[Any]:
        pipe = self._redis.pipeline()
        for key in keys:
            command(pipe, self.redis_key(key))
        answers: list[Any] = pipe.execute()
        return answers

    @staticmethod
    def _get_items(redis: Any, key: bytes) -> Any:
        return redis.lrange(key, 0, -1)

    @staticmethod
    def _put_items(redis: Any, key: bytes, *values: Any) -> None:
        redis.rpush(key, *values)

    @staticmethod
    def _remove_item(redis: Any, key: bytes, value: Any) -> None:
        redis.lrem(key, 1, value)

    @staticmethod
    def _count_items(redis: Any, key: bytes) -> Any:
        return redis.llen(key)

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot be pickled.
        connected = ("_redis", "_scripts", "_buffer", "_buffered")
        return {name: value for name, value in self.__dict__.items() if name not in connected}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["config"], name=state["_name"])  # type: ignore[misc]
        self.__dict__.update(state)


class RedisSetStorage(UnorderedStorage, RedisListStorage):
    """Sets in Redis; its arguments are those of `RedisListStorage`."""

    def get(self, key: Hashable) -> Collection[Any]:
        """Return the values of a key; none if it is unknown."""
        return set(super().get(key))

    @staticmethod
    def _get_items(redis: Any, key: bytes) -> Any:
        return redis.smembers(key)

    @staticmethod
    def _put_items(redis: Any, key: bytes, *values: Any) -> None:
        redis.sadd(key, *values)

    @staticmethod
    def _remove_item(redis: Any, key: bytes, value: Any) -> None:
        redis.srem(key, value)

    @staticmethod
    def _count_items(redis: Any, key: bytes) -> Any:
        return redis.scard(key)


def on_one_server(storages: Sequence[Any]) -> bool:
    """Whether storages are in Redis, all on the same server."""
    return all(
        isinstance(storage, RedisListStorage) and storage.config == storages[0].config
        for storage in storages
    )


def at_once(
    script: str,
    keys: Any,
    tables: Iterable[Any],
    key: Any,
    bands: Iterable[Any],
    *,
    unique: bool = False,
    buffer: bool = False,
) -> bool:
    """Insert or remove a key in all storages of a server, with one request, maybe buffered.

    Parameters
    ----------
    script
        INSERT or REMOVE.
    keys, tables
        The storage of the keys; and that of each band, from the first one on again if there are
        more bands.
    key, bands
        A key, and the keys of its bands.
    unique
        Whether a key that is inserted must be new.
    buffer
        Send the request with others; the answer is then not known.

    Returns
    -------
    bool
        False if the key was there and had to be new, or was to be removed and was not there.
    """
    names, values = [keys._name, keys.redis_key(key)], [int(unique), key]
    for table, band in zip(tables, bands, strict=False):
        names += table._name, table.redis_key(band)
        values.append(band)
    run = keys._scripts[script]
    if not buffer:
        return bool(run(names, values))
    keys._do(lambda pipe: run(names, values, client=pipe), buffer=True)
    return True


def values_of_each(storages: Sequence[Any], keys: Sequence[Hashable]) -> list[Collection[Any]]:
    """Return the values of a key of each storage, with one request to a server that has all."""
    if not storages or not on_one_server(storages):
        return [storage.get(key) for storage, key in zip(storages, keys, strict=True)]
    pipe = storages[0]._redis.pipeline(transaction=False)
    for storage, key in zip(storages, keys, strict=True):
        storage._get_items(pipe, storage.redis_key(key))
    answers: list[Collection[Any]] = pipe.execute()
    return answers


def union_of(storages: Sequence[Any], keys: Sequence[Hashable]) -> Collection[Any]:
    """Return the values that a key has in one of the storages, each of them once."""
    if not storages or not on_one_server(storages):
        return set().union(*values_of_each(storages, keys))
    names = [storage.redis_key(key) for storage, key in zip(storages, keys, strict=True)]
    values: Collection[Any] = storages[0]._redis.sunion(names)
    return values


def _read(config: dict[str, Any]) -> dict[str, Any]:
    return {
        name: os.getenv(value["env"], value.get("default"))
        if isinstance(value, dict) and "env" in value
        else value
        for name, value in config.items()
    }
