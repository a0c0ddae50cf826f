"""The largest clusters of a deduplication."""

import numpy as np

from fastlsh.parallel import plural
from fastlsh.reporting import frame
from fastlsh.reporting.differences import beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.reporting.removals import LOOKED_AT, Groups
from fastlsh.results import Deduplication

CLUSTERS, MEMBERS = 20, 5
"""How many are shown, and how many documents of each."""

OPEN = 3
"""Clusters that are unfolded."""


def clusters_of(result: Deduplication) -> Groups:
    """Return the removed documents by their kept ones; those of `against` come behind all."""
    removed = result.removed
    inside, outside = result.kept_index[removed], result.against_index[removed]
    kept = np.where(inside >= 0, inside, result.documents + outside)
    return Groups(kept, removed, result.similarity[removed])


def largest(clusters: Groups, documents: ReportedDocuments, count: int) -> str:
    """Show the largest clusters, of `count`."""
    shown = [
        _cluster(clusters, documents, group, unfolded=number < OPEN)
        for number, group in enumerate(clusters.largest(CLUSTERS))
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


def _cluster(clusters: Groups, documents: ReportedDocuments, group: int, *, unfolded: bool) -> str:
    kept, size = int(clusters.kept[group]), int(clusters.sizes[group])
    text = documents.text(kept)
    items: list[str] = []
    shown, equal, again = {text}, 0, 0
    for member in clusters.members(group)[:LOOKED_AT].tolist():
        number, similarity = int(clusters.documents[member]), float(clusters.similarity[member])
        removed_text = documents.text(number)
        equal += removed_text == text
        again += removed_text != text and removed_text in shown
        if removed_text not in shown and len(items) < MEMBERS:
            shown.add(removed_text)
            difference = compared(text, removed_text, documents.shingler)
            items.append(frame.compared_item(documents.name(number), similarity, difference))
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
