"""The tables in memory, seen as datasketch's storages: to look into, not to change."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import KeyBuckets
from fastlsh.compat.datasketch.containers import OrderedStorage, UnorderedStorage

Kind = tuple[int, bool, int, bool]
"""Of the values in a table: bytes of one, signed, how many for each minimum, kept in 32 bits."""

READ_ONLY = "this is a view of the index: use the index's insert, remove and merge"


INSERTED, KNOWN, OTHER_KIND = 0, 1, 2
"""What insert answers; tables refuse values of another kind than those they have."""


def band_key(hashvalues: NDArray[Any]) -> bytes:
    """Return datasketch's key of a band: the bytes of its values, swapped."""
    return bytes(hashvalues.byteswap().data)


def band_keys_of_sketch(hashvalues: NDArray[Any], bands: int, rows: int) -> Iterator[bytes]:
    """Yield the keys of the first bands."""
    for i in range(0, bands * rows, rows):
        yield band_key(hashvalues[i : i + rows])


def expanded(words: NDArray[np.uint32], kind: Kind) -> NDArray[Any]:
    """Return the values (m, n) that lie in words (m, any)."""
    itemsize, signed, _, narrow = kind
    if itemsize == 4:
        return words.view(np.int32) if signed else words
    if not narrow:
        return words.view(np.int64 if signed else np.uint64)
    return words.view(np.int32).astype(np.int64) if signed else words.astype(np.uint64)


def band_keys_of(words: NDArray[np.uint32], kind: Kind) -> list[bytes]:
    """Return datasketch's key of each band: the bytes of its values, swapped."""
    data = expanded(words, kind).byteswap().tobytes()
    width = len(data) // len(words) if len(words) else 1
    return [data[i : i + width] for i in range(0, len(data), width)]


def words_of(key: Hashable, kind: Kind) -> NDArray[np.uint32] | None:
    """Return the words of a band key; None if no band of this kind has it."""
    itemsize, _, _, narrow = kind
    if not isinstance(key, bytes) or len(key) % itemsize:
        return None
    values = np.frombuffer(key, np.uint32 if itemsize == 4 else np.uint64).byteswap()
    if not narrow:
        return values.view(np.uint32)
    words = values.astype(np.uint32)
    again = expanded(words, kind).view(np.uint64)
    return words if np.array_equal(again, values) else None


def values_of(band_keys: Collection[Any], rows: int, kind: Kind | None) -> NDArray[Any] | None:
    """Return the minima that lie in some bands' keys; None if these are no such keys."""
    lengths = {len(key) if isinstance(key, bytes) else 0 for key in band_keys}
    width, rest = divmod(lengths.pop(), rows)
    if lengths or rest or width % 4 or not width:
        return None
    itemsize = kind[0] if kind and width % kind[0] == 0 else 8 if width % 8 == 0 else 4
    dtype = np.uint32 if itemsize == 4 else np.uint64
    values = np.frombuffer(b"".join(band_keys), dtype).byteswap()
    return values.reshape(-1, width // itemsize) if width > itemsize else values


def row_words(table: KeyBuckets, rows: Iterable[int], band: int) -> NDArray[np.uint32]:
    """Return a band of some rows, (len(rows), words of a band)."""
    numbers = np.fromiter(rows, np.int32)
    out = np.empty((len(numbers), table.width()), np.uint32)
    table.words(numbers, band, out)
    return out


class _View:
    def __init__(self, table: KeyBuckets) -> None:
        self._table = table

    def _band_keys(self, rows: Iterable[int], band: int) -> list[bytes]:
        kind = self._table.kind()
        return [] if kind is None else band_keys_of(row_words(self._table, rows, band), kind)

    def insert(self, key: Hashable, *vals: Any, **kwargs: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(READ_ONLY)

    def remove(self, *keys: Hashable, **kwargs: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(READ_ONLY)

    def remove_val(self, key: Hashable, val: Any, **kwargs: Any) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(READ_ONLY)


class KeyView(_View, OrderedStorage):
    """From each key to its band keys."""

    def __init__(self, table: KeyBuckets, bands: int) -> None:
        super().__init__(table)
        self._bands = bands

    def keys(self) -> list[Any]:
        """Return the keys in the order of their insertion."""
        return list(dict.fromkeys(self._table.living()[0]))

    def get(self, key: Hashable) -> list[bytes]:
        """Return the band keys of a key; none if it is unknown."""
        rows = self._table.rows_of(key)
        if not rows:
            return []
        by_band = [self._band_keys(rows, band) for band in range(self._bands)]
        return [band_key for one in zip(*by_band, strict=True) for band_key in one]

    def size(self) -> int:
        """Return the number of keys."""
        return len(self._table)

    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of band keys of each key."""
        counts: dict[Any, int] = {}
        for key in self._table.living()[0]:
            counts[key] = counts.get(key, 0) + self._bands
        return counts

    def has_key(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        return key in self._table


class BucketView(_View, UnorderedStorage):
    """From the keys of one band to the keys of the sketches that have it."""

    def __init__(self, table: KeyBuckets, band: int) -> None:
        super().__init__(table)
        self._band = band

    def keys(self) -> list[bytes]:
        """Return the band keys."""
        return self._band_keys(self._table.buckets(self._band)[0], self._band)

    def get(self, key: Hashable) -> set[Any]:
        """Return the keys of the sketches; none if no sketch has this band key."""
        kind = self._table.kind()
        words = None if kind is None else words_of(key, kind)
        return set() if words is None else set(self._table.bucket(self._band, words))

    def size(self) -> int:
        """Return the number of band keys."""
        return len(self._table.buckets(self._band)[0])

    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of sketches' keys of each band key."""
        rows, counts = self._table.buckets(self._band)
        band_keys = self._band_keys(rows, self._band)
        if len(self._table.living()[0]) > len(self._table):  # keys that were inserted twice
            counts = [len(self.get(band_key)) for band_key in band_keys]
        return dict(zip(band_keys, counts, strict=True))

    def has_key(self, key: Hashable) -> bool:
        """Return whether a sketch has this band key."""
        return bool(self.get(key))
