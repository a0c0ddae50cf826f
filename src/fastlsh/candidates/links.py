"""Links: who is the latest earlier document in the same bucket."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.banding import LSHParams
from fastlsh.candidates.keys import make_keys
from fastlsh.parallel import Empty, batches, run_batches

BANDS_AT_A_TIME = 4
"""Keys of so many bands are made in one pass over the signatures, 32 bytes per document: fewer
would not make a pass much shorter. No more threads than this link bands."""

FEW = 1 << 15
"""Fewer documents are linked sooner than another thread has begun."""

APART = np.uint64(0x9E3779B97F4A7C15)
"""An odd number: multiples of it by numbers of groups differ in their upper bits, too."""

Links = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(later, earlier), int32: later ones ascending, each with the latest earlier one of its bucket."""


class Linker:
    """Memory in which n keys are linked; what is not needed is not touched.

    1 byte a document and 12 for each whose key may not be alone, at most 16 bytes per document.
    `make` makes the arrays of links.
    """

    def __init__(self, n: int, make: Empty = np.empty) -> None:
        self._make = make
        self._table = np.empty(2 * n, np.int32)
        self._later = np.empty(n, np.int32)
        self._earlier = np.empty(n, np.int32)

    def link(self, keys: NDArray[np.uint64]) -> tuple[Links, int]:
        """Link each document to the latest earlier one with the same key.

        Parameters
        ----------
        keys
            uint64 (n,); 0: in no bucket.

        Returns
        -------
        links : Links
        empty : int
            How many are in no bucket.
        """
        count, empty = _candidates.link(keys, self._table, self._later, self._earlier)
        return (self._copied(self._later[:count]), self._copied(self._earlier[:count])), empty

    def _copied(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        copy = self._make(len(values), np.int32)
        copy[:] = values
        return copy


def repeated(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group by key: return each row whose key occurred before, and the first row with that key.

    Parameters
    ----------
    keys
        uint64 (n,); 0: in no group.

    Returns
    -------
    row, first
        int64 arrays, `row` ascending.
    """
    (later, earlier), _ = Linker(len(keys)).link(keys)
    previous = np.full((1, len(keys)), -1, np.int32)
    previous[0, later] = earlier
    root = np.empty((len(keys), 1), np.int32)
    _candidates.roots(previous, 0, len(keys), root)
    return later.astype(np.int64), root[later, 0].astype(np.int64)


def link_bands(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    use: Callable[[int, Links], None],
    order: NDArray[np.int64] | None = None,
    *,
    keys: NDArray[np.uint64] | None = None,
    groups: NDArray[np.uint64] | None = None,
    threads: int = 1,
    empty: Empty = np.empty,
) -> int:
    """Link the documents of each bucket, band by band.

    Parameters
    ----------
    signatures, params
        As in `band_keys`.
    use
        Called with the number of each band and its links, on several threads, in any order.
    order
        int64 (n,): only these documents, in this order; the links are rows of this array.
    keys
        uint64 (some, all documents): keys of the first bands, if they were made already.
    groups
        uint64 (all documents,): only documents of the same group share a bucket.
    threads
        How many make keys and link bands. They never change the links.
    empty
        Makes the arrays of links.

    Returns
    -------
    int
        How many documents are empty: in no bucket.
    """
    n = len(signatures) if order is None else len(order)
    threads = min(threads, BANDS_AT_A_TIME) if n >= FEW else 1
    if groups is not None and order is not None:
        groups = groups[order]
    unused: list[Linker] = []
    without = 0

    def link(first: int, block: NDArray[np.uint64]) -> None:
        def work(start: int, stop: int) -> None:
            nonlocal without
            try:
                linker = unused.pop()
            except IndexError:
                linker = Linker(n, empty)
            for band in range(start, stop):
                chosen = block[band] if order is None else block[band][order]
                if groups is None:
                    links, without = linker.link(chosen)
                else:
                    links, without = _link_apart(linker, chosen, groups)
                use(first + band, links)
            unused.append(linker)

        run_batches(work, batches(len(block), 1), threads)

    made = 0 if keys is None else min(len(keys), params.bands)
    if keys is not None and made:
        link(0, keys[:made])
    room = np.empty((min(BANDS_AT_A_TIME, params.bands - made), len(signatures)), np.uint64)
    for first in range(made, params.bands, BANDS_AT_A_TIME):
        block = room[: params.bands - first]
        make_keys(signatures, first, params.rows, block, threads)
        link(first, block)
    return without


def _link_apart(
    linker: Linker, keys: NDArray[np.uint64], groups: NDArray[np.uint64]
) -> tuple[Links, int]:
    """Link the documents that have a key and a group in common."""
    links, without = linker.link(keys_apart(keys, groups))
    later, earlier = links
    if (groups[later] != groups[earlier]).any():  # two keys became one by accident
        _, places = np.unique(np.stack([keys, groups]), axis=1, return_inverse=True)
        numbers = places.reshape(-1).astype(np.uint64) + np.uint64(1)
        numbers[keys == 0] = 0
        links, without = linker.link(numbers)
    return links, without


def keys_apart(keys: NDArray[np.uint64], groups: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return keys that differ where the groups do; 0, of empty documents, stays.

    Equal keys of different groups become different in any case, different keys equal hardly ever.
    """
    mixed = keys ^ (groups * APART)
    mixed[mixed == 0] = 1
    mixed[keys == 0] = 0
    return mixed
