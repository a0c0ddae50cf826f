"""Bands and rows for pairs of which one contains the other, by the ratio of their sizes."""

from fastlsh.arguments import check_containment, check_integer
from fastlsh.banding.choice import by_recall
from fastlsh.banding.params import LSHParams

MOST_STEPS = 40
"""Sizes are at most 2^40 times as large as others."""


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
    check_containment(containment)
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
