"""Runs of band keys: sorted, on disk, and read again in ranges of keys.

Of each key the first 40 bits are kept, with 24 bits for the document's row in its run. Families
are made of these: a family may thus hold documents that share no bucket, which costs a little time
and changes no answer, for each family is searched again with whole keys. At 10^9 documents, about
one link in a hundred is of this kind.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import batches

PLACE_BITS = 24
KEY_BITS = 64 - PLACE_BITS
LONGEST = 1 << PLACE_BITS
"""Documents of a run at most."""

_PLACES = np.uint64(LONGEST - 1)
_SHIFT = np.uint64(PLACE_BITS)

Keys = NDArray[np.uint64]


def keep_first_bits(keys: Keys) -> None:
    """Keep the first 40 bits of keys, with zeros behind them, in the same array.

    Parameters
    ----------
    keys
        uint64 (bands, n); 0: an empty document, which is in no bucket and remains 0.
    """
    present = keys != 0
    np.bitwise_and(keys, ~_PLACES, out=keys)
    lost = present & (keys == 0)
    if lost.any():  # one in 10^12
        keys[lost] = LONGEST


class SortedRun(NamedTuple):
    """The keys of consecutive documents."""

    first: int
    """Number of its first document."""
    keys: Keys
    """uint64 (bands, n), each band sorted: 40 bits of the key, 24 bits of the row."""


class Row(NamedTuple):
    """A range of one band: sorted by key, then by number."""

    keys: Keys
    numbers: NDArray[np.int64]


def ranges(documents: int, rows: int) -> int:
    """Return into how many ranges of keys a band must be cut, at least.

    Parameters
    ----------
    documents
        In all runs together.
    rows
        How many may be in memory at a time.
    """
    bits = max(documents - 1, 1).bit_length()
    least = 1 << max(KEY_BITS + bits - 64, 0)  # for key and number to fit into 64 bits
    needed = -(-documents // rows)
    while least < needed:
        least *= 2
    return least


def pieces_of_range(
    runs: Sequence[SortedRun], band: int, index: int, count: int, bits: int, rows: int
) -> Iterator[Row]:
    """Yield the documents of all runs whose key of a band is in a range, some at a time.

    Of one key there may be any number of documents, which follow each other from run to run.

    Parameters
    ----------
    runs
        Of all documents.
    band, index, count
        Which band; which of `count` ranges of it, a power of two.
    bits
        That a document's number takes.
    rows
        How many documents are yielded at a time, at most.
    """
    low, high = _edges(index, count)
    chosen = [(run.first, _chosen(run.keys[band], low, high)) for run in runs]
    return _pieces(chosen, low, high, bits, rows)


def _pieces(
    chosen: list[tuple[int, Keys]], low: int, high: int, bits: int, rows: int
) -> Iterator[Row]:
    """Yield the documents of a range, given the first document and the keys of each run."""
    if sum(len(keys) for _, keys in chosen) <= rows:
        yield _row([_part(keys, first, low, bits) for first, keys in chosen], low, bits)
    elif high - low > 1:
        middle = (low + high) // 2
        for start, stop in ((low, middle), (middle, high)):
            halves = ((first, _chosen(keys, start, stop)) for first, keys in chosen)
            if half := [(first, keys) for first, keys in halves if len(keys)]:
                yield from _pieces(half, start, stop, bits, rows)
    else:
        for first, keys in chosen:
            for start, stop in batches(len(keys), rows):
                yield _row([_part(keys[start:stop], first, low, bits)], low, bits)


def _row(parts: list[Keys], low: int, bits: int) -> Row:
    rows = np.concatenate(parts)
    if len(parts) > 1:
        rows.sort()
    numbers = (rows & np.uint64((1 << bits) - 1)).view(np.int64)
    rows >>= np.uint64(bits)
    rows += np.uint64(low)
    return Row(rows, numbers)


def sorted_in_range(keys: Keys, index: int, count: int) -> Keys:
    """Return the keys of a run that are in a range, packed as in `SortedRun`, sorted.

    Parameters
    ----------
    keys
        uint64 (n,): keys of one band, in order of the documents; changed.
    index, count
        As in `pieces_of_range`.
    """
    keep_first_bits(keys)
    rows = np.arange(len(keys), dtype=np.uint64)
    low, high = _edges(index, count)
    if count > 1:
        first = keys >> _SHIFT
        chosen = (first >= np.uint64(low)) & (first < np.uint64(high))
        keys, rows = keys[chosen], rows[chosen]
    keys |= rows
    keys.sort()
    return keys


def _edges(index: int, count: int) -> tuple[int, int]:
    """Return the least key of a range, and of the next one, in `KEY_BITS`."""
    width = 1 << KEY_BITS
    return width * index // count, width * (index + 1) // count


def _chosen(keys: Keys, low: int, high: int) -> Keys:
    """Return the keys of a band that are in a range, without those of empty documents."""
    start = int(keys.searchsorted(np.uint64(max(low, 1) << PLACE_BITS)))  # 0: empty documents
    stop = len(keys)
    if high << PLACE_BITS < 1 << 64:
        stop = int(keys.searchsorted(np.uint64(high << PLACE_BITS)))
    chosen: Keys = keys[start:stop]
    return chosen


def _part(chosen: Keys, first: int, low: int, bits: int) -> Keys:
    """Return keys of a run: 64 - `bits` bits of the key above `low`, `bits` of the number."""
    rows = (chosen >> _SHIFT) - np.uint64(low)
    rows <<= np.uint64(bits)
    rows |= (chosen & _PLACES) + np.uint64(first)
    return np.asarray(rows)


def repetitions(hashes: list[Keys], rows: int) -> int:
    """Return how many values occurred before, in the same array or another: `repeated_values`."""
    return sum(map(len, repeated_values(hashes, rows)))


def repeated_values(hashes: list[Keys], rows: int) -> Iterator[Keys]:
    """Yield the values that occurred before, in the same array or another, in ascending order.

    Parameters
    ----------
    hashes
        uint64 arrays, each sorted.
    rows
        How many may be in memory at a time.
    """
    total = sum(map(len, hashes))
    count = max(-(-total // rows), 1)
    for values in _value_ranges(hashes, count):
        values.sort()
        yield values[1:][values[1:] == values[:-1]]


def _value_ranges(hashes: list[Keys], count: int) -> Iterator[Keys]:
    edges = [(1 << 64) * i // count for i in range(1, count)]
    bounds = [np.searchsorted(array, np.array(edges, np.uint64)) for array in hashes]
    for i in range(count):
        parts = [
            array[(bound[i - 1] if i else 0) : (bound[i] if i < count - 1 else len(array))]
            for array, bound in zip(hashes, bounds, strict=True)
        ]
        yield np.concatenate(parts) if parts else np.empty(0, np.uint64)
