"""The answer for a part: who is kept, or which pairs there are, copies included."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import CodedPairs, RowBlocks
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.stages.copies import first_copies, first_equal, with_copies
from fastlsh.stages.decisions import keep_or_drop
from fastlsh.stages.parts import part_of
from fastlsh.stages.signing import Signed
from fastlsh.stages.verification import verified_pairs
from fastlsh.texts import Texts


class Decided(NamedTuple):
    """Who is kept, by document."""

    kept: NDArray[np.int64]
    """int64 (n,): the kept document that proves this one to be a near-duplicate; itself if kept."""
    similarity: NDArray[np.float64]
    """float64 (n,): to it, or the share of this one that it contains."""
    limited: NDArray[np.int64]
    """int64, ascending: kept though they could not be compared with every candidate."""


def decide(
    texts: Texts,
    signed: Signed,
    order: NDArray[np.int64],
    fixed: NDArray[np.bool_],
    max_candidates: int,
    params: SearchParams,
    options: RunOptions,
    clock: Stopwatch | None = None,
) -> Decided:
    """Decide on each document of a part, highest priority first.

    Parameters
    ----------
    texts, signed
        The documents, with signatures and lengths; the band keys are taken.
    order
        int64 (n,): all documents, highest priority first.
    fixed
        bool (n,): kept in any case; they come first in `order`.
    max_candidates
        As in `deduplicate`.
    params, options
        Of the search.
    clock
        Takes the time of each step.
    """
    clock = Stopwatch() if clock is None else clock
    kept = options.numbers(len(texts))
    with clock("identical documents"):
        if params.finds_equal:
            assert signed.keys is not None
            first = first_equal(texts, signed.keys[0], order, params, options, signed.groups)
            return Decided(first, options.full(len(texts), 1, np.float64), np.empty(0, np.int64))
        first = first_copies(texts, signed.signatures, order, params, options, signed.groups)
    asked = first == kept
    copies = np.flatnonzero(~asked)
    asked[signed.empty] = False
    with clock("decisions"):
        part = part_of(texts, signed, order[asked[order]], params, options)
        decisions = keep_or_drop(part, fixed, max_candidates, params, options)
    similarity = options.full(len(texts), 1, np.float64)
    dropped = decisions.proof >= 0
    kept[decisions.documents[dropped]] = decisions.proof[dropped]
    similarity[decisions.documents] = decisions.similarity
    kept[copies] = kept[first[copies]]  # what held for the original
    similarity[copies] = np.nan if params.verify == "none" else similarity[first[copies]]
    return Decided(kept, similarity, np.sort(decisions.documents[decisions.unsure]))


def find_pairs(
    texts: Texts, signed: Signed, max_pairs: int, params: SearchParams, options: RunOptions
) -> CodedPairs:
    """Find all near-duplicate pairs of a part, sorted by (left, right).

    Parameters
    ----------
    texts, signed
        The documents, with signatures and lengths; the band keys are taken.
    max_pairs
        Raise TooManyPairsError if there are more.
    params, options
        Of the search.
    """
    first = first_copies(texts, signed.signatures, None, params, options, signed.groups)
    originals = np.flatnonzero(first == np.arange(len(first)))
    order = originals if len(originals) < len(first) else None
    part = part_of(texts, signed, order, params, options)
    blocks = RowBlocks(np.int64, np.float64)
    for code, similarity, passes in verified_pairs(part, params, options, max_pairs=max_pairs):
        blocks.append(code[passes], similarity[passes])
    identical = np.nan if params.verify == "none" else 1.0
    return with_copies(blocks, first, identical, max_pairs)
