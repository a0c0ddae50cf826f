"""`Evaluation`: what LSH found of what there is; and its table of plain text."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.evaluation.data import EstimatorError, Share, SimilarityBin, plain_value, range_text
from fastlsh.html import escaped
from fastlsh.parallel import aligned, plural
from fastlsh.results import Pairs
from fastlsh.texts import Shingler

__all__ = ["Evaluation", "SimilarityBin"]  # pickles look for both here


IN_DICT = (
    "threshold", "bands", "rows", "num_perm", "seed", "scheme", "verify", "documents",
    "collection", "sample", "empty", "lowest", "recall", "predicted_recall", "precision",
    "candidates", "estimator", "bins", "seconds",
)  # fmt: skip
"""What `Evaluation.to_dict` has, in this order."""


@dataclass(frozen=True)
class Evaluation:
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pairs as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.evaluate(["some text", "some text", "another"]).to_dict()["recall"]["share"]
        1.0
        """
        shape = {"bands": self.params.bands, "rows": self.params.rows, "sample": self.is_sample}
        return {
            name: shape[name] if name in shape else plain_value(getattr(self, name))
            for name in IN_DICT
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


FOUND = ("similarity", "pairs", "candidates", "predicted", "rmse/ideal")
ANSWERED = ("similarity", "recall", "precision")


def as_table(result: Evaluation) -> str:
    """Return lines of at most 80 columns: what was evaluated, each bin twice, the whole."""
    params = result.params
    predicted = "predicted" if result.verify != "signature" else "as candidates predicted"
    lines = [
        documents_line(result),
        f"{params.bands} bands x {params.rows} rows of {result.num_perm} values"
        f" ({result.scheme}, seed {result.seed})",
        f"threshold {result.threshold:g}, verify {result.verify}",
        "",
        *aligned([FOUND, *map(_found, result.bins)]),
        "",
        *aligned([ANSWERED, *_answered(result)]),
        "",
        f"recall {share_and_interval(result.recall)} of {plural(result.recall.total, 'pair')},"
        f" {predicted} {number(result.predicted_recall)}",
        f"precision {share_and_interval(result.precision)}"
        f" of {plural(result.precision.total, 'pair')}",
        f"{plural(result.candidates.total, 'candidate')},"
        f" {result.candidates.total - result.candidates.hits:,} of them compared needlessly",
        f"estimates from {result.lowest:g} on: bias {_signed(result.estimator.bias)},"
        f" rmse {number(result.estimator.rmse)} (ideal {number(result.estimator.ideal)})",
        ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result.seconds.items()),
    ]
    return "\n".join(lines)


def documents_line(result: Evaluation) -> str:
    """Return how many documents were evaluated."""
    if not result.is_sample:
        return f"{plural(result.documents, 'document')}, {result.empty:,} empty"
    return (
        f"a sample of {result.documents:,} of {plural(result.collection, 'document')}"
        f" (seed {result.seed}), {result.empty:,} empty"
    )


def _found(step: SimilarityBin) -> tuple[str, ...]:
    error = step.estimator
    return (
        range_text(step.low, step.high),
        f"{step.candidates.total:,}",
        share_and_interval(step.candidates),
        number(step.predicted),
        number(error.rmse / error.ideal, 2) if error.pairs and error.ideal else "-",
    )


def _answered(result: Evaluation) -> Iterator[tuple[str, ...]]:
    for step in result.bins:
        expected = step.low >= result.threshold  # below it an answer has nothing to find
        recall, precision = (
            share_and_interval(step.recall) if expected else "-",
            share_and_interval(step.precision),
        )
        if (recall, precision) != ("-", "-"):
            yield range_text(step.low, step.high), recall, precision


def share_and_interval(share: Share) -> str:
    """Return a share with its 95 % interval, or a dash for the share of nothing."""
    if not share.total:
        return "-"
    low, high = share.interval
    decimals = 4
    if share.hits < share.total:  # what is counted and not all does not look like 1
        decimals = max(4, math.ceil(math.log10(share.total / (share.total - share.hits))))
    return f"{number(share.value, decimals)} ({number(low)} to {number(high)})"


def number(value: float, decimals: int = 4) -> str:
    """Return a number with some decimals; a very small one in scientific notation."""
    if math.isnan(value):
        return "-"
    if 0 < value < 0.001:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.5f}"
