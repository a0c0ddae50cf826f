"""Precision of removals by the judgement of people: a stratified sample, and what it tells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_share
from fastlsh.arrays import cumcount
from fastlsh.evaluation.result import wilson

STEP = 20
"""Similarities below 1 are cut into so many steps."""

SIZES = (2, 3, 11, 101)
"""The least sizes of the classes of clusters."""


class Precision(NamedTuple):
    """What the judgements of a sample tell about some of the removals.

    The precision is that of the strata with judgements, each with the weight of its removals. The
    interval is Wilson's for 95 %, with as many judgements as a plain sample of the same precision
    would need at most (Kish's effective size).

    Attributes
    ----------
    kind : str
        "all", "similarity", "cluster", "source" or "threshold": how the removals were chosen.
    level : str
        The step of similarity, class of cluster sizes, source or threshold.
    removed, judged, duplicates : int
        How many removals there are, how many were judged, and how many of these are duplicates.
    precision : float
        The estimated share of duplicates among the removals; NaN without judgements.
    low, high : float
        The ends of its interval; 0 and 1 without judgements.
    """

    kind: str
    level: str
    removed: int
    judged: int
    duplicates: int
    precision: float
    low: float
    high: float


@dataclass(frozen=True)
class Removals:
    """What is known of each removed document.

    Attributes
    ----------
    similarity : ndarray of float64, shape (n,)
        To the kept document; NaN if it was not verified.
    size : ndarray of int64, shape (n,)
        How many documents its cluster has, the kept one included.
    source : ndarray of int64, shape (n,)
        Which of `sources` it is from.
    sources : sequence of str
    """

    similarity: NDArray[np.float64]
    size: NDArray[np.int64]
    source: NDArray[np.int64]
    sources: Sequence[str]

    @property
    def step(self) -> NDArray[np.int64]:
        """The step of similarity of each: `STEP` for 1, and one more for NaN."""
        unknown = np.isnan(self.similarity)
        known = np.where(unknown, 0.0, self.similarity)
        return np.where(unknown, STEP + 1, np.floor(known * STEP + 1e-9).astype(np.int64))

    @property
    def size_class(self) -> NDArray[np.int64]:
        """The class of the size of the cluster of each."""
        return np.searchsorted(SIZES, self.size, "right") - 1

    def strata(self) -> NDArray[np.int64]:
        """Return the stratum of each: its step, size class and source in one number."""
        return (self.step * len(SIZES) + self.size_class) * len(self.sources) + self.source

    def sample(self, count: int, seed: int) -> NDArray[np.int64]:
        """Return the rows of a sample in which small strata have as many as large ones.

        Examples
        --------
        >>> ones, none = np.ones(50, np.int64), np.zeros(50, np.int64)
        >>> removals = Removals(np.repeat([0.8, 1.0], [40, 10]), 2 * ones, none, ["a"])
        >>> int((removals.similarity[removals.sample(20, seed=1)] == 1).sum())
        10
        """
        stratum = self.strata()
        # The stream of RandomState is frozen by numpy's policy (NEP 19).
        drawn = np.random.RandomState(seed).permutation(len(stratum)).astype(np.int64)
        _, inverse, sizes = np.unique(stratum[drawn], return_inverse=True, return_counts=True)
        share = _shares(sizes, count)
        return drawn[cumcount(inverse) < share[inverse]]

    def precisions(self, rows: NDArray[np.int64], duplicate: NDArray[np.bool_]) -> list[Precision]:
        """Return what answers tell about all removals, and about those of each kind.

        Parameters
        ----------
        rows, duplicate
            The rows that were judged, and how.

        Examples
        --------
        >>> ones, none = np.ones(4, np.int64), np.zeros(4, np.int64)
        >>> removals = Removals(np.array([0.8, 0.8, 1, 1]), 2 * ones, none, ["a"])
        >>> whole, *_ = removals.precisions(np.array([0, 2]), np.array([False, True]))
        >>> whole.judged, whole.precision
        (2, 0.5)
        """
        return [self._precision(*removals, rows, duplicate) for removals in self._of_each_kind()]

    def _of_each_kind(self) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
        """Yield each kind and level of removals, and which removals are of it, bool (n,)."""
        step, size_class = self.step, self.size_class
        yield "all", "all", np.ones(len(step), np.bool_)
        for value in np.unique(step).tolist():
            yield "similarity", _step_name(value), step == value
        for size in np.unique(size_class).tolist():
            yield "cluster", _size_name(size), size_class == size
        for number, name in enumerate(self.sources) if len(self.sources) > 1 else ():
            yield "source", name, self.source == number
        for value in np.unique(step[step <= STEP]).tolist():
            yield "threshold", f"{value / STEP:g}", (step >= value) & (step <= STEP)

    def _precision(
        self, kind: str, level: str, chosen: NDArray[np.bool_], rows: NDArray[np.int64],
        duplicate: NDArray[np.bool_],
    ) -> Precision:  # fmt: skip
        stratum = self.strata()
        judged = chosen[rows]
        answered, hits = stratum[rows][judged], duplicate[judged]
        strata, inverse = np.unique(answered, return_inverse=True)
        answers = np.bincount(inverse, minlength=len(strata))
        shares = np.bincount(inverse, hits, len(strata)) / answers
        counted = stratum[chosen & np.isin(stratum, strata)]
        population = np.bincount(np.searchsorted(strata, counted), minlength=len(strata))
        weight = population / max(int(population.sum()), 1)
        precision, effective = float("nan"), 0.0
        if len(answered):
            precision = (
                float(hits.mean()) if hits.all() or not hits.any() else float(weight @ shares)
            )
            effective = 1 / float((weight**2 / answers).sum())
        low, high = wilson(precision, effective)
        return Precision(
            kind, level, int(chosen.sum()), len(answered), int(hits.sum()), precision, low, high
        )


def threshold_for(found: Sequence[Precision], precision: float) -> Precision | None:
    """Return the lowest threshold whose removals surely have a wished precision.

    Parameters
    ----------
    found
        What `Audit.precisions` has returned.
    precision
        Above 0 and at most 1: the interval of the threshold begins here or above.

    Returns
    -------
    Precision or None
        `level` is the threshold; None: no threshold is sure to have the precision.

    Raises
    ------
    TypeError, ValueError
        The precision is no number above 0 and at most 1.

    Examples
    --------
    >>> one = Precision("threshold", "0.8", 9, 9, 8, 0.89, 0.57, 0.98)
    >>> two = Precision("threshold", "0.9", 5, 5, 5, 1.0, 0.57, 1.0)
    >>> threshold_for([one, two], 0.5).level, threshold_for([one, two], 0.9)
    ('0.8', None)
    """
    rows = [row for row in found if row.kind == "threshold" and row.judged]
    least = check_share(precision, "precision")
    return next((row for row in rows if row.low >= least), None)


def threshold_text(precisions: Sequence[Precision], precision: float) -> str:
    """Return which threshold would meet a wished precision."""
    best = threshold_for(precisions, precision)
    if best is None:
        return f"No threshold is sure to have a precision of {precision:g} by these answers."
    return (
        f"The threshold {best.level} has a precision of at least {precision:g} by these answers"
        f" ({best.low:.1%} to {best.high:.1%}): {best.removed:,} of the removals reach it."
    )


def _shares(sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return how many of each stratum are drawn: equally many, but no more than there are."""
    share = np.zeros(len(sizes), np.int64)
    left = min(count, int(sizes.sum()))
    while left:
        open_ones = np.flatnonzero(share < sizes)
        part = left // len(open_ones)
        if not part:  # to the largest strata
            open_ones = open_ones[np.argsort(-sizes[open_ones], kind="stable")][:left]
            part = 1
        more = np.minimum(sizes[open_ones] - share[open_ones], part)
        share[open_ones] += more
        left -= int(more.sum())
    return share


def _step_name(step: int) -> str:
    if step > STEP:
        return "not verified"
    return "1" if step == STEP else f"{step / STEP:.2f} to {(step + 1) / STEP:.2f}"


def _size_name(size_class: int) -> str:
    low = SIZES[size_class]
    if low == SIZES[-1]:
        return f"{low} or more"
    high = SIZES[size_class + 1] - 1
    return f"{low}" if low == high else f"{low} to {high}"
