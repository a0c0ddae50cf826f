"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import RecallWarning

MANY_CANDIDATES = 0.3
"""More than this share of the pairs at half the threshold as candidates is worth a warning."""


@dataclass(frozen=True)
class LSHParams:
    """A signature cut into `bands` bands of `rows` rows.

    A pair is a candidate if all rows of some band are equal. With similarity s that happens with
    probability 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets,
    section 3.4).

    Parameters
    ----------
    bands, rows
        At least 1 each; bands * rows minima of a signature are used.
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        if not all(isinstance(n, (int, np.integer)) for n in (self.bands, self.rows)):
            raise TypeError(f"bands and rows must be integers, got {self.bands!r}, {self.rows!r}")
        if self.bands < 1 or self.rows < 1:
            raise ValueError(
                f"bands and rows must be at least 1, got bands={self.bands}, rows={self.rows}"
            )

    def probability(self, similarity: float) -> float:
        """Return the probability that a pair of this Jaccard similarity becomes a candidate."""
        if not 0.0 <= similarity <= 1.0:
            raise ValueError(f"similarity must be between 0 and 1, got {similarity}")
        return _probability(similarity, self.bands, self.rows)

    @property
    def threshold(self) -> float:
        """The similarity (1 / bands)^(1 / rows), near which the curve is steepest."""
        return float((1 / self.bands) ** (1 / self.rows))

    def false_positive_area(self, threshold: float) -> float:
        """Return the area under the curve left of `threshold`: candidates checked in vain."""
        return float(_areas(_check_threshold(threshold), self.bands, self.rows)[0])

    def false_negative_area(self, threshold: float) -> float:
        """Return the area above the curve right of `threshold`: pairs that are missed."""
        return float(_areas(_check_threshold(threshold), self.bands, self.rows)[1])

    @classmethod
    def for_threshold(
        cls,
        threshold: float,
        num_perm: int = 128,
        *,
        recall: float = 0.98,
        weights: tuple[float, float] | None = None,
    ) -> "LSHParams":
        """Choose bands and rows for a threshold.

        The most rows for which some number of bands finds a pair at the threshold with
        probability `recall`, and then the fewest such bands: as few false candidates as that
        recall allows.

        Parameters
        ----------
        threshold
            Jaccard similarity, above 0 and at most 1.
        num_perm
            Length of the signature.
        recall
            Probability of finding a pair exactly at the threshold, between 0 and 1; more similar
            pairs are found more surely.
        weights
            Instead of `recall`: weights (false positives, false negatives) of the two areas whose
            weighted sum is made least, as datasketch chooses.

        Raises
        ------
        ValueError
            No choice reaches `recall`; the message names the least `num_perm` that does.

        Warns
        -----
        RecallWarning
            More than 30 % of the pairs at half the threshold would be candidates.
        """
        _check_threshold(threshold)
        if num_perm < 1:
            raise ValueError(f"num_perm must be at least 1, got {num_perm}")
        if weights is not None:
            return cls(*_least_weighted_area(threshold, num_perm, *weights))
        if not 0.0 < recall < 1.0:
            raise ValueError(f"recall must lie between 0 and 1 (exclusive), got {recall}")
        for rows in range(num_perm, 0, -1):
            bands = _bands_for(threshold, rows, recall)
            if bands * rows <= num_perm:
                break
        else:
            least = _bands_for(threshold, 1, recall)
            raise ValueError(
                f"num_perm={num_perm} cannot find pairs at {threshold} with probability {recall}: "
                f"use num_perm={least} or more, or a lower recall"
            )
        params = cls(bands, rows)
        low = params.probability(threshold / 2)
        if low > MANY_CANDIDATES:
            while _probability(threshold / 2, bands, rows) > MANY_CANDIDATES:
                rows += 1
                bands = _bands_for(threshold, rows, recall)
            warnings.warn(
                f"{low:.0%} of the pairs at similarity {threshold / 2:g} will be compared in vain "
                f"({params.bands} bands of {params.rows} rows); num_perm={bands * rows} is better",
                RecallWarning,
                stacklevel=2,
            )
        return params


def _check_threshold(threshold: float) -> float:
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
    return threshold


def _probability(similarity: float, bands: int, rows: int) -> float:
    match = float(similarity) ** rows
    return 1.0 if match == 1.0 else -math.expm1(bands * math.log1p(-match))


def _bands_for(threshold: float, rows: int, recall: float) -> int:
    """Return the fewest bands that find a pair at the threshold with probability `recall`."""
    match = threshold**rows
    if match == 1.0:
        return 1
    estimate = math.log1p(-recall) / math.log1p(-match) if match else math.inf
    if estimate > 2**52:  # more than any signature holds, and no float counts them by ones
        return int(min(estimate, 2.0**63))
    bands = max(1, math.ceil(estimate) - 1)
    while _probability(threshold, bands, rows) < recall:
        bands += 1
    return bands


def _areas(threshold: float, bands: int, rows: int | NDArray[np.int64]) -> NDArray[np.float64]:
    """Integrate by a Gauss-Legendre rule: (false positives, false negatives)."""
    nodes, node_weights = _rule()
    below = nodes * threshold
    above = threshold + nodes * (1 - threshold)
    rows = np.asarray(rows)[..., None]
    false_positives = (1 - (1 - below**rows) ** bands) @ node_weights * threshold
    false_negatives = ((1 - above**rows) ** bands) @ node_weights * (1 - threshold)
    return np.array([false_positives, false_negatives])


@lru_cache(1)
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return (nodes + 1) / 2, weights / 2


def _least_weighted_area(
    threshold: float, num_perm: int, false_positive: float, false_negative: float
) -> tuple[int, int]:
    """Try every choice; the first of equals wins, as in datasketch."""
    if false_positive < 0 or false_negative < 0 or false_positive + false_negative == 0:
        raise ValueError(
            f"weights must not be negative nor both 0, got ({false_positive}, {false_negative})"
        )
    best = (math.inf, 1, 1)
    for bands in range(1, num_perm + 1):
        rows = np.arange(1, num_perm // bands + 1)
        areas = _areas(threshold, bands, rows)
        errors = false_positive * areas[0] + false_negative * areas[1]
        least = int(np.argmin(errors))
        if errors[least] < best[0]:
            best = (float(errors[least]), bands, least + 1)
    return best[1], best[2]
