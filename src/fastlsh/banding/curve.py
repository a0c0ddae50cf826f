"""The S-curve 1 - (1 - s^rows)^bands, its inverse and the areas beside it."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair becomes a candidate."""
    match = float(similarity) ** rows
    return 1.0 if match == 1.0 else -math.expm1(bands * math.log1p(-match))


def missed(similarity: Numbers, bands: int, rows: int) -> Numbers:
    """Return the probability that pairs become none, accurate where it is tiny."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(bands * np.log1p(-(similarity**rows))))


def candidate_probabilities(similarity: Numbers, bands: int, rows: int) -> Numbers:
    """Return the probability that each pair becomes a candidate."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(bands * np.log1p(-(similarity**rows))))


def similarity_found(probability: Numbers, bands: int, rows: int) -> Numbers:
    """Return the similarity that is found with each probability."""
    with np.errstate(divide="ignore"):
        match = -np.expm1(np.log1p(-probability) / bands)
    return np.asarray(match ** (1 / rows))


def shares(values: ArrayLike, name: str) -> Numbers:
    """Return numbers between 0 and 1 as an array, or raise ValueError."""
    array = np.asarray(values, np.float64)
    outside = array[~((array >= 0.0) & (array <= 1.0))]
    if outside.size:
        raise ValueError(f"{name} must be between 0 and 1, got {outside.flat[0]}")
    return array


def plain(array: Numbers) -> Any:
    """Return a float for an array without a dimension, others as they are."""
    return array if array.ndim else float(array)


def areas(threshold: float, bands: int, rows: int) -> tuple[float, float]:
    """Integrate the curve: (false positives, false negatives)."""
    nodes, node_weights = quadrature()
    below = nodes * threshold
    above = threshold + nodes * (1 - threshold)
    false_positives = (1 - (1 - below**rows) ** bands) @ node_weights * threshold
    false_negatives = ((1 - above**rows) ** bands) @ node_weights * (1 - threshold)
    return float(false_positives), float(false_negatives)


def mean_found(edges: NDArray[np.float64], bands: int, rows: int) -> NDArray[np.float64]:
    """Return the mean of the curve between each two edges; its value where they are equal."""
    nodes, node_weights = quadrature()
    inside = edges[:-1, None] + nodes * np.diff(edges)[:, None]
    mean: NDArray[np.float64] = (1 - (1 - inside**rows) ** bands) @ node_weights
    return mean


@lru_cache(1)
def quadrature() -> tuple[Numbers, Numbers]:
    """Return nodes and weights that integrate over [0, 1]: Clenshaw-Curtis in 8 equal parts.

    In closed form, where a Gauss rule needs an eigenvalue solver (30 ms to wake up).
    """
    intervals, parts = 24, 8
    angles = np.arange(intervals + 1) * (np.pi / intervals)
    even = np.arange(2, intervals + 1, 2)
    factors = np.where(even == intervals, 1.0, 2.0) / (even**2 - 1)
    weights = (1 - np.cos(np.outer(angles, even)) @ factors) * (2 / intervals)
    weights[[0, -1]] /= 2
    nodes = (1 - np.cos(angles)) / 2 + np.arange(parts)[:, None]
    return nodes.ravel() / parts, np.tile(weights / (2 * parts), parts)
