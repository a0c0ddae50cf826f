"""The page about a removal of repeated lines, paragraphs or sentences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.banding import LSHParams
from fastlsh.html import described
from fastlsh.reporting import frame, sections
from fastlsh.reporting.documents import Collections, check_collections, name_of
from fastlsh.reporting.removals import Passage, PieceRemovals, RemovedPassages, numbered
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
    n_against: int
    """Documents of `against`, which have the first numbers in `removals`."""
    emptied: int
    """How many documents lost all of them."""
    characters: int
    limited: int
    removals: PieceRemovals

    @property
    def lost(self) -> NDArray[np.int64]:
        """How many lines, paragraphs or sentences of each document were removed."""
        return np.bincount(self.removals.documents - self.n_against, minlength=len(self.pieces))


def line_run(result: LineDeduplication, collections: Collections) -> LineRun:
    """Return what a page is about, from a result in memory.

    Raises
    ------
    ValueError
        The texts, or ids, are not those of the result.
    """
    texts, against, *both_ids = collections.called(result.ids, result.against_ids)
    inputs, others = plain_strings(texts), [] if against is None else plain_strings(against)
    check_collections(len(inputs), result.documents, len(others), result.against_document)
    names = check_ids(both_ids[0], len(inputs))
    other_names = check_ids(both_ids[1], len(others), "against_ids")
    strings, n_against = [*others, *inputs], len(others)
    outside = result.against_document
    document = n_against + result.document
    kept_document = np.where(outside < 0, n_against + result.kept_document, outside)

    def passages(*columns: NDArray[np.int64]) -> list[Passage]:
        pieces = []
        for number, start, end in np.column_stack(columns).tolist():
            text, is_other = (strings[number] or "")[start:end], number < n_against
            position, ids = (number, other_names) if is_other else (number - n_against, names)
            pieces.append(Passage(text, name_of(position, ids), is_other))
        return pieces

    def read(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        kept = passages(kept_document[rows], result.kept_start[rows], result.kept_end[rows])
        return kept, passages(document[rows], result.start[rows], result.end[rows])

    pieces = pieces_of(inputs, result.by, window=result.options.get("window", 1))
    return LineRun(
        result.name,
        result.threshold,
        result.params,
        result.options,
        np.bincount(pieces.bounds[:, 0], minlength=len(inputs)),
        n_against,
        len(result.emptied),
        result.characters,
        result.limited,
        PieceRemovals(
            numbered(kept_document, result.kept_start), document, kept_document,
            result.end - result.start, result.similarity, read,
        ),
    )  # fmt: skip


def lines_page(run: LineRun, about: frame.About) -> str:
    """Return the page."""
    by, removals = run.by, run.removals.shown()
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
        (f"How often {by}s were removed", _sizes(by, removals)),
        ("Parameters", _parameters(run)),
    ]
    return frame.page(about, _summary(run), parts)


def _summary(run: LineRun) -> str:
    removed, everything = len(run.removals.documents), int(run.pieces.sum())
    outside = int((run.removals.kept_documents < run.n_against).sum())
    rows = [
        ("documents that lost something", int((run.lost > 0).sum())),
        ("documents that lost everything", run.emptied),
        ("characters removed", run.characters),
        (f"{run.by}s removed because they occur in the reference collection", outside),
        (f"{run.by}s kept without being compared with every candidate", run.limited),
    ]
    counted = [
        ("documents", len(run.pieces)),
        (f"{run.by}s", everything),
        ("removed", removed),
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


def _sizes(by: str, removals: RemovedPassages) -> str:
    sizes = removals.sizes
    if not len(sizes):
        return ""
    largest = (
        f"<p>Different {by}s that were removed: {len(sizes):,}. The most frequent one was"
        f" removed {int(sizes.max()):,} times.</p>"
    )
    return largest + removals.how_often(by)
