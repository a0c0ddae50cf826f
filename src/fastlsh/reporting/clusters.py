"""The largest clusters, and which documents share most lines with an earlier one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.reporting import frame
from fastlsh.reporting.differences import beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.results import Deduplication

LISTED = 50
"""Pairs of documents that are listed."""


class Sharing(NamedTuple):
    """The pairs of a document that lost something and another one that keeps it.

    The arrays have the pairs that share the most characters, the earlier first among equals.
    """

    rows: NDArray[np.int64]
    """A removal of each listed pair."""
    pieces: NDArray[np.int64]
    """How many lines or paragraphs were removed from the one because the other one has them."""
    characters: NDArray[np.int64]
    total: int
    """How many pairs there are, listed or not."""


def sharing(
    kept: NDArray[np.int64], documents: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Sharing:
    """Count by pair of documents; the arguments are those of `removed_passages`."""
    rows = np.flatnonzero(kept != documents)
    kept, documents = kept[rows] - kept.min(initial=0), documents[rows]
    code = kept * (documents.max(initial=0) + 1) + documents
    _, first, pair, pieces = np.unique(
        code, return_index=True, return_inverse=True, return_counts=True
    )
    characters = np.zeros(len(first), np.int64)
    np.add.at(characters, pair, lengths[rows])
    order = np.argsort(-characters, kind="stable")[:LISTED]
    return Sharing(rows[first[order]], pieces[order], characters[order], len(first))


def sharing_table(shares: Sharing, names: Sequence[tuple[str, str]], by: str) -> str:
    """Show who shares how much with whom; `names` are HTML of the removed and the kept one."""
    if not shares.total:
        return ""
    return (
        f"<p>Each removed {by} counts for its document and the document that keeps it, which is"
        f" the first of all documents that have the {by}.</p>"
    ) + shares_table(shares, names, ("removed from", "kept in", f"{by}s", "characters"))


def shares_table(
    shares: Sharing, names: Sequence[tuple[str, str]], heading: tuple[str, str, str, str]
) -> str:
    """Show the names of both, and both counts, below a heading."""
    counted = zip(names, shares.pieces.tolist(), shares.characters.tolist(), strict=True)
    rows = [(*name, f"{pieces:,}", f"{characters:,}") for name, pieces, characters in counted]
    more = shares.total - len(rows)
    return frame.table(heading, rows) + frame.not_shown(
        more, "pairs that share fewer characters are not shown."
    )


class Repeated(NamedTuple):
    """A kept line, paragraph or passage and its removed copies; all texts are HTML."""

    text: str
    kept_in: str
    """What stands before the name of the document that keeps it."""
    kept: str
    """The name of this document."""
    removed: int
    """How many copies were removed."""
    documents: int
    """How many documents lost one."""
    losers: Sequence[str]
    """The names of the first of these documents."""
    variants: Sequence[str] = ()
    """Some of the copies that differ, as items of a list."""

    def __str__(self) -> str:
        more = self.documents - len(self.losers)
        rest = f" <span>and {plural(more, 'other document')}</span>" if more else ""
        return (
            f'<li><p class="kept">{self.text}</p>\n<span>{self.kept_in}</span> {self.kept}<span>;'
            f" removed {plural(self.removed, 'time')} from</span> {', '.join(self.losers)}{rest}"
            f"{frame.gallery(self.variants) if self.variants else ''}</li>"
        )


def removed_most_often(largest: Sequence[Repeated], count: int, piece: str, sentence: str) -> str:
    """Show the largest of the `count` kept pieces that were removed elsewhere, below a sentence."""
    if not largest:
        return f"<p>No {piece} was removed.</p>"
    less_often = f"{piece}s that were removed less often are not shown."
    rest = frame.not_shown(count - len(largest), less_often)
    return f"<p>{sentence}</p>{frame.gallery(map(str, largest))}{rest}"


CLUSTERS, MEMBERS = 20, 5
"""How many are shown, and how many documents of each."""

LOOKED_AT = 50
"""Members whose texts are read, to show different ones."""

OPEN = 3
"""Clusters that are unfolded."""


class Clusters:
    """The documents that others were removed for.

    Attributes
    ----------
    kept : ndarray of int64, shape (m,)
        Which they are, ascending; those of `against` come behind the collection.
    sizes : ndarray of int64, shape (m,)
        How many documents were removed for each.
    """

    def __init__(self, result: Deduplication) -> None:
        self.removed = result.removed
        inside, outside = result.kept_index[self.removed], result.against_index[self.removed]
        self.proof = np.where(inside >= 0, inside, result.documents + outside)
        self.similarity = result.similarity[self.removed]
        self.kept, self.sizes = np.unique(self.proof, return_counts=True)

    def largest(self) -> NDArray[np.int64]:
        """Return the numbers of the largest clusters, the earlier first among equals."""
        return np.argsort(-self.sizes, kind="stable")[:CLUSTERS]

    def least_similar(self, kept: int) -> NDArray[np.int64]:
        """Return the rows of `removed` with a cluster's members, the least similar first."""
        members = np.flatnonzero(self.proof == kept)
        by_similarity: NDArray[np.int64] = members[
            np.argsort(self.similarity[members], kind="stable")[:LOOKED_AT]
        ]
        return by_similarity


