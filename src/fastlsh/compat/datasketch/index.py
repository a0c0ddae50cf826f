"""The base of MinHashLSH: its state and its engine."""

import pickle
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any

from numpy.typing import NDArray

from fastlsh.compat.datasketch.bands import band_key
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage
from fastlsh.compat.datasketch.engines import KNOWN, NOT_HERE, Storages, Tables
from fastlsh.compat.datasketch.params import Sketch, check_length, check_scheme
from fastlsh.compat.datasketch.storage import DictListStorage

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
        self,
        key: Hashable,
        minhash: Sketch,
        check_duplication: bool = True,
        buffer: bool = False,
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
            for key, band_keys in other._engine.items():
                self._storages().insert_bands(key, band_keys)

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
