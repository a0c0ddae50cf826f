"""Bands and rows for pairs of which one contains the other, by the ratio of their sizes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer, check_share
from fastlsh.banding.choice import by_recall
from fastlsh.banding.params import LSHParams

MOST_STEPS = 40
"""Sizes are at most 2^40 times as large as others."""

BOTH, ASKS, OFFERS = 0, 1, 2
"""What a document is in its bucket: numbers of the `Keeper`."""

BY_PARTITION = 256
"""More than there are steps, so that groups of two partitions have different numbers."""


def least_similarity(containment: float, ratio: float) -> float:
    """Return the Jaccard similarity of a set with one that is `ratio` times as large.

    With t = containment, |A n B| = t |A| and |A u B| = |A| + |B| - t |A|.
    """
    return containment / (1 + ratio - containment)


def containment_bandings(containment: float, num_perm: int, recall: float) -> tuple[LSHParams, ...]:
    """Choose bands and rows for each step in size, as LSH Ensemble does for each partition.

    Sizes belong to the same step from 2^i to 2^(i + 1) - 1. A pair whose steps differ by d has a
    ratio below 2^(d + 1), hence at least some Jaccard similarity if one contains so much of the
    other; the d-th choice finds such a pair with probability `recall` or more.

    Parameters
    ----------
    containment
        The least share of a set that is in the other one.
    num_perm
        Length of the signature; the longer, the more steps.
    recall
        As in `LSHParams.for_threshold`.

    Returns
    -------
    tuple of LSHParams
        For d = 0, 1, ... as far as the signature reaches. The last two are equal, so that n of
        them cover every ratio up to 2^(n - 1), whatever the steps are.

    Raises
    ------
    ValueError
        It does not even reach the first step.
    """
    check_share(containment, "containment")
    num_perm = check_integer(num_perm, "num_perm")
    chosen: list[LSHParams] = []
    for step in range(MOST_STEPS):
        similarity = least_similarity(containment, 2.0 ** (step + 1))
        try:
            chosen.append(LSHParams(*by_recall(similarity, num_perm, recall)))
        except ValueError:
            if not chosen:
                raise
            break
    return (*chosen, chosen[-1])


class Partition(NamedTuple):
    """Documents in groups by the steps of their sizes; only those of a group share a bucket.

    The partitions of LSH Ensemble (Zhu, Nargesian, Pu, Miller 2016), with borders that depend on
    no collection: `steps_of` sizes. A document finds those that are d steps above it by the d-th
    banding.
    """

    number: int
    params: LSHParams
    distance: int
    """Steps from a document that asks up to those that it finds; 0: all of a group ask and
    offer."""
    odd: int
    """A document is below some and above others, so the groups with a distance d > 0 are in two
    partitions: those that end at an even multiple of d, and those that end at an odd one."""
    width: int = 1
    """With distance 0: the steps of a group."""

    def groups(self, steps: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return the group of each document, by its step; no other partition has the same."""
        group = self.offered(steps)
        if self.distance:
            group[~self._above(steps)] += np.uint64(self.distance)
        return group

    def offered(self, steps: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return the group in which an index holds each document, by its step."""
        group = steps.astype(np.uint64)
        if not self.distance:
            group = (group + np.uint64(self.odd)) // np.uint64(self.width)
        return group + np.uint64(BY_PARTITION * self.number)

    def asked(self, steps: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return the group in which an index looks for what contains a document, by its step."""
        return self.offered(steps) + np.uint64(self.distance)

    def roles(self, steps: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return `BOTH`, `ASKS` or `OFFERS` for each document, by its step."""
        if not self.distance:
            return np.full(len(steps), BOTH, np.uint8)
        return np.where(self._above(steps), np.uint8(OFFERS), np.uint8(ASKS))

    def _above(self, steps: NDArray[np.uint8]) -> NDArray[np.bool_]:
        above: NDArray[np.bool_] = steps // self.distance % 2 == self.odd
        return above


def steps_of(sizes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the step of each size: the number of its binary digits, 0 for an empty set."""
    return np.frexp(sizes.astype(np.float64))[1].astype(np.uint8)


def partitions_of(bandings: Sequence[LSHParams], *, downwards: bool) -> tuple[Partition, ...]:
    """Return the partitions of a search.

    Parameters
    ----------
    bandings
        From `containment_bandings`.
    downwards
        Whether those of the step below are found, too, by the first banding: a document may contain
        most of a longer one.
    """
    chosen: list[tuple[LSHParams, int, int, int]] = [(bandings[0], 0, 0, 1)]
    if downwards:
        chosen = [(bandings[0], 0, odd, 2) for odd in (0, 1)]
    chosen += [
        (params, distance, odd, 1)
        for distance, params in enumerate(bandings[1:], 1)
        for odd in (0, 1)
    ]
    return tuple(Partition(number, *fields) for number, fields in enumerate(chosen))


def indexed(partitions: Sequence[Partition]) -> tuple[Partition, ...]:
    """Return the partitions that an index has tables for.

    In an index, a document may be in one group and look for others in another one. So the groups of
    two partitions with the same distance are in one, and a document has half as many keys.
    """
    return tuple(part for part in partitions if not (part.distance and part.odd))


def slices_of(partitions: Sequence[Partition]) -> NDArray[np.int64]:
    """Return what the tables of an index must know of each band: the `slices` of `BandTables`."""
    return np.array(
        [
            (
                band * part.params.rows, part.params.rows, band, BY_PARTITION * part.number,
                part.distance, 0 if part.distance else part.odd, part.width - 1,
            )
            for part in partitions
            for band in range(part.params.bands)
        ],
        np.int64,
    )  # fmt: skip


def of_band(partitions: Sequence[Partition], band: int) -> tuple[Partition, int]:
    """Return the partition that a band belongs to, of all bands one after the other.

    Returns
    -------
    partition, number
        And which of its bands it is.
    """
    for part in partitions:
        if band < part.params.bands:
            return part, band
        band -= part.params.bands
    raise IndexError(band)
