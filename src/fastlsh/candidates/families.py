"""Families: what shared buckets connect, of documents of any size or of similar sizes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh._kernels.common import _common
from fastlsh.banding import LSHParams, Partition
from fastlsh.candidates.keys import make_keys
from fastlsh.candidates.links import Links, keys_apart, link_bands
from fastlsh.parallel import Empty, batches, run_batches

Layer = tuple[LSHParams, NDArray[np.uint64] | None]
"""Bands and rows, and the group of each document: others do not share a bucket of these bands."""


class Families(NamedTuple):
    """The documents that share a bucket with another one, the documents of a family side by side.

    A family is what is connected by shared buckets: no decision in one touches another, and what
    is compared lies close together.
    """

    documents: NDArray[np.int64]
    """int64 (m,): families one after the other, in each the given order."""
    starts: NDArray[np.int64]
    """int64: the row where each family begins."""
    previous: NDArray[np.int32]
    """int32 (bands, m): row of the latest earlier document in the same bucket, -1: none."""
    empty: int
    """How many of all that were asked about are empty."""
    roles: NDArray[np.uint8] | None = None
    """uint8 (m, bands): what a document is in its bucket, as `Keeper` has it; None: always both."""
    asks: NDArray[np.uint8] | None = None
    """uint8 (m,): whether a document is the later one of pairs; None: all are."""


def find_families(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    order: NDArray[np.int64] | None = None,
    *,
    keys: NDArray[np.uint64] | None = None,
    groups: NDArray[np.uint64] | None = None,
    threads: int = 1,
    empty: Empty = np.empty,
) -> Families:
    """Find who shares a bucket with whom. Parameters as in `link_bands`.

    `empty` makes the arrays that have a value for each document and band.
    """
    return families_of(signatures, [(params, groups)], order, keys, threads, empty)


def families_of(
    signatures: NDArray[np.uint32],
    layers: Iterable[Layer],
    order: NDArray[np.int64] | None,
    keys: NDArray[np.uint64] | None,
    threads: int,
    empty: Empty,
) -> Families:
    """Find who shares a bucket in a band of one of several layers; see `find_families`."""
    family = np.arange(len(signatures) if order is None else len(order), dtype=np.int32)
    none = np.empty(0, np.int32)
    links: list[Links] = []
    uniting = RLock()
    without = 0
    for params, groups in layers:
        before = len(links)
        links.extend([(none, none)] * params.bands)

        def use(band: int, links_of_band: Links, before: int = before) -> None:
            later, earlier = links[before + band] = links_of_band
            with _common.Hold(uniting):
                _candidates.unite(family, earlier, later)

        without = link_bands(
            signatures, params, use, order, keys=keys, groups=groups, threads=threads, empty=empty
        )
    rows = _by_family(family)
    starts = np.flatnonzero(np.diff(family[rows], prepend=-1))
    row_of = family  # of no further use
    row_of[rows] = np.arange(len(rows), dtype=np.int32)
    previous = empty((len(links), len(rows)), np.int32)

    def place(band: int, _: int) -> None:
        later, earlier = links[band]
        links[band] = none, none
        previous[band] = -1
        previous[band, row_of[later]] = row_of[earlier]

    run_batches(place, batches(len(links), 1), threads)
    documents = rows if order is None else order[rows]
    return Families(documents, starts, previous, without)


def between(families: Families, n: int) -> Families:
    """Return families whose pairs are those of a document below number `n` and one from `n` on.

    The rows of `previous` are changed: the latest earlier document in the bucket of a document from
    `n` on becomes the latest one below `n`. In each family, those below `n` must come first.
    """
    later = families.documents >= n
    rows = np.flatnonzero(later)
    for previous in families.previous:
        before = previous[rows]
        while (same := (before >= 0) & later[before]).any():
            before[same] = previous[before[same]]
            previous[rows] = before  # twice as far each time
    return families._replace(asks=later.view(np.uint8))


def _by_family(family: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return who has a family (`unite`), families one after the other; finishes `family`."""
    _candidates.families(family)
    related = family != np.arange(len(family), dtype=np.int32)
    related[family[related]] = True
    rows = np.flatnonzero(related)
    return rows[np.argsort(family[rows], kind="stable")]


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

    def layers() -> Iterator[Layer]:
        for part in partitions:
            groups = part.groups(steps)
            if apart is not None:
                groups += apart.astype(np.uint64) << PARTITIONS
            yield part.params, groups

    families = families_of(signatures, layers(), order, None, threads, empty)
    chosen = steps[families.documents]
    roles = empty((len(chosen), len(families.previous)), np.uint8)
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
        keys_of_part = keys[first : first + part.params.bands]
        make_keys(signatures, 0, part.params.rows, keys_of_part, threads)
        groups = group_of(part, steps)
        for row in keys_of_part:
            row[:] = keys_apart(row, groups)
        first += len(keys_of_part)
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
