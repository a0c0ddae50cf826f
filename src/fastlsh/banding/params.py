"""`LSHParams`: a signature cut into bands of rows."""

import contextlib
import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_integer, check_recall, check_share
from fastlsh.banding import choice, curve


@dataclass(frozen=True)
class LSHParams:
    """The number of bands that a signature is cut into, and of rows in each.

    A pair is a candidate if all rows of some band are equal. With similarity s that happens with
    probability 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman: Mining of Massive Datasets,
    section 3.4).

    Parameters
    ----------
    bands, rows
        At least 1 each. The first bands * rows minima of a signature are used.

    Examples
    --------
    >>> params = LSHParams(bands=17, rows=7)
    >>> round(params.probability(0.8), 3)
    0.982
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        # As plain integers: of numpy's some wrap around when multiplied, and none goes into JSON.
        object.__setattr__(self, "bands", check_integer(self.bands, "bands"))
        object.__setattr__(self, "rows", check_integer(self.rows, "rows"))

    @overload
    def probability(self, similarity: float) -> float: ...
    @overload
    def probability(self, similarity: ArrayLike) -> NDArray[np.float64]: ...
    def probability(self, similarity: Any) -> Any:
        """Return the probability that a pair of this Jaccard similarity becomes a candidate.

        Parameters
        ----------
        similarity
            A number between 0 and 1, or an array of them.

        Examples
        --------
        >>> LSHParams(17, 7).probability([0.3, 0.8, 0.9]).round(4).tolist()
        [0.0037, 0.9817, 1.0]
        """
        values = curve.shares(similarity, "similarity")
        if not values.ndim:
            return curve.candidate_probability(float(values), self.bands, self.rows)
        return curve.candidate_probabilities(values, self.bands, self.rows)

    @overload
    def missed(self, similarity: float) -> float: ...
    @overload
    def missed(self, similarity: ArrayLike) -> NDArray[np.float64]: ...
    def missed(self, similarity: Any) -> Any:
        """Return 1 - `probability`, accurately even where it is tiny. Parameters as there.

        Examples
        --------
        >>> round(LSHParams(17, 7).missed(0.8), 4)
        0.0183
        """
        values = curve.shares(similarity, "similarity")
        return curve.plain(curve.missed(values, self.bands, self.rows))

    @overload
    def inverse(self, probability: float) -> float: ...
    @overload
    def inverse(self, probability: ArrayLike) -> NDArray[np.float64]: ...
    def inverse(self, probability: Any) -> Any:
        """Return the similarity of the pairs that are found with this probability.

        Parameters
        ----------
        probability
            A number between 0 and 1, or an array of them.

        Examples
        --------
        >>> round(LSHParams(17, 7).inverse(0.5), 3)
        0.631
        """
        values = curve.shares(probability, "probability")
        return curve.plain(curve.similarity_found(values, self.bands, self.rows))

    @property
    def threshold(self) -> float:
        """The similarity (1 / bands)^(1 / rows), near which the curve is steepest."""
        return float((1 / self.bands) ** (1 / self.rows))

    def false_positive_area(self, threshold: float) -> float:
        """Return the area under the curve left of `threshold`: needless candidates.

        Examples
        --------
        >>> round(LSHParams(17, 7).false_positive_area(0.8), 3)
        0.179
        """
        return curve.areas(check_share(threshold, "threshold"), self.bands, self.rows)[0]

    def false_negative_area(self, threshold: float) -> float:
        """Return the area above the curve right of `threshold`: pairs that are missed.

        Examples
        --------
        >>> round(LSHParams(17, 7).false_negative_area(0.8), 5)
        0.00038
        """
        return curve.areas(check_share(threshold, "threshold"), self.bands, self.rows)[1]

    def expected_candidates(self, counts: ArrayLike, edges: ArrayLike) -> float:
        """Return how many candidates a collection will have.

        Parameters
        ----------
        counts, edges
            Histogram of the similarities of its pairs, as numpy.histogram returns it: numbers of
            pairs (m,), and the edges between them (m + 1,), not descending, from 0 to 1. Inside a
            bin, they are assumed to be evenly spread.

        Examples
        --------
        >>> round(LSHParams(17, 7).expected_candidates([10_000, 100], [0.0, 0.5, 1.0]), 1)
        234.8
        """
        pairs, borders = np.asarray(counts, np.float64), np.asarray(edges, np.float64)
        if pairs.ndim != 1 or borders.shape != (len(pairs) + 1,):
            raise ValueError(
                f"edges must be one more than counts, got {borders.shape} for {pairs.shape}"
            )
        if not ((np.diff(borders) >= 0).all() and borders[0] >= 0 and borders[-1] <= 1):
            raise ValueError("edges must ascend from at least 0 to at most 1")
        if not (pairs >= 0).all():
            raise ValueError("counts must not be negative")
        return float(pairs @ curve.mean_found(borders, self.bands, self.rows))

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

        The choice is the largest number of rows for which some number of bands finds a pair at
        the threshold with probability `recall`, and then the fewest such bands. It gives as few
        false candidates as that recall allows.

        Parameters
        ----------
        threshold
            Jaccard similarity, above 0 and at most 1.
        num_perm
            Length of the signature.
        recall
            Probability of finding a pair exactly at the threshold, between 0 and 1; it is higher
            for more similar pairs.
        weights
            Instead of `recall`: weights (false positives, false negatives) of the two areas whose
            weighted sum is minimised, as datasketch does.

        Raises
        ------
        ValueError
            No choice reaches `recall`; the message names the least `num_perm` that does.

        Examples
        --------
        >>> LSHParams.for_threshold(0.8)
        LSHParams(bands=17, rows=7)
        >>> LSHParams.for_threshold(0.8, weights=(0.5, 0.5))
        LSHParams(bands=9, rows=13)
        """
        check_share(threshold, "threshold")
        num_perm = check_integer(num_perm, "num_perm")
        if weights is not None:
            return cls(*choice.by_weights(threshold, num_perm, weights))
        return cls(*choice.by_recall(threshold, num_perm, recall))

    @classmethod
    def steepest_at(
        cls, threshold: float, num_perm: int = 128, *, rounding: str = "up"
    ) -> "LSHParams":
        """Choose the bands whose curve is steepest near a threshold: (1 / b)^(b / num_perm).

        The textbook's rule: bands = `steepest_bands`, rows = num_perm // bands. About 64 % of the
        pairs at the threshold are found (1 - 1 / e or little more), which `for_threshold` does
        better.

        Parameters
        ----------
        threshold
            Above 0 and at most 1.
        num_perm
            Length of the signature; some of it may be left over.
        rounding
            "up": the fewest bands with b ln b >= -num_perm ln threshold. "down": the most bands
            with at most that.

        Raises
        ------
        ValueError
            The threshold is less than 1 / num_perm.

        Examples
        --------
        >>> LSHParams.steepest_at(0.8, 100)
        LSHParams(bands=10, rows=10)
        """
        check_share(threshold, "threshold")
        return cls(*choice.by_steepest(threshold, check_integer(num_perm, "num_perm"), rounding))

    @classmethod
    def divisions(cls, num_perm: int = 128) -> list["LSHParams"]:
        """Return every choice that uses a whole signature, in ascending order of bands.

        Examples
        --------
        >>> LSHParams.divisions(4)
        [LSHParams(bands=1, rows=4), LSHParams(bands=2, rows=2), LSHParams(bands=4, rows=1)]
        """
        num_perm = check_integer(num_perm, "num_perm")
        all_bands = range(1, num_perm + 1)
        return [cls(bands, num_perm // bands) for bands in all_bands if num_perm % bands == 0]

    @classmethod
    def choices(
        cls,
        threshold: float,
        num_perm: int = 128,
        *,
        recall: float = 0.98,
        weights: tuple[float, float] = (0.5, 0.5),
    ) -> dict[str, "LSHParams"]:
        """Return what each rule chooses, for comparison, without rules that find no choice.

        "recall" and "weights" are those of `for_threshold`, "steepest, up" and "steepest, down"
        those of `steepest_at`; "division 1" and so on are the `divisions`, by their bands.
        Parameters as there.

        Examples
        --------
        >>> LSHParams.choices(0.8)["weights"]
        LSHParams(bands=9, rows=13)
        """
        check_share(threshold, "threshold")
        num_perm = check_integer(num_perm, "num_perm")
        check_recall(recall)
        result = {}
        with contextlib.suppress(ValueError):
            result["recall"] = cls(*choice.by_recall(threshold, num_perm, recall))
        result["weights"] = cls(*choice.by_weights(threshold, num_perm, weights))
        with contextlib.suppress(ValueError):
            for rounding in ("up", "down"):
                chosen = choice.by_steepest(threshold, num_perm, rounding)
                result[f"steepest, {rounding}"] = cls(*chosen)
        for params in cls.divisions(num_perm):
            result[f"division {params.bands}"] = params
        return result


def given_bands(bands: int | None, rows: int | None, num_perm: int) -> LSHParams | None:
    """Return the bands and rows that were given, None for neither of them.

    Raises
    ------
    TypeError, ValueError
        One is missing or unsuitable, or together they need more than `num_perm` values.
    """
    if bands is None and rows is None:
        return None
    if bands is None or rows is None:
        raise ValueError("bands and rows must be given together, or neither")
    params = LSHParams(bands, rows)
    needed = params.bands * params.rows
    if needed > num_perm:
        raise ValueError(f"{bands} bands of {rows} rows need num_perm={needed}, got {num_perm}")
    return params


def probability_text(params: LSHParams, similarity: float) -> str:
    """Return a probability with as many digits as tell it from 1."""
    missed = params.missed(similarity)
    if missed == 0.0:
        return "1"
    if missed < 1e-7:
        return f"1 - {missed:.0e}"
    return f"{1 - missed:.{max(3, math.ceil(-math.log10(missed)))}f}"
