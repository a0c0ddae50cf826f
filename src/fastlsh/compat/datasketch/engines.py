"""What MinHashLSH runs on: tables in memory, or a storage for each band.

Both have `keys`, `hashtables` and the methods of `Storages`. They get keys as they are stored.
"""

import struct
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import KeyBuckets
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage, random_name
from fastlsh.compat.datasketch.storage import (
    DictSetStorage,
    ordered_storage,
    unordered_storage,
)
from fastlsh.compat.datasketch.tables import BucketView, KeyView, expanded, row_words, values_of

INSERTED, KNOWN, OTHER_KIND = 0, 1, 2
"""What insert answers; Tables refuse values of another kind than those they have."""


def band_key(hashvalues: NDArray[Any]) -> bytes:
    """Return datasketch's key of a band: the bytes of its values, swapped."""
    return bytes(hashvalues.byteswap().data)


class Tables:
    """Keys in memory, by the bands of their sketches.

    Parameters
    ----------
    b, r
        Bands, and minima of a band.
    """

    def __init__(self, b: int, r: int) -> None:
        self._b, self._r = b, r
        self._table = KeyBuckets(b, r)
        self.keys: OrderedStorage = KeyView(self._table, b)
        self.hashtables: list[UnorderedStorage] = [BucketView(self._table, i) for i in range(b)]
        # No layer between: a call takes as long as the work.
        self.insert = self.insert_buffered = self._table.insert
        self.query = self._table.query
        self.remove = self.remove_buffered = self._table.remove

    def insert_bands(self, key: Hashable, band_keys: Collection[Any]) -> int:
        """Insert a key by the keys of its bands, maybe those of several sketches."""
        keys = list(band_keys)
        sketches = [
            values_of(keys[i : i + self._b], self._r, self._table.kind())
            for i in range(0, len(keys), self._b)
        ]
        for values in sketches:
            if values is None or self.insert(key, values, False) == OTHER_KIND:
                return OTHER_KIND
        return INSERTED

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return len(self._table) == 0

    def __getstate__(self) -> dict[str, Any]:
        keys, rows = self._table.living()
        kind = self._table.kind()
        parts = [] if kind is None else [row_words(self._table, rows, i) for i in range(self._b)]
        return {
            "params": (self._b, self._r),
            "keys": keys,
            "kind": kind,
            "words": np.concatenate(parts, axis=1) if parts else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["params"])  # type: ignore[misc]
        if state["words"] is not None:
            columns = state["kind"][2]
            for key, words in zip(state["keys"], state["words"], strict=True):
                values = expanded(words, state["kind"])
                self.insert(key, values.reshape(-1, columns) if columns > 1 else values, False)


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
        self.hashtables = [
            unordered_storage(config, name=base + b"_bucket_" + struct.pack(">H", i))
            for i in range(b)
        ]
        self.keys = ordered_storage(config, name=base + b"_keys")

    def band_keys(self, hashvalues: NDArray[Any], bands: int) -> Iterable[Any]:
        """Yield the keys of the first bands."""
        for i in range(0, bands * self._r, self._r):
            key = band_key(hashvalues[i : i + self._r])
            yield self._hashfunc(key) if self._hashfunc else key

    def insert(
        self, key: Hashable, hashvalues: NDArray[Any], unique: bool = True, buffer: bool = False
    ) -> int:
        """Insert a key; return KNOWN, if `unique`, for one that is there."""
        if unique and key in self.keys:
            return KNOWN
        return self.insert_bands(key, list(self.band_keys(hashvalues, self._b)), buffer)

    def insert_buffered(self, key: Hashable, hashvalues: NDArray[Any], unique: bool) -> int:
        """Insert a key when the buffers are emptied."""
        return self.insert(key, hashvalues, unique, buffer=True)

    def insert_bands(self, key: Hashable, band_keys: Collection[Any], buffer: bool = False) -> int:
        """Insert a key by the keys of its bands, maybe those of several sketches."""
        self.keys.insert(key, *band_keys, buffer=buffer)
        for i, one in enumerate(band_keys):
            self.hashtables[i % self._b].insert(one, key, buffer=buffer)
        return INSERTED

    def query(self, hashvalues: NDArray[Any], bands: int) -> Collection[Any]:
        """Return the keys that share one of the first bands with these minima."""
        tables = self.hashtables[:bands]
        found: set[Any] = set()
        for table, one in zip(tables, self.band_keys(hashvalues, bands), strict=True):
            found.update(table.get(one))
        return found

    def remove(self, key: Hashable, buffer: bool = False) -> bool:
        """Remove a key; return whether it was there."""
        if key not in self.keys:
            return False
        # Two sketches of a key may have a band in common.
        for band, one in {(i % self._b, one) for i, one in enumerate(self.keys[key])}:
            table = self.hashtables[band]
            table.remove_val(one, key, buffer=buffer)
            if isinstance(table, DictSetStorage) and not table.get(one):
                table.remove(one)
        self.keys.remove(key, buffer=buffer)
        return True

    def remove_buffered(self, key: Hashable) -> bool:
        """Remove a key when the buffers are emptied; return whether it is there."""
        return self.remove(key, buffer=True)

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return any(table.size() == 0 for table in self.hashtables)
