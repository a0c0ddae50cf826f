"""Links: who is the latest earlier document in the same bucket."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.candidates.keys import keys_batch
from fastlsh.parallel import batches, run

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
    """

    def __init__(self, n: int) -> None:
        self._table = np.empty(2 * n, np.int32)
        self._later = np.empty(n, np.int32)
        self._earlier = np.empty(n, np.int32)
        self.empty = 0

    def link(self, keys: NDArray[np.uint64]) -> Links:
        """Link each document to the latest earlier one with the same key.

        Parameters
        ----------
        keys
            uint64 (n,); 0: in no bucket. `empty` tells how many.

        Returns
        -------
        Links
            Overwritten by the next ones.
        """
        found, self.empty = _kernels.link(keys, self._table, self._later, self._earlier)
        return self._later[:found], self._earlier[:found]


def repeated(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group by key: return each place whose key occurred before, and the first place of that key.

    Parameters
    ----------
    keys
        uint64 (n,); 0: in no group.

    Returns
    -------
    place, first
        int64 arrays, `place` ascending.
    """
    later, earlier = Linker(len(keys)).link(keys)
    previous = np.full(len(keys), -1, np.int32)
    previous[later] = earlier
    root = np.empty(len(keys), np.int32)
    _kernels.roots(previous, root)
    return later.astype(np.int64), root[later].astype(np.int64)


def link_bands(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    use: Callable[[int, Links], None],
    order: NDArray[np.int64] | None = None,
    *,
    keys: NDArray[np.uint64] | None = None,
    groups: NDArray[np.uint64] | None = None,
    threads: int = 1,
) -> int:
    """Link the documents of each bucket, band by band.

    Parameters
    ----------
    signatures, params
        As in `band_keys`.
    use
        Called with the number of each band and its links, on several threads, in any order. What
        it gets is overwritten afterwards.
    order
        int64 (n,): only these documents, in this order; what is linked are places in it.
    keys
        uint64 (some, all documents): keys of the first bands, if they were made already.
    groups
        uint64 (all documents,): only documents of the same group share a bucket.
    threads
        How many make keys and link bands. They never change the links.

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
    for first, block in _key_blocks(signatures, params, keys, threads):

        def work(
            start: int, stop: int, first: int = first, block: NDArray[np.uint64] = block
        ) -> None:
            try:
                linker = unused.pop()
            except IndexError:
                linker = Linker(n)
            for band in range(start, stop):
                chosen = block[band] if order is None else block[band][order]
                if groups is not None:
                    chosen = _apart(chosen, groups)
                use(first + band, linker.link(chosen))
            unused.append(linker)

        run(work, batches(len(block), 1), threads)
    return unused[0].empty


def _apart(keys: NDArray[np.uint64], groups: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return keys that differ where the groups do; 0, of empty documents, stays."""
    mixed = keys ^ (groups * APART)
    mixed[mixed == 0] = 1
    mixed[keys == 0] = 0
    return mixed


def _key_blocks(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    keys: NDArray[np.uint64] | None,
    threads: int,
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield (first band, keys of it and the next ones): what was made already, then the rest.

    Each block that is made here overwrites the one before.
    """
    made = 0 if keys is None else min(len(keys), params.bands)
    if keys is not None and made:
        yield 0, keys[:made]
    if made == params.bands:
        return
    room = np.empty((min(BANDS_AT_A_TIME, params.bands - made), len(signatures)), np.uint64)
    for first in range(made, params.bands, BANDS_AT_A_TIME):
        block = room[: params.bands - first]

        def work(
            start: int, stop: int, first: int = first, block: NDArray[np.uint64] = block
        ) -> None:
            _kernels.band_keys(signatures[start:stop], first, params.rows, block[:, start:stop])

        size = keys_batch(len(block), params.rows)
        run(work, batches(len(signatures), size), threads)
        yield first, block
