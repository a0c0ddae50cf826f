"""Pairs between two collections: what near_duplicates finds, without the pairs inside of either."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import RowBlocks, between, split_codes
from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams
from fastlsh.stages.answers import PartPairs, check_part, part_options
from fastlsh.stages.copies import first_copies, groups_of, with_copies
from fastlsh.stages.signing import Signed, part_of, sign
from fastlsh.stages.verification import verified_pairs

BATCH = 1 << 16
"""Pairs that are chosen from at a time."""


class Crossing(NamedTuple):
    """Pairs of a document and one of `against`, sorted by (document, against)."""

    document: NDArray[np.int64]
    against: NDArray[np.int64]
    similarity: NDArray[np.float64]


def find_crossing(
    signed: Signed, n_against: int, max_pairs: int, *, best: bool, one_to_one: bool
) -> Crossing:
    """Find the near-duplicate pairs of a part between two collections.

    Parameters
    ----------
    signed
        The documents of `against`, which come first, and the others; the band keys are taken.
    n_against
        How many the former are.
    max_pairs
        Raise TooManyPairsError if there are more pairs or candidates.
    best
        Of each document, only the pair with the highest similarity, the first one of equals.
    one_to_one
        Each document in one pair at most: the pairs with the highest similarity first.
    """
    n = len(signed.texts)
    # Copies are set aside in each collection by itself, so that each pair of originals is between.
    first = first_copies(signed, np.arange(n_against, n))
    theirs = first_copies(signed, np.arange(n_against))
    first[:n_against] = theirs[:n_against]
    originals = np.flatnonzero(first == np.arange(n))
    part = part_of(signed, originals if len(originals) < n else None)
    part = replace(part, families=between(part.families, n_against))
    blocks = RowBlocks(np.int64, np.float64)
    for code, similarity, passes in verified_pairs(part, max_pairs):
        blocks.append(code[passes], similarity[passes])
    if best:
        return _best_of_each(blocks, first, n_against)
    code, similarity = with_copies(blocks, first, None, max_pairs)
    against, document = split_codes(code)
    order = np.lexsort((against, document))
    crossing = Crossing(document[order], against[order], similarity[order])
    return _one_to_one(crossing) if one_to_one else crossing


def _one_to_one(crossing: Crossing) -> Crossing:
    order = np.lexsort((crossing.against, crossing.document, -crossing.similarity))
    documents: set[int] = set()
    others: set[int] = set()
    chosen = []
    for start, stop in batches(len(order), BATCH):
        rows = order[start:stop]
        sides = (side[rows].tolist() for side in (crossing.document, crossing.against))
        for row, document, other in zip(rows.tolist(), *sides, strict=True):
            if document not in documents and other not in others:
                documents.add(document)
                others.add(other)
                chosen.append(row)
    rows = np.sort(np.array(chosen, np.int64))
    return Crossing(crossing.document[rows], crossing.against[rows], crossing.similarity[rows])


def _best_of_each(blocks: RowBlocks, first: NDArray[np.int64], n_against: int) -> Crossing:
    code, similarity = blocks.take_sorted()
    against, document = split_codes(code)
    order = np.lexsort((against, -similarity, document))
    order = order[np.diff(document[order], prepend=-1) != 0]
    row = np.full(len(first), -1)  # of the pair of each original
    row[document[order]] = order
    row = row[first]
    row[:n_against] = -1
    matched = np.flatnonzero(row >= 0)
    return Crossing(matched, against[row[matched]], similarity[row[matched]])


def find_crossing_of_part(
    texts: Any,
    numbers: Any,
    params: SearchParams,
    *,
    n_against: int,
    best: bool,
    one_to_one: bool,
    max_pairs: int,
    estimates: bool,
    threads: int | None,
    scratch: Any,
    within: Any = None,
) -> PartPairs:
    """Find the pairs between two collections in a part, as `find_pairs_of_part` finds all pairs.

    Parameters
    ----------
    texts, numbers, params, max_pairs, estimates, threads, scratch, within
        As there.
    n_against, best, one_to_one
        As in `find_crossing`; the documents of `against` are those with lower numbers.

    Returns
    -------
    PartPairs
        (document, one of `against`), sorted.
    """
    options = part_options(threads, scratch)
    collection, number = check_part(texts, numbers)
    signed = sign(collection, params, options, groups_of(within, len(collection)))
    count = int(np.searchsorted(number, n_against))
    try:
        document, against, similarity = find_crossing(
            signed, count, max_pairs, best=best, one_to_one=one_to_one
        )
    except TooManyPairsError as error:
        raise error.numbered(number) from None
    estimate = signed.estimates(document, against) if estimates else None
    return PartPairs(number[document], number[against], similarity, estimate)
