"""Bands and rows by any rule, and what they will find."""

from dataclasses import dataclass
from functools import cached_property

from fastlsh.arguments import check_integer, check_share
from fastlsh.banding.params import LSHParams, given_bands, probability_text
from fastlsh.parallel import aligned

_BAR = 40


@dataclass(frozen=True)
class Tuning:
    """Bands and rows for a threshold; ``str()`` shows how likely pairs are to be found.

    Parameters
    ----------
    threshold
        The Jaccard similarity from which on pairs are wanted.
    num_perm
        Minima per signature.
    params
        The bands and rows that the rule chose.
    recall, weights
        What `choices` uses for the rules of these names.
    """

    threshold: float
    num_perm: int
    params: LSHParams
    recall: float
    weights: tuple[float, float]

    @cached_property
    def choices(self) -> dict[str, LSHParams]:
        """The bands and rows that every rule would choose: see `LSHParams.choices`."""
        return LSHParams.choices(
            self.threshold, self.num_perm, recall=self.recall, weights=self.weights
        )

    def __str__(self) -> str:
        """Return the S-curve as a table with bars, and a sentence about it."""
        params = self.params
        return "\n".join(
            [
                f"{params.bands} bands x {params.rows} rows"
                f" ({params.bands * params.rows} of {self.num_perm} values),"
                f" steepest near {params.threshold:.3f}",
                "", *_curve_lines(params, self.threshold), "", _sentence(params, self.threshold),
            ]
        )  # fmt: skip

    def comparison(self) -> str:
        r"""Return a table of `choices`, with the probabilities and errors of each.

        Examples
        --------
        >>> print(*tune(0.8).comparison().splitlines()[:3], sep="\n")
        rule             b x r steep    P(0.4)    P(0.8)     P(0.9) false+ false-
        recall          17 x 7 0.667     0.027     0.982    0.99998 0.1793 0.0004
        weights         9 x 13 0.844     0.000     0.399      0.929 0.0253 0.0333
        """
        return "\n".join(_choice_lines(self.choices, self.threshold))


def tune(
    threshold: float,
    num_perm: int = 128,
    *,
    recall: float | None = None,
    weights: tuple[float, float] | None = None,
    steepest: str | None = None,
    bands: int | None = None,
    rows: int | None = None,
) -> Tuning:
    """Choose bands and rows for a threshold, and show which pairs they will find.

    At most one rule is given: `recall`, `weights`, `steepest`, or `bands` with `rows`.

    Parameters
    ----------
    threshold
        The Jaccard similarity from which on pairs are wanted, above 0 and at most 1.
    num_perm
        Minima per signature.
    recall
        The least probability with which a pair at the threshold is found, by default 0.98; see
        `LSHParams.for_threshold`.
    weights
        Weights of false positives and false negatives, as in datasketch; see
        `LSHParams.for_threshold`.
    steepest
        "up" or "down": the curve that is steepest at the threshold, with the number of bands
        rounded so; see `LSHParams.steepest_at`.
    bands, rows
        Bands and rows themselves, to see what they would find.

    Returns
    -------
    Tuning
        Its `params` are the bands and rows; printing it shows the S-curve.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable, or two rules are given.

    Examples
    --------
    >>> found = tune(0.8)
    >>> found.params.bands, found.params.rows
    (17, 7)
    >>> print(str(found).splitlines()[-2])
    A pair at 0.80 is found with probability 0.982, at 0.90 with 0.99998;
    """
    num_perm = check_integer(num_perm, "num_perm")
    params = given_bands(bands, rows, num_perm)
    rules = {"recall": recall, "weights": weights, "steepest": steepest, "bands": bands}
    rule_names = [name for name, value in rules.items() if value is not None]
    if len(rule_names) > 1:
        raise ValueError(f"{rule_names[0]}= and {rule_names[1]}= are different rules: give one")
    least = 0.98 if recall is None else recall
    if params is not None:
        check_share(threshold, "threshold")
    elif steepest is not None:
        params = LSHParams.steepest_at(threshold, num_perm, rounding=steepest)
    else:
        params = LSHParams.for_threshold(threshold, num_perm, recall=least, weights=weights)
    return Tuning(threshold, num_perm, params, least, (0.5, 0.5) if weights is None else weights)


def _curve_lines(params: LSHParams, threshold: float) -> list[str]:
    """Return a line for each similarity: the probability that a pair is found, and a bar."""
    similarities = sorted({n / 20 for n in range(1, 21)} | {threshold})
    width = max(5, len(_similarity_text(threshold)))
    lines = [f"{'s':>{width}} {'P(found)':>10}"]
    for s in similarities:
        bar = "#" * round(_BAR * params.probability(s))
        mark = "<" if s == threshold else ""
        cells = f"{_similarity_text(s):>{width}} {probability_text(params, s):>10}"
        lines.append(f"{cells} |{bar:<{_BAR}}| {mark}".rstrip())
    return lines


def _similarity_text(similarity: float, decimals: int = 0) -> str:
    """Return a similarity with six digits; more if it would be 1 then, zeros up to `decimals`."""
    text = f"{similarity:.6g}"
    if text == "1" and similarity < 1:
        return repr(similarity)
    fixed = f"{similarity:.{decimals}f}"
    return fixed if float(fixed) == float(text) else text


def _sentence(params: LSHParams, threshold: float) -> str:
    """Return what the parameters mean, in plain words."""
    low = round(20 * 0.375 * threshold) / 20 or float(f"{0.375 * threshold:.2g}")
    vain = 100 * params.probability(low)
    share = f"{vain:.1f}" if vain >= 0.1 or vain == 0 else f"{vain:.1g}"
    higher = round((1 + threshold) / 2, 2)  # of what is said, all holds for the numbers as shown
    above = f", at {higher:.2f} with {probability_text(params, higher)}"
    return (
        f"A pair at {_similarity_text(threshold, 2)} is found with probability"
        f" {probability_text(params, threshold)}{above if threshold < higher < 1 else ''};\n"
        f"of the pairs at {_similarity_text(low, 2)}, {share} % are compared needlessly."
    )


def _choice_lines(choices: dict[str, LSHParams], threshold: float) -> list[str]:
    """Return a table of what each rule chooses and what that would do."""
    levels = threshold / 2, threshold, (1 + threshold) / 2
    chances = [f"P({_similarity_text(level)})" for level in levels]
    rows = [["rule", "b x r", "steep", *chances, "false+", "false-"]]
    for name, params in choices.items():
        chances = [probability_text(params, level) for level in levels]
        areas = params.false_positive_area(threshold), params.false_negative_area(threshold)
        shape, steep = f"{params.bands} x {params.rows}", f"{params.threshold:.3f}"
        rows.append([name, shape, steep, *chances, *(f"{area:.4f}" for area in areas)])
    lines = aligned(rows, left=1)
    fits = len(lines[0]) <= 78  # with room at the end of a line of a terminal
    return lines if fits else aligned(rows, left=1, gap=" ")
