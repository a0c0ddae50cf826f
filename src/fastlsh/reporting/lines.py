"""The page about a removal of repeated lines, paragraphs or sentences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.banding import LSHParams
from fastlsh.html import described
from fastlsh.reporting import frame, sections
from fastlsh.reporting.documents import check_collections, name_of
from fastlsh.reporting.removals import Passage, RemovedPassages, numbered, removed_passages
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
    """int64 (n,): how many lines, paragraphs or sentences each document has."""
    lost: NDArray[np.int64]
    """int64 (n,): how many of these were removed."""
    emptied: int
    """How many documents lost all of them."""
    characters: int
    outside: int
    """How many were removed because they occur in `against`."""
    limited: int
    removals: RemovedPassages


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
    inputs, others = plain_strings(texts), [] if against is None else plain_strings(against)
    check_collections(len(inputs), result.documents, len(others), result.against_document)
    names = check_ids(result.ids if ids is None else ids, len(inputs))
    ids_of_others = result.against_ids if against_ids is None else against_ids
    other_names = check_ids(ids_of_others, len(others), "against_ids")
    strings = [*inputs, *others]  # those of `against` have negative numbers, as they end the list
    outside = result.against_document >= 0
    kept_document = np.where(outside, result.against_document - len(others), result.kept_document)

    def passages(*columns: NDArray[np.int64]) -> list[Passage]:
        pieces = []
        for number, start, end in np.column_stack(columns).tolist():
            text, is_other = (strings[number] or "")[start:end], number < 0
            position, ids = (number + len(others), other_names) if is_other else (number, names)
            pieces.append(Passage(text, name_of(position, ids), is_other))
        return pieces

    def read(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        kept = passages(kept_document[rows], result.kept_start[rows], result.kept_end[rows])
        return kept, passages(result.document[rows], result.start[rows], result.end[rows])

    pieces = pieces_of(inputs, result.by, window=result.options.get("window", 1))
    return LineRun(
        result.name,
        result.threshold,
        result.params,
        result.options,
        np.bincount(pieces.bounds[:, 0], minlength=len(inputs)),
        np.bincount(result.document, minlength=len(inputs)),
        len(result.emptied),
        result.characters,
        int(outside.sum()),
        result.limited,
        removed_passages(
            numbered(kept_document, result.kept_start),
            result.document,
            kept_document,
            result.end - result.start,
            result.similarity,
            read,
        ),
    )


def lines_page(
    run: LineRun, title: str, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; the arguments are those of `fastlsh.report`."""
    by, removals = run.by, run.removals
    sentence = (
        f"Each {by} is kept in the document named below it, and was removed from the documents "
        f"named behind that one. Variants that differ from the kept {by} are listed, the least "
        f"similar first; <mark>marked</mark> text is in only one of the two: in the "
        f"variant or, in the indented passage below it, in the kept {by}."
    )
    often = removals.most_often(by, sentence, run.options["shingler"])
    parts = [
        (f"{by.capitalize()}s removed most often", often),
        (f"Documents that share {by}s", removals.who_shares(by)),
        (f"How much of each document was removed, in {by}s", _lost(run)),
        (f"How often {by}s were removed", _sizes(run)),
        ("Parameters", _parameters(run)),
    ]
    return frame.page(title, _summary(run), notes, parts, seconds)


def _summary(run: LineRun) -> str:
    removed, everything = int(run.lost.sum()), int(run.pieces.sum())
    rows = [
        ("documents that lost something", int((run.lost > 0).sum())),
        ("documents that lost everything", run.emptied),
        ("characters removed", run.characters),
        (f"{run.by}s removed because they occur in the reference collection", run.outside),
        (f"{run.by}s kept without being compared with every candidate", run.limited),
    ]
    counted = [
        ("documents", f"{len(run.pieces):,}"),
        (f"{run.by}s", f"{everything:,}"),
        ("removed", f"{removed:,}"),
        ("duplicates", f"{removed / max(everything, 1):.1%}"),
    ]
    return frame.summary(counted, rows)


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
    return frame.count_bars(("removed", "documents"), zip(LOST, counts, strict=True))


def _sizes(run: LineRun) -> str:
    sizes = run.removals.sizes
    if not len(sizes):
        return ""
    largest = (
        f"<p>Different {run.by}s that were removed: {len(sizes):,}. The most frequent one was"
        f" removed {int(sizes.max()):,} times.</p>"
    )
    return largest + run.removals.how_often(run.by)
