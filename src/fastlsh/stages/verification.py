"""Verify: the similarity of every candidate pair, and whether it reaches the threshold."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import candidate_blocks, pair_codes
from fastlsh.parallel import Stopwatch
from fastlsh.stages.signing import LinkedPart

Compare = Callable[
    [NDArray[Any], NDArray[Any]], tuple[NDArray[np.float64], NDArray[np.bool_]]
]  # fmt: skip


class Verified(NamedTuple):
    """A block of candidate pairs, each of them compared."""

    code: NDArray[np.int64]
    """The pairs, as `candidates.pair_codes` numbers them."""
    similarity: NDArray[np.float64]
    """Exact, -1 where it is below the threshold; or estimated; or NaN if nothing is verified."""
    passes: NDArray[np.bool_]
    """Whether the pair belongs to the answer."""


def verified_pairs(
    part: LinkedPart, max_pairs: int, clock: Stopwatch | None = None
) -> Iterator[Verified]:
    """Compare all candidate pairs of a part, block by block; one family after the other.

    Parameters
    ----------
    part
        What is compared.
    max_pairs
        Raise TooManyPairsError, before the first block, if there are more candidates.
    clock
        Takes the time of finding candidates, and of verifying them.

    Notes
    -----
    Memory: about 70 MB for sets and blocks, and more only for two documents that need it.
    """
    clock = Stopwatch() if clock is None else clock
    signed, documents = part.signed, part.families.documents
    compare = comparison(part)
    advance = signed.options.progress.stage("verified", len(documents))
    blocks = candidate_blocks(
        signed.signatures, signed.params.lsh, part.families, max_pairs=max_pairs
    )
    done = 0
    while True:
        with clock("candidates"):
            block = next(blocks, None)
            if block is None:
                break
            left, right = block
            reached = int(right[-1]) + 1 if len(right) else done
        with clock("verification"):
            similarity, passes = compare(left, right)
        advance(reached - done)
        done = reached
        yield Verified(pair_codes(documents[left], documents[right]), similarity, passes)
    if done < len(documents):
        advance(len(documents) - done)


def comparison(part: LinkedPart) -> Compare:
    """Return a function that compares pairs of rows of a part's families.

    It returns their similarity and whether they belong to the answer, as `Verified` has them.
    """
    signed, params, documents = part.signed, part.signed.params, part.families.documents
    sets, also_sets = part.sets(), part.also_sets()

    def compare_first(
        left: NDArray[Any], right: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if params.verify == "exact":
            similarity = sets.similarities(left, right, params.threshold)
            return similarity, similarity >= 0
        if params.verify == "signature":
            similarity = signed.estimates(documents[left], documents[right])
            return similarity, similarity >= params.threshold
        return np.full(len(left), np.nan), np.ones(len(left), np.bool_)

    def compare(
        left: NDArray[Any], right: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        similarity, passes = compare_first(left, right)
        if also_sets is not None:
            rows = np.flatnonzero(passes)
            also = also_sets.similarities(left[rows], right[rows], params.also_least)
            passes[rows] = also >= 0
        return similarity, passes

    return compare
