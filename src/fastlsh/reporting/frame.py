"""The frame of a report: its style, heading, summary and sections; and their blocks, as HTML."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.html import described, escaped, shortened, whole_page

MOST_TITLE, MOST_ID = 200, 80
"""Characters of a title and of an id that are shown."""

MOST_NOTE, MOST_LABEL = 2000, 80
"""Characters of a note, and of what it or a stage is called."""


def note(text: str, most: int = MOST_NOTE) -> str:
    """Return a text of a user as HTML, cut if it is longer than `most`."""
    return f"<bdi>{escaped(shortened(text, most))}</bdi>"


def with_commas(value: object) -> str:
    """Return a count with commas between its thousands, or a text as it is."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def tiles(counted: Iterable[tuple[str, object]]) -> str:
    """Return the most important numbers, each as (label, count or text)."""
    inner = "".join(f"<div><b>{with_commas(value)}</b> {label}</div>" for label, value in counted)
    return f'<div class="tiles">{inner}</div>'


def summary(counted: Iterable[tuple[str, object]], rows: Iterable[tuple[str, int]]) -> str:
    """Return tiles, and below them a list of labels with their counts, without those of 0."""
    return tiles(counted) + described((label, f"{count:,}") for label, count in rows if count)


def not_shown(more: int, sentence: str) -> str:
    """Return how many of something are not shown, if there are more; the sentence goes on."""
    return f"<p>{more:,} {sentence}</p>" if more else ""


def gallery(items: Iterable[str]) -> str:
    """Return a list; the items are HTML, with their `<li>`."""
    return f"<ul>{chr(10).join(items)}</ul>"


def folded(summary: str, inner: str, *, unfolded: bool) -> str:
    """Return a block that opens at a click on its summary."""
    return f"<details{' open' * unfolded}>\n<summary>{summary}</summary>\n{inner}</details>"


def identifier(name: Any, *, outside: bool = False) -> str:
    """Return an id, cut if it is long; `outside`: of a document of the reference collection."""
    origin = " <small>from the reference collection</small>" if outside else ""
    return f'<bdi class="id">{escaped(shortened(str(name), MOST_ID))}</bdi>{origin}'


def similarity_text(similarity: float) -> str:
    """Return a similarity, or that it was not verified."""
    return "not verified" if np.isnan(similarity) else f"{similarity:.4f}"


def compared_item(name: str, similarity: float, shown: str, also: float | None = None) -> str:
    """Return an item of a list: a name and a text, which are HTML, and a similarity between.

    `also` is the similarity of the second texts, if there are any.
    """
    second = "" if also is None else f"; of the second texts {similarity_text(also)}"
    return f"<li>{name} <span>{similarity_text(similarity)}{second}</span>{shown}</li>"


