"""Links: who is the latest earlier document in the same bucket."""

from collections.abc import Callable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.parallel import batches, run

BANDS_AT_A_TIME = 4
"""Keys of so many bands, 32 bytes a document, are held by all threads together. One thread makes
them in one pass over the signatures; no more threads than this link bands."""

FEW = 1 << 15
"""Fewer documents are linked sooner than another thread has begun."""

Links = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(later, earlier), int32: later ones ascending, each with the latest earlier one of its bucket."""


class Linker:
    """Memory in which n keys are linked; what is not needed is not touched.

    1 byte a document and 12 for each whose key may not be alone, at most 16 bytes a document.
    """

    def __init__(self, n: int) -> None:
        self._table = np.empty(2 * n, np.int32)
        self._later = np.empty(n, np.int32)
        self._earlier = np.empty(n, np.int32)
        self._keys = np.empty((0, 0), np.uint64)
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

    def keys(
        self, signatures: NDArray[np.uint32], rows: int, first: int, last: int
    ) -> NDArray[np.uint64]:
        """Return the keys of the bands `first` to `last` - 1; overwritten by the next ones."""
        if len(self._keys) < last - first:
            self._keys = np.empty((last - first, len(signatures)), np.uint64)
        keys = self._keys[: last - first]
        _kernels.band_keys(signatures, first, rows, keys)
        return keys


def link_bands(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    use: Callable[[int, Links], None],
    order: NDArray[np.int64] | None = None,
    *,
    keys: NDArray[np.uint64] | None = None,
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
    threads
        How many make keys and link bands. They never change the links.

    Returns
    -------
    int
        How many documents are empty: in no bucket.
    """
    n = len(signatures) if order is None else len(order)
    made = 0 if keys is None else min(len(keys), params.bands)
    threads = min(threads, BANDS_AT_A_TIME) if n >= FEW else 1
    unused: list[Linker] = []

    def work(first: int, last: int) -> None:
        try:
            linker = unused.pop()
        except IndexError:
            linker = Linker(n)
        if keys is not None and last <= made:
            block = keys[first:last]
        else:
            block = linker.keys(signatures, params.rows, first, last)
        for band, whole in enumerate(block, first):
            use(band, linker.link(whole if order is None else whole[order]))
        unused.append(linker)

    rest = batches(params.bands - made, BANDS_AT_A_TIME // threads)
    parts = chain(batches(made, 1), ((made + first, made + last) for first, last in rest))
    run(work, parts, threads)
    return unused[0].empty
