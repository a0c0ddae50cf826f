"""The base of MinHashLSH: its state and its engine, in memory or in a storage."""

import pickle
import struct
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.compat._compat import KeyBuckets
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage, random_name
from fastlsh.compat.datasketch.params import Sketch, band_key, band_keys, check_length, check_scheme
from fastlsh.compat.datasketch.redis_storage import (
    INSERT,
    REMOVE,
    at_once,
    on_one_server,
    union_of,
    values_of_each,
)
from fastlsh.compat.datasketch.storage import DictListStorage, ordered_storage, unordered_storage

INSERTED, KNOWN, NOT_HERE = 0, 1, 2
"""The results of `insert`. Tables refuse values of another kind than those they hold."""

Kind = tuple[int, bool, int, bool]
"""The kind of a table's values: bytes, signed, values for each minimum, kept in 32 bits."""


class Tables:
    """Keys in memory, by the bands of their sketches.

    The buckets cannot be seen from outside. `as_dicts` returns storages, in which they can.

    Parameters
    ----------
    b, r
        Bands, and minima of a band.
    """

    def __init__(self, b: int, r: int) -> None:
        self._b, self._r = b, r
        self.table = KeyBuckets(b, r)
        # Bound once, without a method between: that would take as long as the work itself.
        self.query = self.table.query
        self.insert = self.insert_buffered = self.table.insert
        self.remove = self.remove_buffered = self.table.remove
        self._leaving = threading.RLock()
        self._dicts: Storages | None = None

    def __contains__(self, key: Hashable) -> bool:
        return key in self.table

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return len(self.table) == 0

    def empty_buffers(self) -> None:
        """Do nothing: nothing is buffered."""

    def values(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield each key with the values of its bands, once for each of its sketches."""
        return rows_of(*self.table.contents())

    def items(self) -> Iterator[tuple[Any, list[bytes]]]:
        """Yield each key with the keys of its bands, once for each of its sketches."""
        keys, words, kind = self.table.contents()
        if kind is None or not keys:
            return
        data = unpacked(words, kind).byteswap().tobytes()
        row = len(data) // len(keys)
        width = row // self._b
        for key, start in zip(keys, range(0, len(data), row), strict=True):
            yield key, [data[i : i + width] for i in range(start, start + row, width)]

    def as_dicts(self, buffer_size: int) -> "Storages":
        """Return storages with the same keys, and refuse changes from now on."""
        with self._leaving:
            if self._dicts is None:
                self.table.close()
                storages = Storages(self._b, self._r, {"type": "dict"}, None)
                for key, keys_of_bands in self.items():
                    storages.insert_bands(key, keys_of_bands)
                storages.set_buffer_size(buffer_size)
                self._dicts = self._dicts or storages  # a key's hash may have come here, too
            return self._dicts

    def __getstate__(self) -> dict[str, Any]:
        keys, words, kind = self.table.contents()
        return {"params": (self._b, self._r), "keys": keys, "words": words, "kind": kind}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["params"])  # type: ignore[misc]
        insert = self.table.insert
        for key, values in rows_of(state["keys"], state["words"], state["kind"]):
            insert(key, values, False)


def unpacked(words: bytes, kind: Kind) -> NDArray[Any]:
    """Return the values of all rows, from what `KeyBuckets.contents` returns."""
    itemsize, signed, _, narrow = kind
    letter, stored = "i" if signed else "u", 4 if narrow else itemsize
    return np.frombuffer(words, f"{letter}{stored}").astype(f"{letter}{itemsize}", copy=False)


def rows_of(keys: list[Any], words: bytes, kind: Kind | None) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield each key with its values, from what `KeyBuckets.contents` returns."""
    if kind is None or not keys:
        return
    columns = kind[2]
    shape = (len(keys), -1, columns) if columns > 1 else (len(keys), -1)
    yield from zip(keys, unpacked(words, kind).reshape(shape), strict=True)


class Storages:
    """Keys in a storage for each band, under band keys.

    Parameters
    ----------
    b, r
        Bands, and minima of a band.
    config
        See `fastlsh.compat.datasketch.storage.ordered_storage`.
    hashfunc
        Shortens the key of a band.
    """

    table = None

    def __init__(
        self, b: int, r: int, config: dict[str, Any], hashfunc: Callable[[bytes], Any] | None
    ) -> None:
        self._b, self._r = b, r
        self._hashfunc = hashfunc
        base = config.get("basename") or random_name(11)
        self.hashtables: list[UnorderedStorage] = [
            unordered_storage(config, name=base + b"_bucket_" + struct.pack(">H", i))
            for i in range(b)
        ]
        self.keys: OrderedStorage = ordered_storage(config, name=base + b"_keys")

    def __contains__(self, key: Hashable) -> bool:
        return key in self.keys

    def insert(
        self, key: Hashable, hashvalues: NDArray[Any], unique: bool = True, buffer: bool = False
    ) -> int:
        """Insert a key; return KNOWN, if `unique`, for one that is there."""
        return self.insert_bands(key, self._band_keys(hashvalues, self._b), unique, buffer)

    def insert_buffered(self, key: Hashable, hashvalues: NDArray[Any], unique: bool) -> int:
        """Insert a key when the buffers are emptied."""
        return self.insert(key, hashvalues, unique, buffer=True)

    def insert_bands(
        self,
        key: Hashable,
        keys_of_bands: Collection[Any],
        unique: bool = False,
        buffer: bool = False,
    ) -> int:
        """Insert a key by the keys of its bands, maybe those of several sketches; see `insert`."""
        together = self._on_one_server()
        if unique and (buffer or not together) and key in self.keys:
            return KNOWN
        tables = cycle(self.hashtables)
        if together:
            is_new = at_once(
                INSERT, self.keys, tables, key, keys_of_bands, unique=unique, buffer=buffer
            )
            return INSERTED if is_new else KNOWN
        self.keys.insert(key, *keys_of_bands, buffer=buffer)
        for table, one in zip(tables, keys_of_bands, strict=False):
            table.insert(one, key, buffer=buffer)
        return INSERTED

    def query(self, hashvalues: NDArray[Any], bands: int) -> Collection[Any]:
        """Return the keys that share one of the first bands with these minima."""
        return union_of(self.hashtables[:bands], self._band_keys(hashvalues, bands))

    def remove(self, key: Hashable, buffer: bool = False) -> bool:
        """Remove a key; return whether it was there."""
        keys_of_bands = self.keys.get(key)
        if not keys_of_bands:
            return False
        tables = cycle(self.hashtables)
        if self._on_one_server():
            return at_once(REMOVE, self.keys, tables, key, keys_of_bands, buffer=buffer)
        pairs: Iterable[tuple[UnorderedStorage, Any]] = zip(tables, keys_of_bands, strict=False)
        if len(keys_of_bands) > self._b:  # several sketches may share a band
            pairs = set(pairs)
        for table, one in pairs:
            table.discard(one, key, buffer)
        self.keys.remove(key, buffer=buffer)
        return True

    def _on_one_server(self) -> bool:
        return on_one_server([self.keys, *self.hashtables])

    def remove_buffered(self, key: Hashable) -> bool:
        """Remove a key when the buffers are emptied; return whether it is there."""
        return self.remove(key, buffer=True)

    def items(self) -> Iterator[tuple[Any, Collection[Any]]]:
        """Yield each key with the keys of its bands, those of all its sketches."""
        for key in list(self.keys):
            yield key, self.keys.get(key)

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return any(table.size() == 0 for table in self.hashtables)

    def empty_buffers(self) -> None:
        """Carry out the buffered commands."""
        for storage in (self.keys, *self.hashtables):
            storage.empty_buffer()

    def set_buffer_size(self, value: int) -> None:
        """Set how many commands each storage gathers."""
        for storage in (self.keys, *self.hashtables):
            storage.buffer_size = value

    def add_to_query_buffer(self, hashvalues: NDArray[Any]) -> None:
        """Look up a bucket of each band; a dictionary gives the set itself, which may change."""
        buckets = values_of_each(self.hashtables, self._band_keys(hashvalues, self._b))
        for table, keys in zip(self.hashtables, buckets, strict=True):
            table.selected.append(keys)

    def collect_query_buffer(self) -> Iterator[tuple[Collection[Any], ...]]:
        """Return the buckets of each buffered query, and forget them."""
        return zip(*[table.collect_select_buffer() for table in self.hashtables], strict=False)

    def _band_keys(self, hashvalues: NDArray[Any], bands: int) -> list[Any]:
        keys_of_bands = band_keys(hashvalues, bands, self._r)
        hashfunc = self._hashfunc
        return [hashfunc(one) for one in keys_of_bands] if hashfunc else keys_of_bands


PROTOCOL = 4
"""The protocol of pickled keys: that of Python 3.8 to 3.13, so that 3.14 finds the same keys."""


class Index:
    """The state of a MinHashLSH, and the steps that its methods and sessions share."""

    h: int
    b: int
    r: int
    prepickle: bool
    hashfunc: Callable[[bytes], Any] | None
    _require_bytes_keys: bool
    _buffer_size: int
    _minhash_scheme: str | None = None  # learned from the first insertion
    _engine: Tables | Storages

    @property
    def keys(self) -> OrderedStorage:
        """The storage from keys to the keys of their bands."""
        engine = self._engine
        return KeyView(self) if isinstance(engine, Tables) else engine.keys

    @keys.setter
    def keys(self, storage: OrderedStorage) -> None:
        self._storages().keys = storage._keys if isinstance(storage, KeyView) else storage

    @property
    def hashtables(self) -> list[UnorderedStorage]:
        """For each band, the storage from band keys to keys."""
        return self._storages().hashtables

    @hashtables.setter
    def hashtables(self, storages: list[UnorderedStorage]) -> None:
        self._storages().hashtables = storages

    @property
    def buffer_size(self) -> int:
        """How many commands a session gathers before it sends them."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        if isinstance(self._engine, Storages):
            self._engine.set_buffer_size(value)
        self._buffer_size = value

    def _insert(
        self, key: Hashable, minhash: Sketch, check_duplication: bool = True, buffer: bool = False
    ) -> None:
        if len(minhash) != self.h or getattr(minhash, "scheme", None) != self._minhash_scheme:
            self._minhash_scheme = self._check(minhash)
        if self._require_bytes_keys and not isinstance(key, bytes):
            raise TypeError(
                "prepickle=False requires bytes keys for non-dict storage, got "
                f"{type(key).__name__}. Either pass bytes keys or use prepickle=True for "
                "automatic serialization."
            )
        key = self._stored(key)
        engine = self._engine
        insert = engine.insert_buffered if buffer else engine.insert
        answer = insert(key, minhash.hashvalues, check_duplication)
        if answer == NOT_HERE:
            answer = self._storages().insert(key, minhash.hashvalues, check_duplication)
        if answer == KNOWN:
            raise ValueError(f"The given key already exists: {key!r}")

    def _remove(self, key: Hashable, buffer: bool = False) -> None:
        key = self._stored(key)
        remove = self._engine.remove_buffered if buffer else self._engine.remove
        removed = remove(key)
        if removed is None:  # another thread has moved the keys to dictionaries
            removed = self._storages().remove(key)
        if not removed:
            raise ValueError(f"The given key does not exist: {key!r}")

    def _merge(self, other: "Index", check_overlap: bool) -> None:
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError(
                "Cannot merge MinHashLSH with different initialization parameters: "
                f"(h, b, r) is {(self.h, self.b, self.r)} and {(other.h, other.b, other.r)}"
            )
        mine, others = self._minhash_scheme, other._minhash_scheme
        if mine is not None and others is not None and mine != others:
            raise ValueError(
                f"Cannot merge MinHashLSH indexed with MinHash scheme {others!r} into one "
                f"indexed with scheme {mine!r}"
            )
        if check_overlap and not set(self.keys).isdisjoint(other.keys):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        self._minhash_scheme = mine if mine is not None else others
        if isinstance(self._engine, Tables) and isinstance(other._engine, Tables):
            self._insert_values(other._engine)
        else:
            for key, keys_of_bands in other._engine.items():
                self._storages().insert_bands(key, keys_of_bands)

    def _insert_values(self, tables: Tables) -> None:
        for key, values in tables.values():
            if self._engine.insert(key, values, False) == NOT_HERE:
                self._storages().insert(key, values, False)

    def _storages(self) -> Storages:
        """Return the storages; keys that are in tables move to dictionaries, and stay there."""
        if isinstance(self._engine, Tables):
            self._engine = self._engine.as_dicts(self._buffer_size)
        return self._engine

    def _query_b(self, minhash: Sketch, b: int) -> set[Any]:
        self._check(minhash)
        if b > self.b:
            raise ValueError(
                f"b must be less or equal to the number of hash tables {self.b}, got {b}"
            )
        return set(self._loaded(self._engine.query(minhash.hashvalues, b)))

    def _check(self, minhash: Sketch) -> str | None:
        check_length(minhash, self.h)
        return check_scheme(self._minhash_scheme, minhash)

    def _stored(self, key: Hashable) -> Hashable:
        return pickle.dumps(key, PROTOCOL) if self.prepickle else key

    def _loaded(self, keys: Collection[Any]) -> list[Any]:
        if self.prepickle:
            return [pickle.loads(key) for key in keys]
        return keys if isinstance(keys, list) else list(keys)

    def _H(self, hs: NDArray[Any]) -> Any:  # noqa: N802
        return self.hashfunc(band_key(hs)) if self.hashfunc else band_key(hs)

    _byteswap = _hashed_byteswap = _H  # the name in datasketch's pickles

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore an index that fastlsh pickled, or datasketch."""
        hashtables = state.pop("hashtables", None)
        keys = state.pop("keys", None)
        for name in ("_H", "_found"):
            state.pop(name, None)
        self.__dict__.update(state)
        if hashtables is None:
            return
        self._engine = Storages(self.b, self.r, {"type": "dict"}, self.hashfunc)
        self._engine.keys, self._engine.hashtables = keys, hashtables


class KeyView(DictListStorage):
    """The storage `keys` of an index whose keys are in tables.

    Which keys there are is known without dictionaries. For everything else the index makes them,
    and this is a storage like any other.
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    def __iter__(self) -> Iterator[Any]:
        table = self._index._engine.table
        return iter(self._dict if table is None else table.distinct_keys())

    def size(self) -> int:
        """Return the number of keys."""
        table = self._index._engine.table
        return len(self._dict if table is None else table)

    def has_key(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        table = self._index._engine.table
        return key in (self._dict if table is None else table)

    @property
    def _keys(self) -> OrderedStorage:
        return self._index._storages().keys

    def __getattr__(self, name: str) -> Any:
        if name != "_dict":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._dict = self._keys._dict  # type: ignore[attr-defined]
        return self._dict

    @property
    def buffer_size(self) -> int:
        """How many commands a session gathers before it sends them."""
        return self._index.buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._keys.buffer_size = value

    @property
    def selected(self) -> list[Any]:
        """Keys that were looked up and not collected."""
        return self._keys.selected
