"""Plots of S-curves and evaluations. They need matplotlib: ``pip install matplotlib``."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_share
from fastlsh.banding import LSHParams
from fastlsh.evaluation import BandingComparison, Evaluation, Share
from fastlsh.io import InputError, replacing

__all__ = [
    "check_plot",
    "draw",
    "plot_curves",
    "plot_evaluation",
    "save",
]

FORMATS = (".svg", ".png", ".pdf")

STEPS = 500
"""Of a curve that matplotlib draws."""

CLOSE = 0.02
"""Curves that are nowhere further apart hide each other."""


def curve_points(params: LSHParams, steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return similarities from 0 to 1, and the probability that a pair of each is found."""
    similarity = np.linspace(0, 1, steps + 1)
    return similarity, params.probability(similarity)


def curve_as_svg(params: LSHParams, threshold: float) -> str:
    """Return the S-curve with the threshold marked for a page, without matplotlib."""
    similarity, probability = curve_points(params, 100)
    across, down = 40 + 340 * similarity, 190 - 170 * probability
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    at = f"{40 + 340 * threshold:.1f}"
    anchor = "start" if threshold < 0.2 else "end" if threshold > 0.8 else "middle"
    ticks = "".join(
        f'<text x="{40 + 34 * n}" y="206" text-anchor="middle">{n / 10:g}</text>'
        f'<line class="grid" x1="{40 + 34 * n}" x2="{40 + 34 * n}" y1="20" y2="190"/>'
        f'<text x="34" y="{194 - 17 * n}" text-anchor="end">{n / 10:g}</text>'
        f'<line class="grid" x1="40" x2="380" y1="{190 - 17 * n}" y2="{190 - 17 * n}"/>'
        for n in range(0, 11, 2)
    )
    return f"""<svg class="curve" viewBox="0 0 400 235" role="img">
<title>The probability that a pair is found, by its similarity</title>
{ticks}
<line class="threshold" x1="{at}" x2="{at}" y1="20" y2="190"/>
<text x="{at}" y="13" text-anchor="{anchor}">threshold {threshold:g}</text>
<polyline points="{line}"/>
<text x="210" y="228" text-anchor="middle">similarity</text>
</svg>"""


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise unless a plot can be written: the suffix is known and matplotlib is there.

    Parameters
    ----------
    path
        Ends in .svg, .png or .pdf.

    Raises
    ------
    InputError
        Otherwise; the message says what helps.
    """
    name = os.fspath(path)
    if os.path.splitext(name)[1].lower() not in FORMATS:
        raise InputError(name, f"plots are written as {' '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(name, "plots need matplotlib: pip install matplotlib") from None


def plot_curves(curves: Mapping[str, LSHParams] | LSHParams, threshold: float | None = None) -> Any:
    """Draw S-curves: the probability of becoming a candidate by similarity.

    Parameters
    ----------
    curves
        One curve, or a dict of several by their names in the legend. Equal ones are drawn once,
        with all their names; those that nearly lie on another one are dashed.
    threshold
        Marked by a vertical line. The two areas of a single curve are shaded: below the threshold,
        pairs that are compared needlessly; from it on, pairs that are missed.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig(...)`` writes it, or `save`.

    Raises
    ------
    TypeError, ValueError
        There are no curves, or the threshold is invalid.
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = plot_curves({"17 x 7": LSHParams(17, 7), "9 x 13": LSHParams(9, 13)}, 0.8)
    >>> save(figure, "curves.svg")
    """
    if isinstance(curves, LSHParams):
        curves = {f"{curves.bands} bands x {curves.rows} rows": curves}
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must be LSHParams or a dict of them by name, got {curves!r}")
    if not curves:
        raise ValueError("there are no curves to draw")
    if threshold is not None:
        check_share(threshold, "threshold")
    figure, axes = _axes()
    names: dict[LSHParams, list[str]] = {}
    for name, params in curves.items():
        names.setdefault(params, []).append(name)
    drawn: list[Any] = []
    for number, (params, of_it) in enumerate(names.items()):
        similarity, probability = curve_points(params, STEPS)
        below = sum(float(np.abs(probability - other).max()) < CLOSE for other in drawn)
        # Ten colours, then other dashes; through them, a curve below this one is seen.
        style = ("-", "--", ":", "-.")[(number // 10 + below) % 4]
        axes.plot(similarity, probability, style, label="\n= ".join(of_it))
        drawn.append(probability)
    if threshold is not None and len(drawn) == 1:
        (probability,) = drawn
        for name, other, where in (
            ("compared needlessly", 0, similarity <= threshold),
            ("missed", 1, similarity >= threshold),
        ):
            axes.fill_between(similarity, probability, other, where=where, alpha=0.3, label=name)
    _finish(axes, threshold, "probability of being found")
    return figure


def plot_evaluation(result: Evaluation | BandingComparison) -> Any:
    """Draw the share of pairs that became candidates, with 95 % intervals, upon the S-curve.

    Parameters
    ----------
    result
        What `evaluate` or `compare_bandings` returned. Of several bandings, each has its own
        colour.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        There is no matplotlib.

    Examples
    --------
    >>> import fastlsh
    >>> figure = plot_evaluation(fastlsh.evaluate(["some text", "some text", "another"]))
    >>> save(figure, "evaluation.svg")
    """
    figure, axes = _axes()
    several = isinstance(result, BandingComparison)
    evaluations = result.evaluations if isinstance(result, BandingComparison) else (result,)
    first = evaluations[0]
    for number, evaluation in enumerate(evaluations):
        colour = f"C{number}" if several else "0.5"
        name = f"{evaluation.params.bands} bands x {evaluation.params.rows} rows"
        curve = curve_points(evaluation.params, STEPS)
        axes.plot(*curve, color=colour, label=f"predicted: {name}")
        bins = [one for one in evaluation.bins[1:] if one.candidates.total]
        points = [(one.mean, one.candidates) for one in bins]
        if several:
            _intervals(axes, f"measured: {name}", colour, points)
            continue
        answered = [one for one in bins if one.low >= evaluation.threshold or one.recall.hits]
        _intervals(axes, "candidates", "C0", points)
        _intervals(axes, "in the answer", "C1", [(one.mean, one.recall) for one in answered])
    _finish(axes, first.threshold, "share of the pairs")
    sample = f"a sample of {first.documents:,} of {first.collection:,}"
    count = sample if first.is_sample else f"{first.documents:,}"
    axes.set_title(f"{count} documents, {first.scheme}, bars: 95 % intervals", fontsize="medium")
    return figure


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure; the file appears whole or not at all, the same bytes each time.

    Parameters
    ----------
    figure
        What a function of this module returned.
    path
        Ends in .svg, .png or .pdf.

    Examples
    --------
    >>> save(plot_curves(LSHParams(17, 7)), "curve.svg")
    """
    check_plot(path)
    with replacing(path) as name:
        draw(figure, path, name)