def largest(clusters: Clusters, documents: ReportedDocuments, count: int) -> str:
    """Show the largest clusters, of `count`."""
    shown = [
        _cluster(clusters, documents, index, unfolded=number < OPEN)
        for number, index in enumerate(clusters.largest().tolist())
    ]
    if not shown:
        return ""
    rest = frame.not_shown(count - len(shown), "other clusters are not shown.")
    return (
        "<p>Each cluster shows the kept document, then the removed documents that differ from it, "
        "the least similar first. <mark>Marked</mark> text is in only one of the two: in the "
        "removed document or, in the indented passage below it, in the kept one.</p>"
        f"{chr(10).join(shown)}{rest}"
    )


def _cluster(
    clusters: Clusters, documents: ReportedDocuments, index: int, *, unfolded: bool
) -> str:
    kept, size = int(clusters.kept[index]), int(clusters.sizes[index])
    text = documents.text(kept)
    items: list[str] = []
    shown, equal, again = {text}, 0, 0
    for at in clusters.least_similar(kept).tolist():
        number = int(clusters.removed[at])
        removed_text = documents.text(number)
        equal += removed_text == text
        again += removed_text != text and removed_text in shown
        if removed_text not in shown and len(items) < MEMBERS:
            shown.add(removed_text)
            items.append(
                _member(text, removed_text, documents, number, float(clusters.similarity[at]))
            )
    rest = _rest(size - len(items), equal, again, "" if size <= LOOKED_AT else "at least ")
    summary = f"{documents.name(kept)} <span>{plural(size, 'duplicate')}</span>"
    listed = f"<ul>\n{chr(10).join(items)}\n</ul>"
    inner = f'<p class="kept">{beginning(text)}</p>\n{listed}\n{rest}'
    return frame.folded(summary, inner, unfolded=unfolded)


def _rest(more: int, equal: int, again: int, least: str) -> str:
    """Tell what is not listed: copies of the kept document, copies of those shown, and others."""
    counted = (
        (equal, least, "identical to the kept document"),
        (again, least, "identical to a removed one above"),
        (more - equal - again, "", "not shown"),
    )
    parts = [
        f"{before}{count:,} more {'is' if count == 1 else 'are'} {what}"
        for count, before, what in counted
        if count
    ]
    sentence = "; ".join(parts)
    return f'<p class="same">{sentence[:1].upper()}{sentence[1:]}.</p>' if parts else ""


def _member(
    kept: str | bytes,
    text: str | bytes,
    documents: ReportedDocuments,
    number: int,
    similarity: float,
) -> str:
    shown = compared(kept, text, documents.shingler)
    value = frame.similarity_text(similarity)
    return f"<li>{documents.name(number)} <span>{value}</span>{shown}</li>"
