"""The page about pairs of similar documents."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import batches
from fastlsh.reporting import frame, sections
from fastlsh.reporting.differences import AROUND_SHARED, Text, around_shared, beginning, compared
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.reporting.removals import Sharing
from fastlsh.results import Matches, Pairs
from fastlsh.texts import Shingler

AT_ONCE = 50
"""Pairs that are unfolded together."""


def pair_items(
    pairs: Pairs,
    rows: NDArray[np.int64],
    documents: ReportedDocuments,
    shown: Callable[[Any, Any, Shingler], str],
) -> str:
    """Return a list of some of the pairs; `shown` returns the HTML of both texts."""
    items = []
    for row in rows.tolist():
        left, right = int(pairs.left[row]), int(pairs.right[row])
        names = f"{documents.name(left)} and {documents.name(right)}"
        both = shown(documents.text(left), documents.text(right), documents.shingler)
        also = None if pairs.also_similarity is None else pairs.also_similarity[row]
        items.append(frame.compared_item(names, pairs.similarity[row], both, also))
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
    about: frame.About,
    most: int,
    table: str,
    files: PairFiles | None,
) -> str:
    """Return the page.

    Parameters
    ----------
    pairs, documents, threshold
        The pairs, the documents that were searched, and the threshold.
    about
        The title, notes and times of the page.
    most
        How many pairs are shown.
    table
        What has all pairs.
    files
        Where the documents are; None: not in one file each.
    """
    if isinstance(pairs, Matches):
        numbers = pairs.document, pairs.against + len(documents)
        pairs = Pairs(*numbers, pairs.similarity, also_similarity=pairs.also_similarity)
    order = np.argsort(-pairs.similarity, kind="stable")[:most]
    blocks = []
    for start, stop in batches(len(order), AT_ONCE):
        items = pair_items(pairs, order[start:stop], documents, shared_texts)
        which = f"Pairs {start + 1:,} to {stop:,}"
        blocks.append(frame.folded(which, f"{items}\n", unfolded=not start))
    shown = "\n".join(blocks)
    bars = sections.histogram(pairs.similarity, "Jaccard similarity", "pairs", threshold)
    parts = [
        ("How similar the pairs are", bars or "<p>No pair has a verified similarity.</p>"),
        ("Pairs by file", _by_file(files, pairs) if files else ""),
        ("The most similar pairs", _told(len(pairs) - most, table) + shown if shown else ""),
        ("Short documents", sections.too_short(documents)),
    ]
    involved = len(np.unique(np.concatenate([pairs.left, pairs.right])))
    counted = [
        ("documents", len(documents)),
        ("pairs", len(pairs)),
        ("documents in pairs", involved),
        ("pairs of similarity 1", int((pairs.similarity == 1).sum())),
    ]
    if ignored := documents.shingler.ignored:
        counted.append(("ignored shingles", len(ignored)))
    return frame.page(about, frame.tiles(counted), parts)


def _by_file(files: PairFiles, pairs: Pairs) -> str:
    """Show how many pairs there are between which files, and how much these have in common."""
    if not len(pairs):
        return ""
    left, right = pairs.left, pairs.right
    share = np.nan_to_num(pairs.similarity / (1 + pairs.similarity))
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
