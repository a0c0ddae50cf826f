"""The engines of MinHashLSH: compact tables in memory, or a storage for each band.

Both take keys in their stored form, and have the methods `insert`, `remove`, `query`, `items`,
`is_empty` and `empty_buffers`.
"""

import struct
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import KeyBuckets
from fastlsh.compat.datasketch.bands import band_keys
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage, random_name
from fastlsh.compat.datasketch.storage import ordered_storage, unordered_storage

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
        self,
        b: int,
        r: int,
        config: dict[str, Any],
        hashfunc: Callable[[bytes], Any] | None,
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
        if unique and key in self.keys:
            return KNOWN
        self.insert_bands(key, self._band_keys(hashvalues, self._b), buffer)
        return INSERTED

    def insert_buffered(self, key: Hashable, hashvalues: NDArray[Any], unique: bool) -> int:
        """Insert a key when the buffers are emptied."""
        return self.insert(key, hashvalues, unique, buffer=True)

    def insert_bands(
        self, key: Hashable, keys_of_bands: Collection[Any], buffer: bool = False
    ) -> None:
        """Insert a key by the keys of its bands, maybe those of several sketches."""
        self.keys.insert(key, *keys_of_bands, buffer=buffer)
        for table, one in zip(cycle(self.hashtables), keys_of_bands, strict=False):
            table.add(one, key, buffer)

    def query(self, hashvalues: NDArray[Any], bands: int) -> Collection[Any]:
        """Return the keys that share one of the first bands with these minima."""
        found: set[Any] = set()
        tables = self.hashtables[:bands]
        for table, one in zip(tables, self._band_keys(hashvalues, bands), strict=True):
            found.update(table.get(one))
        return found

    def remove(self, key: Hashable, buffer: bool = False) -> bool:
        """Remove a key; return whether it was there."""
        if key not in self.keys:
            return False
        keys_of_bands = self.keys[key]
        pairs: Iterable[tuple[UnorderedStorage, Any]]
        pairs = zip(cycle(self.hashtables), keys_of_bands, strict=False)
        if len(keys_of_bands) > self._b:  # several sketches may share a band
            pairs = set(pairs)
        for table, one in pairs:
            table.discard(one, key, buffer)
        self.keys.remove(key, buffer=buffer)
        return True

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
        keys_of_bands = self._band_keys(hashvalues, self._b)
        for table, one in zip(self.hashtables, keys_of_bands, strict=True):
            table.add_to_select_buffer([one])

    def collect_query_buffer(self) -> Iterator[tuple[Collection[Any], ...]]:
        """Return the buckets of each buffered query, and forget them."""
        return zip(*[table.collect_select_buffer() for table in self.hashtables], strict=False)

    def _band_keys(self, hashvalues: NDArray[Any], bands: int) -> list[Any]:
        keys_of_bands = band_keys(hashvalues, bands, self._r)
        hashfunc = self._hashfunc
        return [hashfunc(one) for one in keys_of_bands] if hashfunc else keys_of_bands
