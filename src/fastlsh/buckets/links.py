"""Links: who is the latest earlier document in the same bucket."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.buckets.keys import fill_keys
from fastlsh.parallel import batches, run

BANDS_AT_A_TIME = 4
"""Keys of so many bands are made in one pass over the signatures: 32 bytes a document. At most so
many threads link bands, with 5 to 16 bytes a document each."""

FEW = 1 << 15
"""Fewer documents are linked sooner than another thread has begun."""

Links = tuple[NDArray[np.int32], NDArray[np.int32]]
"""(later, earlier), int32: later ones ascending, each with the latest earlier one of its bucket."""

Scratch = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


def worthwhile(threads: int, n: int) -> int:
    """Return how many threads are to link n documents."""
    return threads if n >= FEW else 1


def new_scratch(n: int) -> Scratch:
    """Return the memory in which n keys are linked; what is not needed is not touched."""
    return np.empty(2 * n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)


def link(keys: NDArray[np.uint64], scratch: Scratch) -> tuple[Links, int]:
    """Link each document to the latest earlier one with the same key.

    Parameters
    ----------
    keys
        uint64 (n,); 0: in no bucket.
    scratch
        From `new_scratch`.

    Returns
    -------
    Links, int
        Views of the scratch; and how many keys are 0.
    """
    found, empty = _kernels.link(keys, *scratch)
    return (scratch[1][:found], scratch[2][:found]), empty


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
    threads = worthwhile(threads, n)
    unused: list[Scratch] = []
    empty = [0]

    for first, block in _key_blocks(signatures, params, keys, threads):

        def work(
            start: int, stop: int, first: int = first, block: NDArray[np.uint64] = block
        ) -> None:
            try:
                scratch = unused.pop()
            except IndexError:
                scratch = new_scratch(n)
            for band in range(start, stop):
                chosen = block[band] if order is None else block[band][order]
                links, empty[0] = link(chosen, scratch)
                use(first + band, links)
            unused.append(scratch)

        run(work, batches(len(block), 1), min(threads, BANDS_AT_A_TIME))
    return empty[0]


def _key_blocks(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    keys: NDArray[np.uint64] | None,
    threads: int,
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield (first band, its keys and those of the next ones): what was made, then the rest.

    Each block overwrites the one before.
    """
    made = 0
    if keys is not None:
        made = min(len(keys), params.bands)
        yield 0, keys[:made]
        del keys
    if made == params.bands:
        return
    room = np.empty((min(BANDS_AT_A_TIME, params.bands - made), len(signatures)), np.uint64)
    for first in range(made, params.bands, BANDS_AT_A_TIME):
        block = room[: params.bands - first]
        fill_keys(signatures, first, params.rows, block, threads)
        yield first, block
