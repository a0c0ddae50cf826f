"""`Evaluation`: what LSH found of what there is."""

from dataclasses import dataclass
from typing import Any

from fastlsh.evaluation.data import EvaluationData, SimilarityBin
from fastlsh.evaluation.shares import or_null
from fastlsh.evaluation.table import as_table
from fastlsh.html import escaped
from fastlsh.parallel import plural

__all__ = ["Evaluation", "SimilarityBin"]  # pickles look for both here


@dataclass(frozen=True)
class Evaluation(EvaluationData):
    """Compares the answer of `near_duplicates` with the exact one; ``print()`` shows a table.

    Attributes
    ----------
    threshold : float
        The threshold of the answer.
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
        The share of the pairs reaching the threshold that are in the answer.
    predicted_recall : float
        The mean probability that these pairs become candidates; NaN if there are none.
    precision : Share
        The share of the pairs in the answer that reach the threshold.
    candidates : Share
        The share of the compared pairs that reach the threshold.
    estimator : EstimatorError
        The errors of the estimates from signatures, for all pairs from `lowest` on.
    missed : Pairs
        The pairs that reach the threshold and are not in the answer, by their numbers in the
        collection.
    examples : Pairs
        Up to four pairs of each tenth of similarity from `lowest` on, to choose a threshold by
        eye: `report` shows their texts.
    shingler : Shingler
        What documents were taken as sets of.
    seconds : dict of str to float
        How long each stage took: signatures, candidates, verification, exact join.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pairs as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.evaluate(["some text", "some text", "another"]).to_dict()["recall"]["share"]
        1.0
        """
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
            "predicted_recall": or_null(self.predicted_recall),
            "precision": self.precision.to_dict(),
            "candidates": self.candidates.to_dict(),
            "estimator": self.estimator.to_dict(),
            "bins": [each.to_dict() for each in self.bins],
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {plural(self.documents, 'document')} at {self.threshold:g}: recall"
            f" {self.recall.value:.4f}, precision {self.precision.value:.4f}>"
        )

    def __str__(self) -> str:
        return as_table(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return f"<pre>{escaped(str(self))}</pre>"
