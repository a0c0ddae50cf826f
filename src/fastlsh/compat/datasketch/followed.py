"""Queries of a MinHashLSH in memory that are buffered while keys come and go."""

from collections.abc import Hashable, Iterable
from typing import Any

from numpy.typing import NDArray

from fastlsh._kernels import KeyBuckets
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage
from fastlsh.compat.datasketch.tables import INSERTED, band_keys_of_sketch


class Followed:
    """Tables of which buffered queries look at some buckets, which are kept as sets, too.

    A buffered query of datasketch holds the sets of its index: they change with the index until
    they are empty; keys that come to an empty bucket go into a set of their own. So do these.

    Parameters
    ----------
    table
        Gets all changes.
    rows
        Minima of a band.
    keys, hashtables
        Views of the table.
    """

    def __init__(
        self,
        table: KeyBuckets,
        rows: int,
        keys: OrderedStorage,
        hashtables: list[UnorderedStorage],
    ) -> None:
        self._table, self._rows = table, rows
        self._keys, self._hashtables = keys, hashtables
        self.buckets: dict[tuple[int, Any], set[Any]] = {}
        self.queries: list[list[set[Any]]] = []

    def query(self, hashvalues: NDArray[Any]) -> None:
        """Buffer a query: a bucket for each band."""
        found = []
        for place in self._places(hashvalues):
            bucket = self.buckets.get(place)
            if bucket is None:
                band, band_key = place
                bucket = set(self._hashtables[band].get(band_key))
                if bucket:
                    self.buckets[place] = bucket
            found.append(bucket)
        self.queries.append(found)

    def insert(self, key: Hashable, hashvalues: NDArray[Any], unique: bool = True) -> int:
        """Insert as `KeyBuckets.insert` does."""
        answer = self._table.insert(key, hashvalues, unique)
        if answer == INSERTED:
            for place in self._places(hashvalues):
                if place in self.buckets:
                    self.buckets[place].add(key)
        return answer

    def remove(self, key: Hashable) -> bool:
        """Remove as `KeyBuckets.remove` does."""
        band_keys = self._keys.get(key)
        removed = self._table.remove(key)
        for i, band_key in enumerate(band_keys):
            place = (i % len(self._hashtables), band_key)
            if place in self.buckets:
                self.buckets[place].discard(key)
                if not self.buckets[place]:
                    del self.buckets[place]
        return removed

    def _places(self, hashvalues: NDArray[Any]) -> Iterable[tuple[int, bytes]]:
        return enumerate(band_keys_of_sketch(hashvalues, len(self._hashtables), self._rows))
