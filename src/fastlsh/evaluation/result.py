"""What LSH found of what there is, with one banding or with several; and the tables of text."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.html import escaped
from fastlsh.parallel import aligned, plural
from fastlsh.results import Pairs
from fastlsh.texts import Shingler

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
        params = self.params
        predicted = "predicted" if self.verify != "signature" else "as candidates predicted"
        lines = [
            documents_line(self),
            f"{params.bands} bands x {params.rows} rows of {self.num_perm} values"
            f" ({self.scheme}, seed {self.seed})",
            f"threshold {self.threshold:g}, verify {self.verify}",
            "",
            *aligned([FOUND, *map(_found, self.bins)]),
            "",
            *aligned([ANSWERED, *_answered(self)]),
            "",
            f"recall {share_and_interval(self.recall)} of {plural(self.recall.total, 'pair')},"
            f" {predicted} {number(self.predicted_recall)}",
            f"precision {share_and_interval(self.precision)}"
            f" of {plural(self.precision.total, 'pair')}",
            f"{plural(self.candidates.total, 'candidate')},"
            f" {self.candidates.total - self.candidates.hits:,} of them compared needlessly",
            f"estimates from {self.lowest:g} on: bias {_signed(self.estimator.bias)},"
            f" rmse {number(self.estimator.rmse)} (ideal {number(self.estimator.ideal)})",
            ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in self.seconds.items()),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return f"<pre>{escaped(str(self))}</pre>"


FOUND = ("similarity", "pairs", "candidates", "predicted", "rmse/ideal")
ANSWERED = ("similarity", "recall", "precision")


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


COLUMNS = ("bands x rows", "candidates", "pairs found", "recall", "predicted")


@dataclass(frozen=True)
class BandingComparison:
    """The evaluations of several bandings of the same signatures; ``print()`` shows a table.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        In the order of the bandings. Iteration and `len` are those of this tuple.
    """

    evaluations: tuple[Evaluation, ...]

    def __len__(self) -> int:
        return len(self.evaluations)

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.evaluations)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluations as plain values, for JSON.

        Examples
        --------
        >>> import fastlsh
        >>> texts = ["some text", "some text"]
        >>> compared = fastlsh.compare_bandings(texts, bandings=[(16, 8), (32, 4)])
        >>> [each["bands"] for each in compared.to_dict()["bandings"]]
        [16, 32]
        """
        return {"bandings": [evaluation.to_dict() for evaluation in self.evaluations]}

    def __str__(self) -> str:
        first = self.evaluations[0]
        pairs = first.recall.total
        lines = [
            documents_line(first),
            f"{first.num_perm} values ({first.scheme}, seed {first.seed}),"
            f" threshold {first.threshold:g}, verify {first.verify}",
            f"{plural(pairs, 'pair')} reach{'es' * (pairs == 1)} the threshold",
            "",
            *aligned([COLUMNS, *map(_row, self.evaluations)]),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return f"<pre>{escaped(str(self))}</pre>"


def _row(result: Evaluation) -> tuple[str, ...]:
    return (
        f"{result.params.bands} x {result.params.rows}",
        f"{result.candidates.total:,}",
        f"{result.recall.hits:,}",
        share_and_interval(result.recall),
        number(result.predicted_recall),
    )
