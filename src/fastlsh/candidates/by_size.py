"""Families of documents that may contain each other, whose sizes differ."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.candidates.families import Families, Use, families_of
from fastlsh.candidates.links import Links, link_bands
from fastlsh.parallel import Empty


def find_families_by_size(
    signatures: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    bandings: Sequence[LSHParams],
    order: NDArray[np.int64] | None = None,
    *,
    threads: int = 1,
    empty: Empty = np.empty,
) -> Families:
    """Find who shares a bucket with whom, where buckets depend on the sizes of both.

    The partitions of LSH Ensemble (Zhu, Nargesian, Pu, Miller 2016), with borders that depend on
    no collection: the step of a size is the exponent of its highest bit. Documents whose steps
    differ by d share a bucket by the d-th banding.

    Parameters
    ----------
    signatures, order, threads, empty
        As in `find_families`.
    sizes
        int64 (all documents,): shingles of each.
    bandings
        From `containment_bandings`.

    Returns
    -------
    Families
        With a row of `previous` for each band of the first banding, and two of the others.
    """
    step = np.frexp(sizes.astype(np.float64))[1].astype(np.int64)
    whole = list(_groups(step, bandings))

    def link(use: Use) -> int:
        without = first = 0
        for params, groups in whole:

            def use_here(band: int, found: Links, first: int = first) -> None:
                use(first + band, found)

            without = link_bands(
                signatures, params, use_here, order, groups=groups, threads=threads
            )
            first += params.bands
        return without

    bands = sum(params.bands for params, _ in whole)
    return families_of(link, bands, len(signatures) if order is None else len(order), order, empty)


def _groups(
    step: NDArray[np.int64], bandings: Sequence[LSHParams]
) -> Iterator[tuple[LSHParams, NDArray[np.uint64]]]:
    """Yield each banding with groups: of one step, and of the one that is d above it.

    A document is below some and above others, so the groups with d > 0 are told in two rounds:
    those that end at an even multiple of d, and those that end at an odd one.
    """
    yield bandings[0], step.astype(np.uint64)
    for d, params in enumerate(bandings[1:], 1):
        for odd in (0, 1):
            ends = np.where(step // d % 2 == odd, step, step + d)
            yield params, ends.astype(np.uint64)
