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
from fastlsh.compat.datasketch.followed import Followed
from fastlsh.compat.datasketch.storage import (
    DictSetStorage,
    ordered_storage,
    unordered_storage,
)
from fastlsh.compat.datasketch.tables import (
    INSERTED,
    KNOWN,
    OTHER_KIND,
    BucketView,
    KeyView,
    band_keys_of_sketch,
    expanded,
    row_words,
    values_of,
)


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
        self.query = self._table.query
        self._followed: Followed | None = None
        self._change(self._table)

    def _change(self, through: KeyBuckets | Followed) -> None:
        self.insert = self.insert_buffered = through.insert
        self.remove = self.remove_buffered = through.remove

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

    def _follow(self) -> Followed:
        if self._followed is None:
            self._followed = Followed(self._table, self._r, self.keys, self.hashtables)
            self._change(self._followed)
        return self._followed

    def add_to_query_buffer(self, hashvalues: NDArray[Any]) -> None:
        """Look up a bucket of each band, and go along with its changes."""
        self._follow().query(hashvalues)

    def collect_query_buffer(self) -> list[list[set[Any]]]:
        """Return the buckets of each buffered query, and forget them."""
        followed, self._followed = self._followed, None
        self._change(self._table)
        return followed.queries if followed else []

    def as_dicts(self) -> "Storages":
        """Return the same in dicts."""
        storages = Storages(self._b, self._r, {"type": "dict"}, None)
        for key in self.keys:
            storages.insert_bands(key, self.keys.get(key))
        if self._followed:
            storages.take_over(self._followed)
        return storages

    def __getstate__(self) -> dict[str, Any]:
        keys, rows = self._table.living()
        kind = self._table.kind()
        parts = [] if kind is None else [row_words(self._table, rows, i) for i in range(self._b)]
        return {
            "params": (self._b, self._r),
            "keys": keys,
            "kind": kind,
            "words": np.concatenate(parts, axis=1) if parts else None,
            "followed": self._followed and (self._followed.buckets, self._followed.queries),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["params"])  # type: ignore[misc]
        if state["words"] is not None:
            columns = state["kind"][2]
            for key, words in zip(state["keys"], state["words"], strict=True):
                values = expanded(words, state["kind"])
                self.insert(key, values.reshape(-1, columns) if columns > 1 else values, False)
        if state.get("followed"):
            followed = self._follow()
            followed.buckets, followed.queries = state["followed"]


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
        """Return the keys of the first bands."""
        keys = band_keys_of_sketch(hashvalues, bands, self._r)
        return map(self._hashfunc, keys) if self._hashfunc else keys

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

    def add_to_query_buffer(self, hashvalues: NDArray[Any]) -> None:
        """Look up a bucket of each band: in dicts the very set, which goes on changing."""
        for table, one in zip(self.hashtables, self.band_keys(hashvalues, self._b), strict=True):
            table.add_to_select_buffer([one])

    def collect_query_buffer(self) -> list[tuple[Collection[Any], ...]]:
        """Return the buckets of each buffered query, and forget them."""
        selected = [table.collect_select_buffer() for table in self.hashtables]
        return list(zip(*selected, strict=False))

    def take_over(self, followed: Followed) -> None:
        """Go on with the buffered queries of tables that had the same keys."""
        for (band, one), bucket in followed.buckets.items():
            table = self.hashtables[band]
            assert isinstance(table, DictSetStorage)
            table.replace(one, bucket)
        for query in followed.queries:
            for table, bucket in zip(self.hashtables, query, strict=True):
                table.selected.append(bucket)
