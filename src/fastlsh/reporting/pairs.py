"""The page about pairs of similar documents."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.reporting import frame, sections
from fastlsh.reporting.differences import AROUND_SHARED, Text, around_shared, beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.reporting.removals import Sharing
from fastlsh.results import Matches, Pairs
from fastlsh.texts import Shingler

AT_ONCE = 50
"""Pairs that are unfolded together."""


class ShownPairs(NamedTuple):
    """Pairs of documents, of which a page shows some."""

    documents: ReportedDocuments
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    similarity: NDArray[np.float64]
    also: NDArray[np.float64] | None = None
    """The similarity of the second texts; None: there are none."""

    def items(self, rows: NDArray[np.int64], shown: Callable[[Any, Any, Shingler], str]) -> str:
        """Return a list of some of the pairs; `shown` returns the HTML of both texts."""
        items = []
        for row in rows.tolist():
            left, right = int(self.left[row]), int(self.right[row])
            names = f"{self.documents.name(left)} and {self.documents.name(right)}"
            texts = self.documents.text(left), self.documents.text(right)
            both = shown(*texts, self.documents.shingler)
            also = None if self.also is None else self.also[row]
            items.append(frame.compared_item(names, self.similarity[row], both, also))
        return frame.gallery(items)


def differing_texts(one: Text, other: Text, shingler: Shingler) -> str:
    """Show how the first text begins, then where the two differ."""
    return f'<p class="kept">{beginning(one)}</p>{compared(one, other, shingler)}'


def shared_texts(one: Text, other: Text, shingler: Shingler) -> str:
    """Show both texts where they have most in common."""
    first = f'<p class="kept">{around_shared(one, other, shingler)}</p>'
    if one == other:
        return f'{first}<p class="same">both texts are identical</p>'
    return f"{first}<p>{around_shared(other, one, shingler)}</p>"


class PairFiles(NamedTuple):
    """The files of the documents, those of the other collection behind them."""

    names: Sequence[str]
    of_document: NDArray[np.int64]
    """int64 (n,): the number of the file of each."""
    characters: NDArray[np.int64]
    """int64 (n,): the length of each."""


def pairs_page(
    pairs: Pairs | Matches,
    documents: ReportedDocuments,
    threshold: float,
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
    most: int,
    table: str,
    files: PairFiles | None,
) -> str:
    """Return the page.

    Parameters
    ----------
    pairs, documents, threshold
        The pairs, the documents that were searched, and the threshold.
    title, notes, seconds
        As `fastlsh.report` takes them.
    most
        How many pairs are shown.
    table
        What has all pairs.
    files
        Where the documents are; None: not in one file each.
    """
    if isinstance(pairs, Matches):
        left, right = pairs.document, pairs.against + len(documents)
    else:
        left, right = pairs.left, pairs.right
    found = ShownPairs(documents, left, right, pairs.similarity, pairs.also_similarity)
    order = np.argsort(-pairs.similarity, kind="stable")[:most]
    shown = "\n".join(_part(found, order, start) for start in range(0, len(order), AT_ONCE))
    bars = sections.histogram(pairs.similarity, "Jaccard similarity", "pairs", threshold)
    parts = [
        ("How similar the pairs are", bars or "<p>No pair has a verified similarity.</p>"),
        ("Pairs by file", _by_file(files, found) if files else ""),
        ("The most similar pairs", _told(len(pairs) - most, table) + shown if shown else ""),
        ("Short documents", sections.too_short(documents)),
    ]
    involved = len(np.unique(np.concatenate([left, right])))
    counted = [
        ("documents", f"{len(documents):,}"),
        ("pairs", f"{len(pairs):,}"),
        ("documents in pairs", f"{involved:,}"),
        ("pairs of similarity 1", f"{int((pairs.similarity == 1).sum()):,}"),
    ]
    if ignored := documents.shingler.ignored:
        counted.append(("ignored shingles", f"{len(ignored):,}"))
    return frame.page(title, frame.tiles(counted), notes, parts, seconds)


def _by_file(files: PairFiles, pairs: ShownPairs) -> str:
    """Show how many pairs there are between which files, and how much these have in common."""
    _, left, right, similarity, *_ = pairs
    if not len(left):
        return ""
    share = np.nan_to_num(similarity / (1 + similarity))
    shared = np.rint(share * (files.characters[left] + files.characters[right])).astype(np.int64)
    one, other = np.sort([files.of_document[left], files.of_document[right]], axis=0)
    shares = Sharing.of(one, other + len(files.names), shared)  # also within a file
    names = [
        (frame.note(files.names[a]), frame.note(files.names[b]))
        for a, b in zip(one[shares.rows].tolist(), other[shares.rows].tolist(), strict=True)
    ]
    return (
        "<p>Shared characters follow from the similarity of each pair and the lengths of its"
        " texts: of equal texts, they are all characters of one of them.</p>"
    ) + shares.table(names, ("file", "other file", "pairs", "shared characters"))


def _told(more: int, table: str) -> str:
    rest = ""
    if more > 0:
        rest = f" {more:,} other pairs are not shown: {frame.note(table)} has all pairs."
    return (
        f"<p>Of each text, up to {AROUND_SHARED:,} characters are shown, where it has most in "
        "common with the other one. <mark>Marked</mark> text is in only one of the two."
        f"{rest}</p>"
    )


def _part(pairs: ShownPairs, order: NDArray[np.int64], start: int) -> str:
    """Show the pairs from one on that are unfolded together."""
    rows = order[start : start + AT_ONCE]
    which = f"Pairs {start + 1:,} to {start + len(rows):,}"
    return frame.folded(which, f"{pairs.items(rows, shared_texts)}\n", unfolded=not start)
