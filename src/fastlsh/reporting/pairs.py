"""The page about pairs of similar documents."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.reporting import sections
from fastlsh.reporting.differences import beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.reporting.frame import page
from fastlsh.results import Matches, Pairs

SHOWN = 20
"""Pairs that are shown with their differences."""


def pairs_page(
    found: Pairs | Matches,
    documents: ReportedDocuments,
    threshold: float,
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return the page; the documents are those that were searched."""
    if isinstance(found, Matches):
        left, right = found.document, found.against + len(documents)
    else:
        left, right = found.left, found.right
    most_similar = examples(documents, left, right, found.similarity, _first(found.similarity))
    bars = sections.histogram(found.similarity, "Jaccard similarity", "pairs", threshold)
    parts = [
        ("How similar the pairs are", bars or "<p>No pair has a verified similarity.</p>"),
        ("The most similar pairs", most_similar and _told(len(found)) + most_similar),
        ("Time", sections.times(seconds)),
    ]
    involved = len(np.unique(np.concatenate([left, right])))
    tiles = [
        ("documents", f"{len(documents):,}"),
        ("pairs", f"{len(found):,}"),
        ("documents in pairs", f"{involved:,}"),
        ("pairs of similarity 1", f"{int((found.similarity == 1).sum()):,}"),
    ]
    return page(title, sections.tiles(tiles), notes, parts)


def _first(similarity: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rows to show: the most similar first, but those that are equal last."""
    return np.lexsort([-similarity, similarity == 1])[:SHOWN]


def _told(count: int) -> str:
    more = count - SHOWN
    rest = f" {more:,} other pairs are not shown." if more > 0 else ""
    return (
        "<p>Each pair shows how the first document begins, then where the two differ. "
        "<mark>Marked</mark> text is in only one of the two: in the second document or, in the "
        "indented passage below it, in the first one. Pairs of similarity 1 come last."
        f"{rest}</p>"
    )


def examples(
    documents: ReportedDocuments,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    similarity: NDArray[np.float64],
    rows: Sequence[int] | NDArray[np.int64],
) -> str:
    """Show some of the pairs, each with its differences."""
    items = [_pair(documents, int(left[i]), int(right[i]), float(similarity[i])) for i in rows]
    return f"<ul>{chr(10).join(items)}</ul>" if items else ""


def _pair(documents: ReportedDocuments, left: int, right: int, similarity: float) -> str:
    text: Any = documents.text(left)
    value = "not verified" if np.isnan(similarity) else f"{similarity:.4f}"
    return (
        f"<li>{documents.name(left)} and {documents.name(right)} <span>{value}</span>"
        f'<p class="kept">{beginning(text)}</p>'
        f"{compared(text, documents.text(right), documents.shingler)}</li>"
    )
