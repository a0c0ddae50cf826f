"""`Evaluation`: what LSH found of what there is."""

import math
from dataclasses import dataclass
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.evaluation.shares import EstimatorError, Share
from fastlsh.results import Pairs


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
        """Return plain values for JSON."""
        return {
            "low": self.low,
            "high": self.high,
            "candidates": self.candidates.to_dict(),
            "predicted": None if math.isnan(self.predicted) else self.predicted,
            "mean": None if math.isnan(self.mean) else self.mean,
            "recall": self.recall.to_dict(),
            "precision": self.precision.to_dict(),
            "estimator": self.estimator.to_dict(),
        }


@dataclass(frozen=True)
class Evaluation:
    """The answer of `near_duplicates` beside the exact one; ``print()`` shows a table.

    Attributes
    ----------
    threshold : float
        What the answer was asked for.
    params : LSHParams
        Bands and rows.
    num_perm, seed, scheme, verify : int, int, str, str
        As they were given.
    documents, collection : int
        How many documents were evaluated, and how many there are: more if it is a sample.
    empty : int
        How many of the evaluated documents have no shingle.
    lowest : float
        The exact join found all pairs from this similarity on.
    bins : tuple of SimilarityBin
        By ascending similarity.
    recall : Share
        Of the pairs that reach the threshold, those that the answer has.
    predicted_recall : float
        Their mean probability to become candidates; NaN if there are none.
    precision : Share
        Of the pairs in the answer, those that reach the threshold.
    candidates : Share
        Of the pairs that were compared, those that reach the threshold: the rest was in vain.
    estimator : EstimatorError
        Of the signatures, for all pairs from `lowest` on.
    missed : Pairs
        The pairs that reach the threshold and are not in the answer, by their numbers in the
        collection.
    seconds : dict of str to float
        How long each stage took: signatures, candidates, verification, exact join.
    """

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
    seconds: dict[str, float]

    @property
    def is_sample(self) -> bool:
        """Whether only a part of the collection was evaluated."""
        return self.documents < self.collection

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the missed pairs as plain values, for JSON."""
        predicted = self.predicted_recall
        return {
            "threshold": self.threshold,
            "bands": self.params.bands,
            "rows": self.params.rows,
            "num_perm": self.num_perm,
            "seed": self.seed,
            "scheme": self.scheme,
            "verify": self.verify,
            "documents": self.documents,
            "collection": self.collection,
            "sample": self.is_sample,
            "empty": self.empty,
            "lowest": self.lowest,
            "recall": self.recall.to_dict(),
            "predicted_recall": None if math.isnan(predicted) else predicted,
            "precision": self.precision.to_dict(),
            "candidates": self.candidates.to_dict(),
            "estimator": self.estimator.to_dict(),
            "bins": [each.to_dict() for each in self.bins],
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        from fastlsh.evaluation.table import as_table

        return as_table(self)
