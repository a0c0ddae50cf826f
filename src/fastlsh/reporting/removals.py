"""What was removed, by what is kept of it: counts, the largest groups, and who shares with whom."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.reporting import frame
from fastlsh.reporting.differences import beginning, differences
from fastlsh.texts import Shingler

LISTED = 50
"""Pairs of documents that are listed."""

SHOWN, VARIANTS, NAMED = 50, 3, 5
"""Pieces that are shown, and of each how many variants and documents that lost one."""

LOOKED_AT = 50
"""Removed texts of a group that are read, to show different ones."""

AROUND, LONGEST = 60, 2_000
"""Characters of the context on each side, and of a passage that is read."""


class Groups:
    """Removed documents or pieces of documents, grouped by what is kept of them.

    Parameters
    ----------
    kept
        int64 (n,): the number of what is kept of each removal.
    documents
        int64 (n,): the document that was removed, or that lost a piece.
    similarity, also
        float64 (n,): of each removal to what is kept, and of the second texts, if there are any.

    Attributes
    ----------
    kept : ndarray of int64, shape (m,)
        The kept number of each group, ascending.
    sizes : ndarray of int64, shape (m,)
        How many removals each group has.
    """

    def __init__(
        self,
        kept: NDArray[np.int64],
        documents: NDArray[np.int64],
        similarity: NDArray[np.float64],
        also: NDArray[np.float64] | None = None,
    ) -> None:
        self.kept, self.sizes = np.unique(kept, return_counts=True)
        self._kept_of_each = kept
        self.documents, self.similarity, self.also = documents, similarity, also

    def largest(self, most: int) -> list[int]:
        """Return the numbers of the largest groups, the earlier first among equals."""
        largest: list[int] = np.argsort(-self.sizes, kind="stable")[:most].tolist()
        return largest

    def members(self, group: int) -> NDArray[np.int64]:
        """Return the removals of a group, the least similar first."""
        members = np.flatnonzero(self._kept_of_each == self.kept[group])
        by_similarity: NDArray[np.int64] = members[
            np.argsort(self.similarity[members], kind="stable")
        ]
        return by_similarity

    def losers(self, members: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
        """Return how many documents the members are of, and a member of each of the first ones."""
        _, first = np.unique(self.documents[members], return_index=True)
        return len(first), members[first[:NAMED]]


class Sharing(NamedTuple):
    """The pairs of a document that lost pieces and another document that keeps them.

    The arrays have the pairs that share the most characters, the earlier first among equals.
    """

    rows: NDArray[np.int64]
    """A removal of each listed pair."""
    pieces: NDArray[np.int64]
    """How many pieces the first document lost because the second document keeps them."""
    characters: NDArray[np.int64]
    total: int
    """How many pairs there are, listed or not."""

    @classmethod
    def of(
        cls, kept: NDArray[np.int64], documents: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> "Sharing":
        """Count the removals by their kept document and the one that lost so many characters."""
        rows = np.flatnonzero(kept != documents)
        code = numbered(kept[rows], documents[rows])
        _, first, pair, pieces = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
        characters = np.zeros(len(first), np.int64)
        np.add.at(characters, pair, lengths[rows])
        order = np.argsort(-characters, kind="stable")[:LISTED]
        return cls(rows[first[order]], pieces[order], characters[order], len(first))

    def table(self, names: Sequence[tuple[str, str]], heading: tuple[str, str, str, str]) -> str:
        """Show the names of both documents, which are HTML, and the counts, below a heading."""
        counted = zip(names, self.pieces.tolist(), self.characters.tolist(), strict=True)
        rows = [(*name, pieces, characters) for name, pieces, characters in counted]
        fewer = "pairs that share fewer characters are not shown."
        return frame.table(heading, rows) + frame.not_shown(self.total - len(rows), fewer)


def numbered(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same number for equal pairs of numbers, ascending as the pairs do."""
    factor = int(second.max(initial=0)) + 1
    return (first - int(first.min(initial=0))) * factor + second


class Excerpt(NamedTuple):
    """A stretch of a text, and what is around it."""

    before: str
    text: str
    behind: str

    @classmethod
    def of(cls, text: str, start: int, end: int) -> "Excerpt":
        """Take it out of a text; of a long stretch, the beginning."""
        stop = min(end, start + LONGEST)
        behind = text[end : end + AROUND] if stop == end else ""
        return cls(text[max(start - AROUND, 0) : start], text[start:stop], behind)


class Passage(NamedTuple):
    """A line, paragraph or passage, and where it is."""

    text: str
    id: Any
    """Of its document."""
    outside: bool = False
    """Whether that is one of `against`."""

    @property
    def name(self) -> str:
        """The id as HTML."""
        return frame.identifier(self.id, outside=self.outside)


