"""Counting: candidates and answer against the truth, by similarity, and of samples."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import Spans
from fastlsh.evaluation.result import EstimatorError, Share, SimilarityBin
from fastlsh.parameters import SearchParams
from fastlsh.texts import Texts

MOST = 20_000
"""A larger collection is evaluated by a sample of so many, unless asked otherwise."""


class SomeTexts(Texts):
    """The given documents of a collection, in their order."""

    def __init__(self, texts: Texts, documents: NDArray[np.int64]) -> None:
        self._texts = texts
        self._documents = documents

    def __len__(self) -> int:
        return len(self._documents)

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        return self._texts.take(self._documents[documents], as_bytes)


def sampled(texts: Texts, sample: int | None, seed: int) -> tuple[Texts, NDArray[np.int64]]:
    """Return the texts to evaluate and their numbers: all, or `sample` of them (None: `MOST`).

    Every set of so many documents is equally likely; the same seed draws the same one.
    """
    n, size = len(texts), MOST if sample is None else sample
    if size >= n:
        return texts, np.arange(n)
    # The stream of RandomState is frozen by numpy's policy (NEP 19).
    documents = np.random.RandomState(seed).permutation(n)[:size].astype(np.int64)
    documents.sort()
    return SomeTexts(texts, documents), documents


EXAMPLES = 4
"""Of each step, at most."""


def similarity_steps(lowest: float) -> list[float]:
    """Return where each step begins: `lowest`, each tenth above it, and 1.

    Examples
    --------
    >>> similarity_steps(0.75)
    [0.75, 0.8, 0.9, 1.0]
    """
    return [lowest, *(n / 10 for n in range(1, 11) if n / 10 > lowest + 1e-9)]


def example_rows(similarity: NDArray[np.float64], lowest: float) -> NDArray[np.int64]:
    """Return the numbers of some pairs of each step, evenly spread over their similarities."""
    order = np.argsort(similarity, kind="stable")
    starts = np.searchsorted(similarity[order], similarity_steps(lowest)).tolist()
    chosen = [
        np.unique(np.linspace(start, stop - 1, EXAMPLES).round().astype(np.int64))
        for start, stop in pairwise([*starts, len(order)])
        if stop > start
    ]
    rows: NDArray[np.int64] = order[np.concatenate([np.empty(0, np.int64), *chosen])]
    return rows


WIDTH = 0.05
"""Of a bin, but where the threshold or the lowest similarity cuts."""


class Answer(NamedTuple):
    """The candidates, sorted."""

    code: NDArray[np.int64]
    """As `candidates.pair_codes` numbers pairs."""
    reported: NDArray[np.float64]
    """The similarity that decides, exact or estimated; -1 where it is below the threshold."""
    returned: NDArray[np.bool_]
    """Whether the pair is in the answer."""


class Truth(NamedTuple):
    """All pairs from some similarity on, sorted."""

    code: NDArray[np.int64]
    similarity: NDArray[np.float64]
    estimate: NDArray[np.float64]
    """The share of equal minima."""


class Counts(NamedTuple):
    """The parts of an `Evaluation` that are counted."""

    bins: tuple[SimilarityBin, ...]
    recall: Share
    predicted_recall: float
    precision: Share
    candidates: Share
    estimator: EstimatorError


def edges_of_bins(lowest: float, threshold: float) -> NDArray[np.float64]:
    """Return where each bin begins: 0, `lowest`, then steps of `WIDTH`, the threshold, and 1."""
    steps = np.arange(1, round(1 / WIDTH)) / round(1 / WIDTH)
    apart = np.abs(steps[:, None] - [lowest, threshold]).min(axis=1) > 1e-9
    inner = steps[(steps > lowest) & apart]
    return np.unique(np.concatenate([[0.0, lowest, threshold, 1.0], inner]))


def counted(
    answer: Answer, truth: Truth, params: SearchParams, lowest: float, documents: int
) -> tuple[Counts, NDArray[np.int64]]:
    """Compare an answer with the truth.

    Parameters
    ----------
    answer, truth
        The pairs that were found, and all pairs.
    params
        The parameters of the search.
    lowest
        The similarity from which the truth has all pairs.
    documents
        The number of documents that are not empty.

    Returns
    -------
    Counts
    ndarray of int64
        Which pairs of the truth reach the threshold and are not in the answer.
    """
    threshold, num_perm = params.threshold, params.num_perm
    index = np.searchsorted(truth.code, answer.code)
    in_truth = np.append(truth.code, -1)[index] == answer.code
    # Candidates that the truth does not have lie below it.
    exact = np.zeros(len(answer.code))
    exact[in_truth] = truth.similarity[index[in_truth]]
    right = exact >= threshold
    is_returned = np.zeros(len(truth.code), np.bool_)
    is_returned[index[in_truth & answer.returned]] = True
    true = truth.similarity >= threshold

    edges = edges_of_bins(lowest, threshold)
    of_truth = _bin(truth.similarity, edges)
    of_answer = _bin(exact, edges)
    of_report = _bin(np.maximum(answer.reported, 0.0), edges)
    probability = params.lsh.probability(truth.similarity)
    bins = []
    for number, (low, high) in enumerate(pairwise([*edges.tolist(), 1.0])):
        mine = of_truth == number
        pairs = int(mine.sum())
        if number == 0:
            pairs = documents * (documents - 1) // 2 - len(truth.code)
        claimed = answer.returned & (of_report == number)
        bins.append(
            SimilarityBin(
                low,
                high,
                _mean(truth.similarity[mine]),
                Share(int((of_answer == number).sum()), pairs),
                _mean(probability[mine]),
                Share(int((answer.returned & (of_answer == number)).sum()), pairs),
                Share(int((claimed & right).sum()), int(claimed.sum())),
                EstimatorError.of(truth.estimate[mine], truth.similarity[mine], num_perm),
            )
        )
    counts = Counts(
        tuple(bins),
        Share(int(is_returned[true].sum()), int(true.sum())),
        _mean(probability[true]),
        Share(int((answer.returned & right).sum()), int(answer.returned.sum())),
        Share(int(right.sum()), len(right)),
        EstimatorError.of(truth.estimate, truth.similarity, num_perm),
    )
    return counts, np.flatnonzero(true & ~is_returned)


def _bin(similarity: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.searchsorted(edges, similarity, side="right") - 1


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")
