"""Checks of the estimates: bias, variance, each value by itself and beside the others."""

import numpy as np

from bench.conformance.data import Numbers
from bench.conformance.lab import Lab
from bench.conformance.limits import (
    correlation_limit,
    count_excess,
    count_limit,
    normal_limit,
    spread_limit,
)

SIZES = (48, 999)
SIMILARITIES = (0.2, 0.5, 0.8)
CELLS = [(size, similarity) for size in SIZES for similarity in SIMILARITIES]
Outcome = tuple[bool, str, Numbers]
"""Whether it passed, what was measured in words, and in numbers."""


def bias(lab: Lab) -> Outcome:
    """Check that the mean estimate is the similarity, whatever it is."""
    limit = normal_limit(len(CELLS))
    worst, said = -1.0, ""
    numbers: Numbers = {}
    for size, similarity in CELLS:
        cell, found = lab.measured(size, similarity)
        j = cell.similarity
        error = float(found.estimates.mean()) - j
        z = error / np.sqrt(j * (1 - j) / found.num_perm / len(found.estimates))
        if not abs(z) <= worst:
            worst = abs(z) if z == z else np.inf
            said = (
                f"largest mean error {error:+.4f} ({cell}), {abs(z):.1f} standard errors; "
                f"limit {limit:.1f}"
            )
            numbers = {"z": float(z), "error": error, "limit": limit}
    return worst <= limit, said, numbers


def variance(lab: Lab) -> Outcome:
    """Check that estimates spread no more than those of independent functions: J (1 - J) / k."""
    worst, said = -np.inf, ""
    numbers: Numbers = {}
    for size, similarity in CELLS:
        cell, found = lab.measured(size, similarity)
        j, k = cell.similarity, found.num_perm
        q = j * (1 - j)
        ratio = float(found.estimates.var(ddof=1)) / (q / k)
        limit = spread_limit(len(found.estimates), max(0.0, (1 - 6 * q) / (k * q)), len(CELLS))
        if not ratio / limit <= worst:
            worst = ratio / limit if ratio == ratio else np.inf
            said = f"variance {ratio:.2f} of J (1 - J) / {k} ({cell}); limit {limit:.2f}"
            numbers = {"ratio": ratio, "limit": limit}
    return worst <= 1, said, numbers


def each_value(lab: Lab) -> Outcome:
    """Check that each value is equal with the probability of the similarity."""
    worst, limit, said = -1.0, 0.0, ""
    numbers: Numbers = {}
    for size, similarity in CELLS:
        cell, found = lab.measured(size, similarity)
        assert found.equal is not None
        trials, k = found.equal.shape
        hits = found.equal.sum(axis=0)
        limit = count_limit(k * len(CELLS))
        excess = count_excess(hits, trials, cell.similarity)
        slot = int(excess.argmax())
        if excess[slot] > worst:
            worst = float(excess[slot])
            said = (
                f"value {slot} is equal in {hits[slot]:,} of {trials:,} pairs, expected "
                f"{trials * cell.similarity:,.0f} ({cell}); -log p {worst:.1f}, limit {limit:.1f}"
            )
            numbers = {"slot": slot, "share": float(hits[slot] / trials), "excess": worst,
                       "limit": limit}  # fmt: skip
    return worst <= limit, said, numbers


def independent_values(lab: Lab) -> Outcome:
    """Check that no two values are equal together more often than by chance."""
    cell, found = lab.measured(SIZES[-1], 0.5)
    assert found.equal is not None
    trials, k = found.equal.shape
    if k < 2:
        return True, "one value has nothing to depend on", {}
    j = cell.similarity
    centred = found.equal - np.float32(j)
    # Fewer than 2^24 products of 1/4: float32 is exact enough by far.
    correlation = (centred.T @ centred) / (trials * j * (1 - j))
    np.fill_diagonal(correlation, 0)
    place = int(np.abs(correlation).argmax())
    first, second = sorted(divmod(place, k))
    most = float(correlation.flat[place])
    limit = correlation_limit(trials, j, k * (k - 1) // 2)
    said = (
        f"largest correlation {most:+.3f}, of the values {first} and {second} ({cell}); "
        f"limit {limit:.3f}"
    )
    return abs(most) <= limit, said, {"correlation": most, "limit": limit}