def cells(values: Iterable[object], tag: str = "td") -> str:
    """Return the cells of a row of a table: counts, or HTML."""
    return "".join(f"<{tag}>{with_commas(value)}</{tag}>" for value in values)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table, with numbers from the third column on; its cells are counts or HTML."""
    return table_of("shares", cells(head, "th"), [f"<tr>{cells(row)}</tr>" for row in rows])


def table_of(kind: str, head: str, rows: Iterable[str]) -> str:
    """Return a table of a class in the style; the cells of the head, and the rows, are HTML."""
    return (
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{chr(10).join(rows)}\n'
        "</tbody></table>"
    )


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
    return table_of("bars", f"<th>{heading[0]}</th><td></td><td>{heading[1]}</td>", lines)


def count_bars(heading: tuple[str, str], rows: Iterable[tuple[str, int]]) -> str:
    """Return `bars` of counts."""
    return bars(heading, [(label, float(count), f"{count:,}") for label, count in rows])


def by_powers(sizes: NDArray[np.int64], heading: tuple[str, str], first: int = 0) -> str:
    """Show how many sizes there are up to each power of two, from the power `first` on."""
    doubled = np.ceil(np.log2(sizes)).astype(np.int64)
    rows = []
    for power in range(first, int(doubled.max()) + 1):
        count = int((doubled == power).sum())
        low, high = 2**power // 2 + 1, 2**power
        label = f"{high:,}" if low >= high else f"{low:,} to {high:,}"
        rows.append((label, count))
    return count_bars(heading, rows)


def _bar(share: float) -> str:
    width = 100 * share
    if 0 < width < 0.5:
        width = 0.5  # something is not nothing
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="10"/></svg>'
    )


STEPS = 10
"""Shades of the cells of a matrix."""

SHADES = "\n".join(
    f".shade{step} {{ background: color-mix(in srgb, var(--bar) {6 * step}%, transparent); }}"
    for step in range(1, STEPS + 1)
)

PAGE = """
:root { --bar: #4464c8; --line: #d5dae0; --soft: #f4f6f8; --mark: var(--only); }
@media (prefers-color-scheme: dark) {
  :root { --bar: #8ea6f5; --line: #3a424b; --soft: #1c2127; }
}
* { box-sizing: border-box; }
body { max-width: 60rem; padding: 1rem clamp(.75rem, 4vw, 2.5rem) 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1rem 0; }
h2 { border-top: 1px solid var(--line); font-size: 1.15rem; margin: 2.5rem 0 .75rem;
  padding-top: 1rem; }
p { margin: .5rem 0; max-width: 42rem; }
bdi { white-space: normal; }
.id { font-weight: 600; }
dl { gap: .2rem 1.5rem; grid-template-columns: fit-content(45%) 1fr; margin: 1rem 0; }
dt, summary span, li > span, small, .gap, .same { color: var(--faint); }
.tiles { display: grid; gap: .75rem; grid-template-columns: repeat(4, 1fr); }
@media (max-width: 34rem) { .tiles { grid-template-columns: 1fr 1fr; } }
.tiles div { background: var(--soft); border-radius: 8px; color: var(--faint);
  padding: .75rem 1rem; }
.tiles b { color: CanvasText; display: block; font-size: 1.5rem; font-weight: 600;
  line-height: 1.2; }
.tiles b, dd, td, li > span, summary span { font-variant-numeric: tabular-nums; }
.pair { align-items: start; display: grid; gap: 1rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.bars { border-collapse: collapse; width: 100%; }
.bars th { font-weight: normal; max-width: 11rem; overflow: hidden; padding: .15rem 0;
  text-align: left; text-overflow: ellipsis; }
.bars thead { color: var(--faint); font-size: .85rem; }
.bars td { padding: .15rem 0; text-align: right; width: 1%; }
.bars th, .bars th bdi, .bars td:last-child { white-space: nowrap; }
.bars td.bar { padding: .15rem .75rem; width: 99%; }
.bars svg { display: block; height: .9rem; width: 100%; }
rect { fill: var(--bar); }
.shares { border-collapse: collapse; }
.shares th, .shares td { font-weight: normal; padding: .15rem 1.5rem .15rem 0; text-align: left; }
.shares th { color: var(--faint); font-size: .85rem; }
.shares td:nth-child(n + 3), .shares th:nth-child(n + 3) { text-align: right; }
.wide { overflow-x: auto; }
.matrix { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.matrix th { font-weight: normal; padding: .15rem .5rem; text-align: right; }
.matrix th:first-child { max-width: 22rem; min-width: 8rem; padding-left: 0; text-align: left; }
.matrix td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: right;
  white-space: nowrap; }
.matrix small { color: inherit; display: block; }
.matrix thead { color: var(--faint); font-size: .85rem; }
SHADES
.curve { height: auto; max-width: 30rem; width: 100%; }
.curve text { fill: var(--faint); font-size: 12px; }
.curve polyline { fill: none; stroke: var(--bar); stroke-width: 2.5; }
.grid { stroke: var(--line); }
.threshold { stroke: CanvasText; stroke-dasharray: 4 3; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .75rem 0;
  padding: .6rem 1rem; }
summary { cursor: pointer; }
details ul { padding-left: 0; }
details li { border-top: 1px solid var(--line); list-style: none; padding: .5rem 0 0; }
li mark { white-space: pre-wrap; }  /* a changed line end is to be seen */
li p, .kept { font-size: .92rem; max-width: none; }
.there { border-left: 3px solid var(--line); padding-left: .75rem; }
@media print {
  details::details-content { block-size: auto; content-visibility: visible; }
  li { break-inside: avoid; }
  h2, summary { break-after: avoid; }
}
""".strip().replace("SHADES", SHADES)


class About(NamedTuple):
    """What every page has besides its subject, as `fastlsh.report` takes it."""

    title: str
    notes: Mapping[str, str]
    seconds: Mapping[str, float]


def page(about: About, summary: str, parts: Sequence[tuple[str, str]]) -> str:
    """Return a page.

    Parameters
    ----------
    about
        Its title, notes and times.
    summary
        HTML below the heading.
    parts
        (heading, HTML) of each section, before that of the times; one without content is left out.
    """
    sections = "\n".join(
        f"<section>\n<h2>{heading}</h2>\n{inner}\n</section>"
        for heading, inner in [*parts, ("Time", _times(about.seconds))]
        if inner
    )
    title = about.title[:MOST_TITLE]
    listed = described((note(name, MOST_LABEL), note(text)) for name, text in about.notes.items())
    body = f"<h1><bdi>{escaped(title)}</bdi></h1>\n{summary}\n{listed}\n{sections}"
    return whole_page(title, PAGE, body)


def _times(seconds: Mapping[str, float]) -> str:
    """Show how long each stage took."""
    if not seconds:
        return ""
    rows = [(note(stage, MOST_LABEL), taken, f"{taken:,.2f} s") for stage, taken in seconds.items()]
    return f"<p>{sum(seconds.values()):,.2f} seconds in total.</p>{bars(('stage', 'time'), rows)}"
