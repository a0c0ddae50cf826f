"""The largest clusters, with what their members have that the kept document has not."""

import numpy as np
from numpy.typing import NDArray

from fastlsh.reporting.differences import COMPARED, beginning, differences
from fastlsh.reporting.documents import Documents
from fastlsh.results import Deduplication

CLUSTERS, MEMBERS = 20, 5
"""How many are shown, and how many documents of each."""

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
        self.removed = result.filtered
        inside, outside = result.kept_index[self.removed], result.against_index[self.removed]
        self.proof = np.where(inside >= 0, inside, result.documents + outside)
        self.similarity = result.similarity[self.removed]
        self.kept, self.sizes = np.unique(self.proof, return_counts=True)

    def largest(self) -> NDArray[np.int64]:
        """Return the places of the largest ones, the earlier first among equals."""
        return np.argsort(-self.sizes, kind="stable")[:CLUSTERS]

    def least_similar(self, kept: int) -> NDArray[np.int64]:
        """Return the places in `removed` of a cluster's members, the least similar first."""
        members = np.flatnonzero(self.proof == kept)
        by_similarity: NDArray[np.int64] = members[
            np.argsort(self.similarity[members], kind="stable")[:MEMBERS]
        ]
        return by_similarity


def largest(clusters: Clusters, documents: Documents) -> str:
    """Show the largest clusters."""
    shown = [
        _cluster(clusters, documents, place, " open" if number < OPEN else "")
        for number, place in enumerate(clusters.largest().tolist())
    ]
    if not shown:
        return ""
    more = len(clusters.kept) - len(shown)
    rest = f"<p>{more:,} smaller clusters are not shown.</p>" if more else ""
    return (
        "<p>Of each the kept document and those removed for it, the least similar first. "
        "<mark>Marked</mark> is what the removed one has and the kept one has not; indented, what "
        "the kept one has instead.</p>"
        f"{chr(10).join(shown)}{rest}"
    )


def _cluster(clusters: Clusters, documents: Documents, place: int, unfolded: str) -> str:
    kept, size = int(clusters.kept[place]), int(clusters.sizes[place])
    text = documents.text(kept)
    members = clusters.least_similar(kept).tolist()
    items = [
        _member(text, documents, int(clusters.removed[at]), float(clusters.similarity[at]))
        for at in members
    ]
    more = size - len(members)
    rest = f"<p>{more:,} more are not shown.</p>" if more else ""
    plural = "s" if size > 1 else ""
    return f"""<details{unfolded}>
<summary>{documents.name(kept)} <span>{size:,} duplicate{plural}</span></summary>
<p class="kept">{beginning(text)}</p>
<ul>
{chr(10).join(items)}
</ul>
{rest}</details>"""


def _member(kept: str | bytes, documents: Documents, number: int, similarity: float) -> str:
    text = documents.text(number)
    value = "not verified" if np.isnan(similarity) else f"{similarity:.4f}"
    head = f"<li>{documents.name(number)} <span>{value}</span>"
    if text == kept:
        return f'{head}<p class="same">identical</p></li>'
    found = differences(kept, text, documents.shingler)
    if not found.here and not found.there:
        part = f"nothing to show in the {COMPARED:,} characters that were compared"
        same = "the same shingles" if found.whole else part
        return f'{head}<p class="same">{same}</p></li>'
    parts = [f"<p>{found.here}</p>"] if found.here else []
    parts += [f'<p class="there">{found.there}</p>'] if found.there else []
    return f"{head}{''.join(parts)}</li>"
