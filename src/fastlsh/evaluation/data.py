"""What an `Evaluation` consists of: plain data, shares with their 95 % intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def plain_value(value: Any) -> Any:
    """Return a value for JSON, which has no NaN and no objects of classes."""
    if isinstance(value, tuple):
        return [plain_value(part) for part in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return None if isinstance(value, float) and math.isnan(value) else value


def plain_values(result: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return some attributes as values for JSON."""
    return {name: plain_value(getattr(result, name)) for name in names}


def range_text(low: float, high: float) -> str:
    """Return a step of similarity in words."""
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


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
        share = plain_value(self.value)
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
        return plain_values(self, ("pairs", "bias", "rmse", "ideal"))


@dataclass(frozen=True)
class SimilarityBin:
    """The pairs whose exact similarity is at least `low` and below `high`.

    The last bin holds the pairs of similarity 1; the first one goes from 0 to where the exact
    join begins.

    Attributes
    ----------
    low, high : float
        Its edges.
    mean : float
        The mean similarity of its pairs; NaN if it is empty, and in the first bin, where the
        similarities are not known.
    candidates : Share
        Of its pairs, those that became candidates: the observed S-curve.
    predicted : float
        The mean probability of that, by `LSHParams.probability`; NaN where `mean` is.
    recall : Share
        Of its pairs, those that the answer has. Below the threshold: the false ones.
    precision : Share
        Of the pairs that the answer has *with a reported similarity in this bin*, those that
        truly reach the threshold. With ``verify="none"`` the estimate is taken as reported.
    estimator : EstimatorError
        Of the signatures, for its pairs; none in the first bin.
    """

    low: float
    high: float
    mean: float
    candidates: Share
    predicted: float
    recall: Share
    precision: Share
    estimator: EstimatorError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.evaluate(["some text", "some text", "another"])
        >>> result.bins[-1].to_dict()["low"]
        1.0
        """
        names = "low", "high", "candidates", "predicted", "mean", "recall", "precision", "estimator"
        return plain_values(self, names)
