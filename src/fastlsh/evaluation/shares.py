"""Shares that were counted, with their 95 % intervals, and errors of estimates."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def or_null(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of n, for 95 %; (0, 1) of nothing."""
    if not n:
        return 0.0, 1.0
    middle = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n * n))
    low = 0.0 if share == 0 else max(middle - half, 0.0)
    return low, 1.0 if share == 1 else min(middle + half, 1.0)


@dataclass(frozen=True)
class Share:
    """So many of so many.

    The interval is Wilson's (1927) for 95 %: good for few pairs and near 0 and 1. It takes the
    pairs as independent. Pairs of one family of documents are not quite: then it is too narrow.
    """

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.hits / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval; (0, 1) of nothing."""
        return wilson(self.value, self.total)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values for JSON; null for the share of nothing.

        Examples
        --------
        >>> Share(hits=3, total=4).to_dict()["share"]
        0.75
        """
        low, high = self.interval
        share = or_null(self.value)
        return {"hits": self.hits, "total": self.total, "share": share, "low": low, "high": high}


@dataclass(frozen=True)
class EstimatorError:
    """How far the share of equal minima is from the exact similarity.

    Attributes
    ----------
    pairs : int
        How many were estimated.
    bias, rmse : float
        Mean, and root mean square, of estimate - similarity; NaN without pairs.
    ideal : float
        The RMSE of independent hash functions: root of the mean of J (1 - J) / num_perm.
    """

    pairs: int
    bias: float
    rmse: float
    ideal: float

    @classmethod
    def of(
        cls, estimate: NDArray[np.float64], similarity: NDArray[np.float64], num_perm: int
    ) -> "EstimatorError":
        """Compare estimates with the truth.

        Examples
        --------
        >>> EstimatorError.of(np.array([0.75]), np.array([0.5]), 128).bias
        0.25
        """
        if not len(similarity):
            return cls(0, math.nan, math.nan, math.nan)
        error = estimate - similarity
        variance = float((similarity * (1 - similarity)).mean()) / num_perm
        rmse = math.sqrt(float((error * error).mean()))
        return cls(len(error), float(error.mean()), rmse, math.sqrt(max(variance, 0.0)))

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain values for JSON; null where there is none.

        Examples
        --------
        >>> EstimatorError.of(np.array([0.75]), np.array([0.5]), 128).to_dict()["bias"]
        0.25
        """
        return {
            "pairs": self.pairs,
            "bias": or_null(self.bias),
            "rmse": or_null(self.rmse),
            "ideal": or_null(self.ideal),
        }
