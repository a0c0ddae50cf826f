"""The lines or paragraphs that were removed most often, with the variants that were removed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.html import escaped, shortened
from fastlsh.reporting.differences import beginning, differences
from fastlsh.reporting.documents import MOST_ID
from fastlsh.texts import Shingler

SHOWN, VARIANTS = 50, 3
"""How many are shown, and how many variants of each."""

LOOKED_AT = 50
"""Removed ones whose texts are read, to find the variants."""


class Passage(NamedTuple):
    """A line or paragraph, and where it is."""

    text: str
    id: Any
    """Of its document."""
    outside: bool = False
    """Whether that is one of `against`."""


class Repeated(NamedTuple):
    """A kept line or paragraph, and what was removed for it."""

    kept: Passage
    removed: int
    documents: int
    """How many documents lost one."""
    others: list[tuple[Passage, float]]
    """Up to 50 of those that were removed, the least similar first, and how similar they are."""


class Removals(NamedTuple):
    """What was removed for what."""

    sizes: NDArray[np.int64]
    """int64 (m,): how many were removed for each kept one that others were removed for."""
    largest: list[Repeated]
    """The largest of these, the earlier first among equals."""


def removals(
    kept: NDArray[np.int64],
    documents: NDArray[np.int64],
    similarity: NDArray[np.float64],
    read: Callable[[NDArray[np.int64]], tuple[list[Passage], list[Passage]]],
) -> Removals:
    """Gather what a page shows.

    Parameters
    ----------
    kept
        int64 (n,): a number for the kept one of each removal, ascending as these do.
    documents
        int64 (n,): the document that lost something.
    similarity
        float64 (n,).
    read
        A function that returns, for the numbers of some removals, the kept and the removed ones.
    """
    _, group, sizes = np.unique(kept, return_inverse=True, return_counts=True)
    rows = np.lexsort([similarity, group])
    starts = np.cumsum(sizes) - sizes
    largest = np.argsort(-sizes, kind="stable")[:SHOWN].tolist()
    members = [rows[starts[i] : starts[i] + sizes[i]] for i in largest]
    looked_at = [each[:LOOKED_AT] for each in members]
    heads, others = read(np.concatenate([np.empty(0, np.int64), *looked_at]))
    found, at = [], 0
    for all_rows, seen in zip(members, looked_at, strict=True):
        stop = at + len(seen)
        pairs = list(zip(others[at:stop], similarity[seen].tolist(), strict=True))
        lost = len(np.unique(documents[all_rows]))
        found.append(Repeated(heads[at], len(all_rows), lost, pairs))
        at = stop
    return Removals(sizes, found)


def shown(removals: Removals, by: str, shingler: Shingler) -> str:
    """Show the passages that were removed most often."""
    if not removals.largest:
        return f"<p>No {by} was removed.</p>"
    more = len(removals.sizes) - len(removals.largest)
    rest = f"<p>{more:,} {by}s that were removed less often are not shown.</p>" if more else ""
    return (
        f"<p>Each {by} is kept in the document named below it. Variants that differ from it are "
        f"listed, the least similar first; <mark>marked</mark> text is in only one of the two: in "
        f"the variant or, in the indented passage below it, in the kept {by}.</p>"
        f"<ul>{chr(10).join(_repeated(each, shingler) for each in removals.largest)}</ul>{rest}"
    )


def _repeated(one: Repeated, shingler: Shingler) -> str:
    shown, items = {one.kept.text}, list[str]()
    for passage, similarity in one.others:
        if passage.text not in shown and len(items) < VARIANTS:
            shown.add(passage.text)
            items.append(_variant(one.kept, passage, similarity, shingler))
    times = f"removed {one.removed:,} time{'s' if one.removed > 1 else ''}"
    lost = f"from {one.documents:,} document{'s' if one.documents > 1 else ''}"
    variants = f"<ul>{chr(10).join(items)}</ul>" if items else ""
    return (
        f'<li><p class="kept">{beginning(one.kept.text)}</p>\n'
        f"<span>{times} {lost}; kept in</span> {_name(one.kept)}{variants}</li>"
    )


def _variant(kept: Passage, other: Passage, similarity: float, shingler: Shingler) -> str:
    value = "not verified" if np.isnan(similarity) else f"{similarity:.4f}"
    found = differences(kept.text, other.text, shingler)
    head = f"<li>{_name(other)} <span>{value}</span>"
    if not found.here and not found.there:  # equal once both are normalised
        return f"{head}<p>{beginning(other.text)}</p></li>"
    parts = [f"<p>{found.here}</p>"] if found.here else []
    parts += [f'<p class="there">{found.there}</p>'] if found.there else []
    return f"{head}{''.join(parts)}</li>"


def _name(passage: Passage) -> str:
    origin = " <small>from the reference collection</small>" if passage.outside else ""
    return f'<bdi class="id">{escaped(shortened(str(passage.id), MOST_ID))}</bdi>{origin}'
