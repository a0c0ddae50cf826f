"""Which documents share most lines or paragraphs with an earlier one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    """Count by pair of documents; the arguments are those of `removals`."""
    rows = np.flatnonzero(kept != documents)
    kept, documents = kept[rows] - kept.min(initial=0), documents[rows]
    code = kept * (documents.max(initial=0) + 1) + documents
    _, first, pair, pieces = np.unique(
        code, return_index=True, return_inverse=True, return_counts=True
    )
    characters = np.zeros(len(first), np.int64)
    np.add.at(characters, pair, lengths[rows])
    largest = np.argsort(-characters, kind="stable")[:LISTED]
    return Sharing(rows[first[largest]], pieces[largest], characters[largest], len(first))


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
    lines = [
        f"<tr><td>{lost}</td><td>{kept}</td><td>{pieces:,}</td><td>{characters:,}</td></tr>"
        for (lost, kept), pieces, characters in counted
    ]
    more = shares.total - len(lines)
    rest = f"<p>{more:,} pairs that share fewer characters are not shown.</p>" if more else ""
    head = "".join(f"<th>{each}</th>" for each in heading)
    return (
        f'<table class="shares"><thead><tr>{head}</tr></thead><tbody>\n{chr(10).join(lines)}\n'
        f"</tbody></table>{rest}"
    )
