"""Choosing bands and rows for a threshold, by the recall or as datasketch weighs errors."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from fastlsh.arguments import MAX_NUM_PERM, check_integer, check_number, check_recall, check_share
from fastlsh.banding.curve import Numbers, candidate_probability, quadrature


@lru_cache(256)
def least_weighted_area(
    threshold: float, num_perm: int, false_positive: float, false_negative: float
) -> tuple[int, int]:
    """Return the (bands, rows) of the least weighted sum of the areas beside the S-curve."""
    if not (
        false_positive >= 0
        and false_negative >= 0
        and 0 < false_positive + false_negative < math.inf
    ):
        raise ValueError(
            "weights must be finite, not negative and not both 0,"
            f" got ({false_positive}, {false_negative})"
        )
    nodes, node_weights = quadrature()
    return least_error(
        num_perm,
        num_perm,
        (nodes * threshold, node_weights * (false_positive * threshold)),
        (threshold + nodes * (1 - threshold), node_weights * (false_negative * (1 - threshold))),
    )


def least_error(
    num_perm: int, most_rows: int, below: tuple[Numbers, Numbers], above: tuple[Numbers, Numbers]
) -> tuple[int, int]:
    """Return the (bands, rows) of the least error; of equals, the fewest bands, then rows.

    Parameters
    ----------
    num_perm, most_rows
        bands * rows <= num_perm, rows <= most_rows.
    below, above
        (similarities, weights): the error is the sum over `below` of weight times the chance to
        be a candidate, and over `above` of weight times the chance to be none.
    """
    similarities = np.concatenate([below[0], above[0]])
    weights = np.concatenate([below[1], above[1]])
    no_match = 1 - _powers(similarities, most_rows)

    def errors(missed: Numbers) -> Numbers:
        missed[:, : len(below[0])] = 1 - missed[:, : len(below[0])]
        return np.asarray(missed @ weights)

    # For few rows all bands at once, for few bands all rows.
    few = min(math.isqrt(num_perm), most_rows)
    best = (math.inf, 1, 1)
    for rows in range(1, few + 1):
        error = errors(_powers(no_match[rows - 1], num_perm // rows))
        least = int(np.argmin(error))
        best = min(best, (float(error[least]), least + 1, rows))
    missed = np.ones_like(no_match[few:])
    for bands in range(1, num_perm // (few + 1) + 1):
        missed = missed[: num_perm // bands - few]
        if not len(missed):
            break
        missed = missed * no_match[few : few + len(missed)]
        error = errors(missed.copy())
        least = int(np.argmin(error))
        best = min(best, (float(error[least]), bands, few + 1 + least))
    return best[1], best[2]


def _powers(base: Numbers, count: int) -> Numbers:
    """Return base, base**2, ... base**count, by doubling."""
    powers = np.empty((count, len(base)))
    powers[0] = base
    done = 1
    while done < count:
        more = min(done, count - done)
        np.multiply(powers[:more], powers[done - 1], out=powers[done : done + more])
        done += more
    return powers


Choice = tuple[int, int]
"""Bands, rows."""


def by_recall(threshold: float, num_perm: int, recall: float) -> Choice:
    """Return the most rows, then the fewest bands, that find a pair at the threshold."""
    check_recall(recall)
    choice = _most_rows(threshold, num_perm, recall)
    if choice is not None:
        return choice
    least = _bands_for(threshold, 1, recall)
    remedy = _remedy(least, "use num_perm={} or more, or a lower recall")
    raise ValueError(
        f"num_perm={num_perm} cannot find pairs at {threshold} with probability {recall}: {remedy}"
    )


@lru_cache(256)
def _most_rows(threshold: float, num_perm: int, recall: float) -> Choice | None:
    for rows in range(num_perm, 0, -1):
        bands = _bands_for(threshold, rows, recall)
        if bands * rows <= num_perm:
            return bands, rows
    return None


def longer_signature(
    threshold: float, rows: int, recall: float, is_enough: Callable[[int, int], bool]
) -> str:
    """Return the advice to take the shortest signature whose bands and rows, by recall, suffice."""
    bands = 0
    while bands * rows <= MAX_NUM_PERM and not (bands and is_enough(bands, rows)):
        rows += 1
        bands = _bands_for(threshold, rows, recall)
    return _remedy(bands * rows, "num_perm={} would be better")


def _remedy(num_perm: int, advice: str) -> str:
    """Return the advice to take so many functions, or another where there are not so many."""
    if num_perm > MAX_NUM_PERM:
        return "no signature can be that long; exact_pairs() needs none"
    return advice.format(num_perm)


def _bands_for(threshold: float, rows: int, recall: float) -> int:
    """Return the fewest bands that find a pair at the threshold with probability `recall`."""
    match = threshold**rows
    if match == 1.0:
        return 1
    estimate = math.log1p(-recall) / math.log1p(-match) if match else math.inf
    if estimate > 2**52:  # more than any signature holds, and no float counts them by ones
        return int(min(estimate, 2.0**63))
    bands = max(1, math.ceil(estimate) - 1)
    while candidate_probability(threshold, bands, rows) < recall:
        bands += 1
    return bands


def by_weights(threshold: float, num_perm: int, weights: tuple[float, float]) -> Choice:
    """Return the choice of the least weighted area, the first of equals, as in datasketch."""
    if not hasattr(weights, "__len__") or len(weights) != 2:
        raise ValueError(
            f"weights must be two numbers, for false positives and negatives, got {weights}"
        )
    false_positive, false_negative = (check_number(weight, "weights") for weight in weights)
    return least_weighted_area(float(threshold), num_perm, false_positive, false_negative)


def steepest_bands(threshold: float, num_perm: int) -> float:
    """Return the b that solves (1 / b)^(b / num_perm) = threshold, a real number.

    With b bands of num_perm / b rows the S-curve is steepest near (1 / b)^(b / num_perm). Taking
    logarithms, b ln b = -num_perm ln threshold.

    Parameters
    ----------
    threshold
        Above 0 and at most 1.
    num_perm
        Length of the signature.

    Examples
    --------
    >>> round(steepest_bands(0.6, 100), 3)
    17.757
    """
    area = -check_integer(num_perm, "num_perm") * math.log(check_share(threshold, "threshold"))
    bands, lower = math.inf, 1.0 + area
    while lower < bands:  # Newton's steps from the right of a convex curve only fall
        bands = lower
        lower = (bands + area) / (1.0 + math.log(bands))
    return bands


def by_steepest(threshold: float, num_perm: int, rounding: str) -> Choice:
    """Return `steepest_bands`, rounded, and the rows that fit."""
    if rounding not in ("up", "down"):
        raise ValueError(f'rounding must be "up" or "down", got {rounding!r}')
    exact = steepest_bands(threshold, num_perm)
    bands = round(exact)
    if abs(exact - bands) > 1e-9 * bands:  # else a whole number, but for floating point
        bands = math.ceil(exact) if rounding == "up" else math.floor(exact)
    if bands > num_perm:
        raise ValueError(
            f"num_perm={num_perm} is too short for a curve that is steepest at {threshold}: "
            f"use num_perm={math.ceil(1 / threshold)} or more"
        )
    return bands, num_perm // bands
