"""The lines or paragraphs that were removed most often, with the variants that were removed."""

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.html import escaped, shortened
from fastlsh.parallel import plural
from fastlsh.reporting.differences import beginning, differences
from fastlsh.reporting.documents import MOST_ID
from fastlsh.reporting.sharing import Sharing, sharing, sharing_table
from fastlsh.texts import Shingler

SHOWN, VARIANTS, NAMED = 50, 3, 5
"""How many are shown, and of each how many variants and documents that lost one."""

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
    losers: list[Passage]
    """One of each of the first documents that lost one, up to 5."""
    others: list[tuple[Passage, float]]
    """Up to 50 of those that were removed, the least similar first, and how similar they are."""


class Removals(NamedTuple):
    """What was removed for what."""

    sizes: NDArray[np.int64]
    """int64 (m,): how many were removed for each kept one that others were removed for."""
    largest: list[Repeated]
    """The largest of these, the earlier first among equals."""
    sharing: Sharing
    pairs: list[tuple[Passage, Passage]]
    """A kept and its removed one of each pair of documents of `sharing`."""


def removals(
    kept: NDArray[np.int64],
    documents: NDArray[np.int64],
    kept_documents: NDArray[np.int64],
    lengths: NDArray[np.int64],
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
    kept_documents
        int64 (n,): the document of the kept one; below 0, ascending, if it is one of `against`.
    lengths
        int64 (n,): how many characters were removed.
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
    shares = sharing(kept_documents, documents, lengths)
    asked = [shares.rows]
    for each in members:
        _, first = np.unique(documents[each], return_index=True)
        asked += [each[:LOOKED_AT], each[first[:NAMED]]]
    both = iter(list(zip(*read(np.concatenate(asked)), strict=True)))
    pairs = list(islice(both, len(shares.rows)))
    found = []
    for each in members:
        looked_at = list(islice(both, min(len(each), LOOKED_AT)))
        lost = len(np.unique(documents[each]))
        losers = [passage for _, passage in islice(both, min(lost, NAMED))]
        values = similarity[each].tolist()
        others = [(passage, value) for (_, passage), value in zip(looked_at, values, strict=False)]
        found.append(Repeated(looked_at[0][0], len(each), lost, losers, others))
    return Removals(sizes, found, shares, pairs)


def shown(removals: Removals, by: str, shingler: Shingler) -> str:
    """Show the passages that were removed most often."""
    if not removals.largest:
        return f"<p>No {by} was removed.</p>"
    more = len(removals.sizes) - len(removals.largest)
    rest = f"<p>{more:,} {by}s that were removed less often are not shown.</p>" if more else ""
    return (
        f"<p>Each {by} is kept in the document named below it, and was removed from the documents "
        f"named behind that one. Variants that differ from the kept {by} are listed, the least "
        f"similar first; <mark>marked</mark> text is in only one of the two: in the "
        f"variant or, in the indented passage below it, in the kept {by}.</p>"
        f"<ul>{chr(10).join(_repeated(each, shingler) for each in removals.largest)}</ul>{rest}"
    )


def _repeated(one: Repeated, shingler: Shingler) -> str:
    shown, items = {one.kept.text}, list[str]()
    for passage, similarity in one.others:
        if passage.text not in shown and len(items) < VARIANTS:
            shown.add(passage.text)
            items.append(_variant(one.kept, passage, similarity, shingler))
    times = f"removed {plural(one.removed, 'time')}"
    named = ", ".join(map(_name, one.losers))
    more = one.documents - len(one.losers)
    rest = f" <span>and {plural(more, 'other document')}</span>" if more else ""
    variants = f"<ul>{chr(10).join(items)}</ul>" if items else ""
    return (
        f'<li><p class="kept">{beginning(one.kept.text)}</p>\n'
        f"<span>kept in</span> {_name(one.kept)}<span>; {times} from</span> {named}{rest}"
        f"{variants}</li>"
    )


def shared(removals: Removals, by: str) -> str:
    """Show which documents share most with an earlier one."""
    names = [(_name(removed), _name(kept)) for kept, removed in removals.pairs]
    return sharing_table(removals.sharing, names, by)


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
