"""Plots as SVG in the page: no file beside it, no script, colours from the page's style."""

from collections.abc import Sequence

import numpy as np

from fastlsh.banding import LSHParams


def bars(heading: tuple[str, str], rows: Sequence[tuple[str, float, str]]) -> str:
    """Return a table with a bar in each row.

    Parameters
    ----------
    heading
        What the labels and the values are.
    rows
        (label, value, value as text): a label is HTML, values are at least 0.
    """
    largest = max((value for _, value, _ in rows), default=0.0) or 1.0
    lines = [
        f'<tr><th>{label}</th><td class="bar">{_bar(value / largest)}</td><td>{text}</td></tr>'
        for label, value, text in rows
    ]
    return (
        f'<table class="bars"><thead><tr><th>{heading[0]}</th><td></td><td>{heading[1]}</td></tr>'
        f"</thead><tbody>\n{chr(10).join(lines)}\n</tbody></table>"
    )


def _bar(share: float) -> str:
    width = 100 * share
    if 0 < width < 0.5:
        width = 0.5  # something is not nothing
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="10"/></svg>'
    )


def curve(params: LSHParams, threshold: float) -> str:
    """Return the S-curve with the threshold marked."""
    similarity = np.linspace(0, 1, 101)
    found = params.probability(similarity)
    across, down = 40 + 340 * similarity, 190 - 170 * found
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
