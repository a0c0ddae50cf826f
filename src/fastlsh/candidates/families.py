"""Families: what shared buckets connect."""

from collections.abc import Callable
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.candidates.links import Links, link_bands
from fastlsh.parallel import Empty, batches, run

Use = Callable[[int, Links], None]


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
    n = len(signatures) if order is None else len(order)

    def link(use: Use) -> int:
        return link_bands(
            signatures, params, use, order, keys=keys, groups=groups, threads=threads, empty=empty
        )

    return families_of(link, params.bands, n, order, threads, empty)


def families_of(
    link: Callable[[Use], int],
    bands: int,
    n: int,
    order: NDArray[np.int64] | None,
    threads: int,
    empty: Empty,
) -> Families:
    """Gather what `link` finds, band by band; see `find_families`."""
    family = np.arange(n, dtype=np.int32)
    none = np.empty(0, np.int32)
    links: list[Links] = [(none, none)] * bands
    uniting = RLock()

    def use(band: int, found: Links) -> None:
        later, earlier = links[band] = found
        with _kernels.Hold(uniting):
            _kernels.unite(family, earlier, later)

    without = link(use)
    rows = _by_family(family)
    starts = np.flatnonzero(np.diff(family[rows], prepend=-1))
    row_of = family  # of no further use
    row_of[rows] = np.arange(len(rows), dtype=np.int32)
    previous = empty((bands, len(rows)), np.int32)

    def place(band: int, _: int) -> None:
        later, earlier = links[band]
        links[band] = none, none
        previous[band] = -1
        previous[band, row_of[later]] = row_of[earlier]

    run(place, batches(bands, 1), threads)
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
    _kernels.families(family)
    related = family != np.arange(len(family), dtype=np.int32)
    related[family[related]] = True
    rows = np.flatnonzero(related)
    return rows[np.argsort(family[rows], kind="stable")]
