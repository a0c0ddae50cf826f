"""Families of documents that may contain each other, whose sizes differ."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.candidates.families import Families, Use, families_of
from fastlsh.candidates.links import Links, link_bands
from fastlsh.parallel import Empty

BOTH, ASKS, OFFERS = 0, 1, 2
"""What a document is in its bucket: numbers of the `Keeper`."""


def find_families_by_size(
    signatures: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    bandings: Sequence[LSHParams],
    order: NDArray[np.int64] | None = None,
    *,
    downwards: bool = False,
    threads: int = 1,
    empty: Empty = np.empty,
) -> Families:
    """Find who shares a bucket with whom, where buckets depend on the sizes of both.

    The partitions of LSH Ensemble (Zhu, Nargesian, Pu, Miller 2016), with borders that depend on
    no collection: the step of a size is the exponent of its highest bit. A document finds those
    that are d steps above it by the d-th banding.

    Parameters
    ----------
    signatures, order, threads, empty
        As in `find_families`.
    sizes
        int64 (all documents,): shingles of each.
    bandings
        From `containment_bandings`.
    downwards
        Whether those of the step below are found, too, by the first banding: a document may contain
        most of a longer one.

    Returns
    -------
    Families
        With a row of `previous`, and a column of `roles`, for each band of each of `_partitions`.
    """
    step = np.frexp(sizes.astype(np.float64))[1].astype(np.int64)
    parts = list(_partitions(step, bandings, downwards))

    def link(use: Use) -> int:
        without = first = 0
        for part in parts:

            def use_here(band: int, found: Links, first: int = first) -> None:
                use(first + band, found)

            without = link_bands(
                signatures,
                part.params,
                use_here,
                order,
                groups=part.groups,
                threads=threads,
                empty=empty,
            )
            first += part.params.bands
        return without

    bands = sum(part.params.bands for part in parts)
    n = len(signatures) if order is None else len(order)
    families = families_of(link, bands, n, order, empty)
    roles = empty((len(families.documents), bands), np.uint8)
    first = 0
    for part in parts:
        last = first + part.params.bands
        roles[:, first:last] = part.role[families.documents][:, None]
        first = last
    return families._replace(roles=roles)


class Partition(NamedTuple):
    """Documents in groups; only those of the same group share a bucket."""

    params: LSHParams
    groups: NDArray[np.uint64]
    role: NDArray[np.uint8]
    """`BOTH`, `ASKS` or `OFFERS`, for each document."""


def _partitions(
    step: NDArray[np.int64], bandings: Sequence[LSHParams], downwards: bool
) -> Iterator[Partition]:
    """Yield the groups of those of one step; then of those who ask and of those d steps above.

    A document is below some and above others, so the groups with d > 0 are yielded in two rounds:
    those that end at an even multiple of d, and those that end at an odd one.
    """
    both = np.full(len(step), BOTH, np.uint8)
    for shift in (0, 1) if downwards else ():
        yield Partition(bandings[0], ((step + shift) // 2).astype(np.uint64), both)
    if not downwards:
        yield Partition(bandings[0], step.astype(np.uint64), both)
    for d, params in enumerate(bandings[1:], 1):
        for odd in (0, 1):
            above = step // d % 2 == odd
            groups = np.where(above, step, step + d).astype(np.uint64)
            yield Partition(params, groups, np.where(above, OFFERS, ASKS).astype(np.uint8))
