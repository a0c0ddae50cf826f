"""Documents that may contain each other, whose sizes differ: their families and their keys."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import Partition
from fastlsh.candidates.families import Families, Use, families_of
from fastlsh.candidates.links import Links, keys_apart, link_bands, make_keys
from fastlsh.parallel import Empty

PARTITIONS = np.uint64(32)
"""Bits of the groups of all partitions, and more."""


def find_families_by_size(
    signatures: NDArray[np.uint32],
    steps: NDArray[np.uint8],
    partitions: Sequence[Partition],
    order: NDArray[np.int64] | None = None,
    *,
    within: NDArray[np.uint64] | None = None,
    threads: int = 1,
    empty: Empty = np.empty,
) -> Families:
    """Find who shares a bucket with whom, where buckets depend on the sizes of both.

    Parameters
    ----------
    signatures, order, threads, empty
        As in `find_families`.
    steps
        uint8 (all documents,): `steps_of` their sizes in shingles.
    partitions
        From `partitions_of`.
    within
        uint64 (all documents,): only documents with the same value share a bucket.

    Returns
    -------
    Families
        With a row of `previous`, and a column of `roles`, for each band of each partition.
    """
    # Numbers of their own, from 0, so that they can be joined with the groups of the partitions.
    apart = None if within is None else np.unique(within, return_inverse=True)[1].reshape(-1)

    def groups_of(part: Partition) -> NDArray[np.uint64]:
        groups = part.groups(steps)
        return groups if apart is None else groups + (apart.astype(np.uint64) << PARTITIONS)

    def link(use: Use) -> int:
        without = first = 0
        for part in partitions:

            def use_here(band: int, found: Links, first: int = first) -> None:
                use(first + band, found)

            without = link_bands(
                signatures,
                part.params,
                use_here,
                order,
                groups=groups_of(part),
                threads=threads,
                empty=empty,
            )
            first += part.params.bands
        return without

    bands = sum(part.params.bands for part in partitions)
    n = len(signatures) if order is None else len(order)
    families = families_of(link, bands, n, order, threads, empty)
    roles = empty((len(families.documents), bands), np.uint8)
    chosen = steps[families.documents]
    first = 0
    for part in partitions:
        last = first + part.params.bands
        roles[:, first:last] = part.roles(chosen)[:, None]
        first = last
    return families._replace(roles=roles)


def keys_by_size(
    signatures: NDArray[np.uint32],
    steps: NDArray[np.uint8],
    partitions: Sequence[Partition],
    *,
    threads: int = 1,
    group_of: Callable[[Partition, NDArray[np.uint8]], NDArray[np.uint64]] = Partition.groups,
) -> NDArray[np.uint64]:
    """Return the key of each document in each band of each partition, uint64 (bands, n).

    Documents that share a bucket by `find_families_by_size` have a key in common, and hardly any
    others have. The key 0 marks an empty document. For an index, `group_of` is `Partition.offered`
    or `Partition.asked`.
    """
    bands = sum(part.params.bands for part in partitions)
    keys = np.empty((bands, len(signatures)), np.uint64)
    first = 0
    for part in partitions:
        some = keys[first : first + part.params.bands]
        make_keys(signatures, 0, part.params.rows, some, threads)
        groups = group_of(part, steps)
        for row in some:
            row[:] = keys_apart(row, groups)
        first += len(some)
    return keys


def keys_of_one_band(
    minima: NDArray[np.uint32], steps: NDArray[np.uint8], partition: Partition
) -> NDArray[np.uint64]:
    """Return the keys of one band, uint64 (n,), which are compared with no other band's.

    Parameters
    ----------
    minima
        uint32 (rows, n): the values of the band.
    steps
        uint8 (n,): `steps_of` the sizes.
    partition
        The partition that the band belongs to.
    """
    rows = len(minima)
    values = np.empty((minima.shape[1], rows + 1), np.uint32)
    values[:, :rows] = minima.T
    values[:, rows] = 0  # all ones would be an empty document
    keys = np.empty((1, len(values)), np.uint64)
    make_keys(values, 0, rows, keys, 1)
    keys[0, steps == 0] = 0
    return keys_apart(keys[0], partition.groups(steps))
