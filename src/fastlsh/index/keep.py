"""The keep-or-drop step: documents in priority order against the kept ones of their buckets."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.buckets import linked_bands
from fastlsh.parallel import Progress, batches, run
from fastlsh.settings import Settings
from fastlsh.similarity import ShingleSets

BLOCK = 1024
"""Documents whose candidates are looked up and compared in parallel, before the next decisions."""


class Decisions(NamedTuple):
    """What became of the documents, by their place in the priority order."""

    proof: NDArray[np.int64]
    """int64 (m,): the place of the kept document that is like this one; -1: kept."""
    similarity: NDArray[np.float64]
    """float64 (m,): to it; 1 for kept documents."""
    unsure: int
    """How many were kept although they could not be compared with every candidate."""


def keep_or_drop(
    signatures: NDArray[np.uint32],
    settings: Settings,
    sets: ShingleSets,
    order: NDArray[np.int64],
    fixed: int,
    max_candidates: int,
    progress: Progress,
) -> Decisions:
    """Decide on each document, in priority order; linear in their number.

    A document is dropped if its similarity with a kept one of its buckets reaches the threshold.
    The first 64 kept documents of a bucket are candidates; if they are more than
    `max_candidates`, those with the most shared bands, then the most equal minima, then the
    highest priority. The proof is the first among them in priority order.

    Parameters
    ----------
    signatures, settings, sets
        Of the collection.
    order
        int64 (m,): the documents, highest priority first, without copies and empty ones.
    fixed
        The first so many are kept without being asked.
    max_candidates
        At most so many comparisons for a document.
    progress
        Told after each block.
    """
    proof = np.full(len(order), -1, np.int64)
    similarity = np.ones(len(order))
    root = np.empty((settings.params.bands, len(order)), np.int32)
    for band, previous in enumerate(linked_bands(signatures, settings.params, order)):
        _kernels.roots(previous, root[band])
    company = np.flatnonzero((root >= 0).any(axis=0))       # the others are kept
    root = _renumbered(root, company, len(order))
    documents = order[company]
    keeper = _kernels.Keeper(
        root, signatures, documents, settings.threshold, settings.verify, max_candidates
    )
    known = int(np.searchsorted(company, fixed))
    keeper.keep_all(0, known)
    room = np.empty(max(1 << 20, min(64 * len(root), max_candidates)), np.int32)
    advance = progress.stage("decisions", len(documents))
    advance(known)
    unsure = 0
    first = known
    while first < len(documents):
        last, hit, found, kept_unsure = _decide_block(
            keeper, sets, settings, documents, first, room
        )
        dropped = np.flatnonzero(hit >= 0)
        proof[company[first + dropped]] = company[hit[dropped]]
        similarity[company[first + dropped]] = found[dropped]
        unsure += kept_unsure
        advance(last - first)
        first = last
    return Decisions(proof, similarity, unsure)


def _decide_block(
    keeper: _kernels.Keeper,
    sets: ShingleSets,
    settings: Settings,
    documents: NDArray[np.int64],
    first: int,
    room: NDArray[np.int32],
) -> tuple[int, NDArray[np.int32], NDArray[np.float64], int]:
    """Decide on up to `BLOCK` documents; return (end, hit, similarity, kept unsure)."""
    last = min(first + BLOCK, len(documents))
    while True:
        offsets = np.empty(last - first + 1, np.int64)
        end = keeper.candidates(first, last, room, offsets)
        needed = np.unique(
            np.concatenate([documents[first:end], documents[room[: offsets[end - first]]]])
        )
        if settings.verify != _kernels.BY_SETS or end - first == 1 or sets.fits(needed):
            break
        last = first + (end - first) // 2
    offsets = offsets[: end - first + 1]
    if settings.verify == _kernels.BY_SETS:
        sets.ensure(needed)
    hit = np.empty(end - first, np.int32)
    found = np.empty(end - first)

    def compare(start: int, stop: int) -> None:
        keeper.first_hits(
            first + start, first + stop, room, offsets[start : stop + 1],
            sets.hashes, sets.start, sets.count, hit[start:stop], found[start:stop],
        )  # fmt: skip

    run(compare, batches(end - first, 128), settings.hasher.threads)
    unsure = keeper.settle(first, end, sets.hashes, sets.start, sets.count, hit, found)
    if settings.verify == _kernels.NOT_VERIFIED:
        found[hit >= 0] = np.nan
    return end, hit, found, unsure


def _renumbered(
    root: NDArray[np.int32], company: NDArray[np.int64], n: int
) -> NDArray[np.int32]:
    """Return the roots of the documents in company, counted among them."""
    place = np.full(n + 1, -1, np.int32)        # place[-1]: a document alone in its bucket
    place[company] = np.arange(len(company), dtype=np.int32)
    return np.ascontiguousarray(place[root[:, company]])
