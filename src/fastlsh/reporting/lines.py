"""The page about a removal of repeated lines or paragraphs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.banding import LSHParams
from fastlsh.html import described
from fastlsh.reporting import sections
from fastlsh.reporting.charts import bars
from fastlsh.reporting.documents import check_collections
from fastlsh.reporting.frame import page
from fastlsh.reporting.repeated import Passage, Removals, removals, shared, shown
from fastlsh.results import LineDeduplication
from fastlsh.texts import pieces_of, plain_strings

LOST = ("nothing", "up to 25 %", "up to 50 %", "up to 75 %", "up to 100 %", "everything")
"""Shares of the lines of a document."""


class LineRun(NamedTuple):
    """What a page is about."""

    by: str
    threshold: float
    params: LSHParams | None
    """None: equal ones were removed."""
    options: Mapping[str, Any]
    """As `LineDeduplication` has them, with all parameters of a search by similarity."""
    pieces: NDArray[np.int64]
    """int64 (n,): how many lines or paragraphs each document has."""
    lost: NDArray[np.int64]
    """int64 (n,): how many of these were removed."""
    characters: int
    outside: int
    """How many were removed because they occur in `against`."""
    limited: int
    removals: Removals


def line_run(
    result: LineDeduplication,
    texts: Iterable[Any],
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
) -> LineRun:
    """Return what a page is about, from a result in memory.

    Raises
    ------
    ValueError
        The texts, or ids, are not those of the result.
    """
    own, others = plain_strings(texts), [] if against is None else plain_strings(against)
    check_collections(len(own), result.documents, len(others), result.against_document)
    names = check_ids(result.ids if ids is None else ids, len(own))
    given = result.against_ids if against_ids is None else against_ids
    other_names = check_ids(given, len(others), "against_ids")
    outside = result.against_document >= 0
    document = np.where(outside, result.against_document, result.kept_document)

    def own_passage(number: int, start: int, end: int) -> Passage:
        return Passage((own[number] or "")[start:end], _name(number, names))

    def passages(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        removed = [own_passage(*each) for each in _spans(result.document, result, rows)]
        kept = []
        spans = _spans(document, result, rows, kept=True)
        for (number, start, end), other in zip(spans, outside[rows].tolist(), strict=True):
            if other:
                text, name = (others[number] or "")[start:end], _name(number, other_names)
                kept.append(Passage(text, name, outside=True))
            else:
                kept.append(own_passage(number, start, end))
        return kept, removed

    return LineRun(
        result.by,
        result.threshold,
        result.params,
        result.options,
        np.bincount(pieces_of(own, result.by).bounds[:, 0], minlength=len(own)),
        np.bincount(result.document, minlength=len(own)),
        result.characters,
        int(outside.sum()),
        result.limited,
        removals(
            _numbered(~outside, document, result.kept_start),
            result.document,
            np.where(outside, document - len(others), document),
            result.end - result.start,
            result.similarity,
            passages,
        ),
    )


def _name(number: int, ids: Sequence[Any] | None) -> str:
    return f"document {number:,}" if ids is None else str(ids[number])


def _spans(
    documents: NDArray[np.int64], result: LineDeduplication, rows: NDArray[np.int64], *,
    kept: bool = False,
) -> Iterator[tuple[int, int, int]]:  # fmt: skip
    bounds = (result.kept_start, result.kept_end) if kept else (result.start, result.end)
    return zip(*(each[rows].tolist() for each in (documents, *bounds)), strict=True)


def _numbered(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return the same number for equal rows, ascending as the rows do."""
    order = np.lexsort(columns[::-1])
    sorted_rows = np.array([each[order] for each in columns])
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum((sorted_rows[:, 1:] != sorted_rows[:, :-1]).any(axis=0))
    return numbers


def lines_page(
    run: LineRun, title: str, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; the arguments are those of `fastlsh.report`."""
    piece = run.by.capitalize()
    parts = [
        (f"{piece}s removed most often", shown(run.removals, run.by, run.options["shingler"])),
        (f"Documents that share {run.by}s", shared(run.removals, run.by)),
        (f"How much of each document was removed, in {run.by}s", _lost(run)),
        (f"How often {run.by}s were removed", _sizes(run)),
        ("Parameters", _parameters(run)),
        ("Time", sections.times(seconds)),
    ]
    return page(title, _summary(run), notes, parts)


def _summary(run: LineRun) -> str:
    removed, everything = int(run.lost.sum()), int(run.pieces.sum())
    emptied = (run.lost == run.pieces) & (run.lost > 0)
    rows = [
        ("documents that lost something", int((run.lost > 0).sum())),
        ("documents that lost everything", int(emptied.sum())),
        ("characters removed", run.characters),
        (f"{run.by}s removed because they occur in the reference collection", run.outside),
        (f"{run.by}s kept without being compared with every candidate", run.limited),
    ]
    tiles = [
        ("documents", f"{len(run.pieces):,}"),
        (f"{run.by}s", f"{everything:,}"),
        ("removed", f"{removed:,}"),
        ("duplicates", f"{removed / max(everything, 1):.1%}"),
    ]
    return sections.tiles(tiles) + described((label, f"{n:,}") for label, n in rows if n)


def _parameters(run: LineRun) -> str:
    options = run.options
    least = options["min_length"]
    shorter = [("minimum length", f"{least:,} characters; shorter {run.by}s stay")] if least else []
    if run.params is not None:
        kept = sections.PRIORITY["first"]
        search = sections.searched(run.params, run.threshold, options, run.by, kept)
        return described(shorter) + search
    return sections.equality(run.by, options["shingler"], shorter)


def _lost(run: LineRun) -> str:
    filled = run.pieces > 0
    share = run.lost[filled] / run.pieces[filled]
    group = np.ceil(share * 4).astype(np.int64) + (share == 1)
    counts = np.bincount(group, minlength=len(LOST)).tolist()
    rows = [(what, float(n), f"{n:,}") for what, n in zip(LOST, counts, strict=True)]
    return bars(("removed", "documents"), rows)


def _sizes(run: LineRun) -> str:
    sizes = run.removals.sizes
    if not len(sizes):
        return ""
    largest = (
        f"<p>Different {run.by}s that were removed: {len(sizes):,}. The most frequent one was"
        f" removed {int(sizes.max()):,} times.</p>"
    )
    return largest + sections.by_powers(sizes, ("times", f"{run.by}s"))