class Repeated(NamedTuple):
    """A kept line, paragraph or passage, and what was removed for it."""

    shown: str
    """Its text as HTML."""
    kept_in: str
    """What stands before the name of the document that keeps it."""
    kept: Passage
    removed: int
    """How many copies were removed."""
    documents: int
    """How many documents lost a copy."""
    losers: Sequence[Passage]
    """A copy of each of the first of these documents."""
    others: Sequence[tuple[Passage, float]] = ()
    """Some of the copies, the least similar first, and how similar they are."""

    def item(self, shingler: Shingler) -> str:
        """Return it as an item of a list, with the copies that differ."""
        more = self.documents - len(self.losers)
        rest = f" <span>and {plural(more, 'other document')}</span>" if more else ""
        variants = self._variants(shingler)
        return (
            f'<li><p class="kept">{self.shown}</p>\n<span>{self.kept_in}</span> {self.kept.name}'
            f"<span>; removed {plural(self.removed, 'time')} from</span>"
            f" {', '.join(loser.name for loser in self.losers)}{rest}"
            f"{frame.gallery(variants) if variants else ''}</li>"
        )

    def _variants(self, shingler: Shingler) -> list[str]:
        texts, variants = {self.kept.text}, list[str]()
        for other, similarity in self.others:
            if other.text not in texts and len(variants) < VARIANTS:
                texts.add(other.text)
                shown = str(differences(self.kept.text, other.text, shingler))
                shown = shown or f"<p>{beginning(other.text)}</p>"  # equal once normalised
                variants.append(frame.compared_item(other.name, similarity, shown))
        return variants


class RemovedPassages(NamedTuple):
    """What was removed for what, and the sections of a page that show it."""

    sizes: NDArray[np.int64]
    """int64 (m,): how many pieces were removed for each kept piece."""
    largest: list[Repeated]
    """The kept pieces for which most pieces were removed, the earlier first among equals."""
    sharing: Sharing
    pairs: list[tuple[Passage, Passage]]
    """A kept and a removed piece of each pair of documents of `sharing`."""

    def most_often(self, piece: str, sentence: str, shingler: Shingler) -> str:
        """Show the largest groups below a sentence; a `piece` is a line, for example."""
        if not self.largest:
            return f"<p>No {piece} was removed.</p>"
        items = frame.gallery(repeated.item(shingler) for repeated in self.largest)
        less_often = f"{piece}s that were removed less often are not shown."
        rest = frame.not_shown(len(self.sizes) - len(self.largest), less_often)
        return f"<p>{sentence}</p>{items}{rest}"

    def who_shares(self, piece: str) -> str:
        """Show which documents share how much with which other ones."""
        if not self.sharing.total:
            return ""
        names = [(removed.name, kept.name) for kept, removed in self.pairs]
        return (
            f"<p>Each removed {piece} counts for its document and the document that keeps it, which"
            f" is the first of all documents that have the {piece}.</p>"
        ) + self.sharing.table(names, ("removed from", "kept in", f"{piece}s", "characters"))

    def how_often(self, piece: str) -> str:
        """Show how many pieces were removed how often."""
        return frame.by_powers(self.sizes, ("times", f"{piece}s")) if len(self.sizes) else ""


class PieceRemovals(NamedTuple):
    """The lines, paragraphs or sentences that were removed, n of them."""

    kept: NDArray[np.int64]
    """int64 (n,): a number for the kept piece of each, ascending as the pieces do."""
    documents: NDArray[np.int64]
    """int64 (n,): the document that lost something."""
    kept_documents: NDArray[np.int64]
    """int64 (n,): the document of the kept piece."""
    lengths: NDArray[np.int64]
    """int64 (n,): how many characters were removed."""
    similarity: NDArray[np.float64]
    read: Callable[[NDArray[np.int64]], tuple[list[Passage], list[Passage]]]
    """A function that returns the kept and the removed pieces of some removals, by their rows."""

    def shown(self) -> RemovedPassages:
        """Gather what a page shows; what it shows of pieces is read at once."""
        groups = Groups(self.kept, self.documents, self.similarity)
        sharing = Sharing.of(self.kept_documents, self.documents, self.lengths)
        largest = [groups.members(group) for group in groups.largest(SHOWN)]
        losers = [groups.losers(members) for members in largest]
        looked_at = [members[:LOOKED_AT] for members in largest]
        rows = np.concatenate([sharing.rows, *looked_at, *(rows for _, rows in losers)])
        kept, removed = (
            dict(zip(rows.tolist(), pieces, strict=True)) for pieces in self.read(rows)
        )
        repeated = []
        for members, looked, (count, of_losers) in zip(largest, looked_at, losers, strict=True):
            passage = kept[int(members[0])]
            others = [(removed[row], float(self.similarity[row])) for row in looked.tolist()]
            lost = [removed[row] for row in of_losers.tolist()]
            shown = beginning(passage.text)
            repeated.append(Repeated(shown, "kept in", passage, len(members), count, lost, others))
        pairs = [(kept[row], removed[row]) for row in sharing.rows.tolist()]
        return RemovedPassages(groups.sizes, repeated, sharing, pairs)
