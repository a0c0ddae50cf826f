"""The largest clusters, and how their members differ from the kept document."""

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.reporting.differences import beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.results import Deduplication

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
        _cluster(clusters, documents, index, " open" if number < OPEN else "")
        for number, index in enumerate(clusters.largest().tolist())
    ]
    if not shown:
        return ""
    more = count - len(shown)
    rest = f"<p>{more:,} other clusters are not shown.</p>" if more else ""
    return (
        "<p>Each cluster shows the kept document, then the removed documents that differ from it, "
        "the least similar first. <mark>Marked</mark> text is in only one of the two: in the "
        "removed document or, in the indented passage below it, in the kept one.</p>"
        f"{chr(10).join(shown)}{rest}"
    )


def _cluster(clusters: Clusters, documents: ReportedDocuments, index: int, unfolded: str) -> str:
    kept, size = int(clusters.kept[index]), int(clusters.sizes[index])
    text = documents.text(kept)
    items: list[str] = []
    shown, equal, again = {text}, 0, 0
    for at in clusters.least_similar(kept).tolist():
        number = int(clusters.removed[at])
        own = documents.text(number)
        equal += own == text
        again += own != text and own in shown
        if own not in shown and len(items) < MEMBERS:
            shown.add(own)
            items.append(_member(text, own, documents, number, float(clusters.similarity[at])))
    rest = _rest(size - len(items), equal, again, "" if size <= LOOKED_AT else "at least ")
    return f"""<details{unfolded}>
<summary>{documents.name(kept)} <span>{plural(size, "duplicate")}</span></summary>
<p class="kept">{beginning(text)}</p>
<ul>
{chr(10).join(items)}
</ul>
{rest}</details>"""


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
    value = "not verified" if np.isnan(similarity) else f"{similarity:.4f}"
    shown = compared(kept, text, documents.shingler)
    return f"<li>{documents.name(number)} <span>{value}</span>{shown}</li>"
