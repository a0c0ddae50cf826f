"""What an `Evaluation` consists of: plain data, which all that shows it takes."""

from dataclasses import dataclass
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.evaluation.shares import EstimatorError, Share, or_null
from fastlsh.results import Pairs
from fastlsh.texts import Shingler


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
        return {
            "low": self.low,
            "high": self.high,
            "candidates": self.candidates.to_dict(),
            "predicted": or_null(self.predicted),
            "mean": or_null(self.mean),
            "recall": self.recall.to_dict(),
            "precision": self.precision.to_dict(),
            "estimator": self.estimator.to_dict(),
        }


@dataclass(frozen=True)
class EvaluationData:
    """The fields of an `Evaluation`, where each is described, and what follows from them."""

    threshold: float
    params: LSHParams
    num_perm: int
    seed: int
    scheme: str
    verify: str
    documents: int
    collection: int
    empty: int
    lowest: float
    bins: tuple[SimilarityBin, ...]
    recall: Share
    predicted_recall: float
    precision: Share
    candidates: Share
    estimator: EstimatorError
    missed: Pairs
    examples: Pairs
    shingler: Shingler
    seconds: dict[str, float]

    @property
    def is_sample(self) -> bool:
        """Whether only a part of the collection was evaluated."""
        return self.documents < self.collection