def draw(figure: Any, path: str | os.PathLike[str], name: str) -> None:
    """Write a figure to the temporary file `name`, in the format of `path`."""
    import matplotlib

    kind = os.path.splitext(os.fspath(path))[1][1:].lower()
    dated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with matplotlib.rc_context({"svg.hashsalt": "fastlsh"}):
        figure.savefig(name, format=kind, dpi=150, metadata=dated)


def _axes() -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    return figure, figure.add_subplot()


def _intervals(axes: Any, label: str, colour: str, points: list[tuple[float, Share]]) -> None:
    x = [similarity for similarity, _ in points]
    y = np.array([share.value for _, share in points])
    ends = np.array([share.interval for _, share in points]).reshape(-1, 2)
    size = 8 if label == "candidates" else 4  # a ring around a dot where both are equal
    axes.errorbar(
        x, y, np.abs(ends.T - y), fmt="o", ms=size, mfc="none" if size == 8 else colour,
        capsize=3, color=colour, label=label,
    )  # fmt: skip


def _finish(axes: Any, threshold: float | None, ylabel: str) -> None:
    if threshold is not None:
        axes.axvline(threshold, color="0.3", linewidth=1, linestyle=":")
        axes.annotate(f" {threshold:g}", (threshold, 0.01), color="0.3", fontsize="small")
    axes.set(xlabel="Jaccard similarity", ylabel=ylabel, xlim=(0, 1.01), ylim=(-0.01, 1.02))
    axes.grid(alpha=0.3)
    several = len(axes.get_legend_handles_labels()[0]) > 3
    if several:
        axes.figure.legend(fontsize="small", loc="outside right upper")
    else:
        axes.legend(fontsize="small", loc="upper left")
