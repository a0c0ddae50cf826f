"""A warning of needless comparisons, measured on the collection itself."""

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams, longer_signature
from fastlsh.errors import RecallWarning, warn_caller
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.search.short_shingles import random_pairs, warn_of_short_shingles
from fastlsh.sets import estimate_jaccard
from fastlsh.texts import Texts

PAIRS = 4096
"""Drawn at random: less than a millisecond."""

MANY = 50
"""Needless comparisons per document: longer signatures take less time than more of them."""


def warn_of_needless_comparisons(
    texts: Texts, signatures: NDArray[np.uint32], params: SearchParams, options: RunOptions
) -> None:
    """Warn if shingles are too short, or the signature for a low threshold, for these texts."""
    if warn_of_short_shingles(texts, signatures, params, options):
        return
    threshold, lsh, n = params.threshold, params.lsh, len(texts)
    if (n - 1) / 2 < MANY or params.bandings or not _is_by_recall(params):
        return
    pairs = random_pairs(signatures, PAIRS)
    similarity = estimate_jaccard(signatures, pairs, threads=1)
    equal = np.rint(similarity * params.num_perm)[similarity < threshold / 2]

    def needless(bands: int, rows: int) -> float:
        """Return how many comparisons each document takes part in, for nothing."""
        share = _found(equal, params.num_perm, bands, rows).sum() / max(len(pairs), 1)
        return float(share) * (n - 1) / 2

    each = needless(lsh.bands, lsh.rows)
    if each < MANY:
        return
    remedy = longer_signature(
        threshold, lsh.rows, params.recall, lambda *choice: needless(*choice) < MANY
    )
    warn_caller(
        f"about {each:,.0f} comparisons per document will be needless: {2 * each / (n - 1):.1%} of"
        f" all pairs share a bucket and are less than half as similar as the threshold"
        f" {threshold:g} ({lsh.bands} bands of {lsh.rows} rows); {remedy}",
        RecallWarning,
    )


def _is_by_recall(params: SearchParams) -> bool:
    """Whether bands and rows are those of the rule, and not chosen by the caller."""
    try:
        return params.lsh == LSHParams.for_threshold(
            params.threshold, params.num_perm, recall=params.recall
        )
    except ValueError:
        return False


def _found(equal: NDArray[np.float64], k: int, bands: int, rows: int) -> NDArray[np.float64]:
    """Return the chances of pairs with so many equal minima of k to become candidates.

    The chance that a band agrees, s^rows, is estimated without bias by falling factorials; a power
    of the estimate of s would be several times too large where s is small.
    """
    band = np.ones(len(equal))
    for i in range(rows):
        band *= np.maximum(equal - i, 0) / (k - i) if i < k else 0.0
    return np.asarray(1 - (1 - band) ** bands)
