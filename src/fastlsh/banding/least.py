"""The bands and rows of the least error, as datasketch weighs errors."""

import math
from functools import lru_cache

import numpy as np

from fastlsh.banding.curve import Numbers, quadrature


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
        each = errors(_powers(no_match[rows - 1], num_perm // rows))
        least = int(np.argmin(each))
        best = min(best, (float(each[least]), least + 1, rows))
    missed = np.ones_like(no_match[few:])
    for bands in range(1, num_perm // (few + 1) + 1):
        missed = missed[: num_perm // bands - few]
        if not len(missed):
            break
        missed = missed * no_match[few : few + len(missed)]
        each = errors(missed.copy())
        least = int(np.argmin(each))
        best = min(best, (float(each[least]), bands, few + 1 + least))
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
