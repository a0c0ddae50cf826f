"""Cuts: which of the passages that occurred before go, from where to where, and where they stay."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.passages._passages import cuts
from fastlsh.arguments import check_choice, check_integer, check_share
from fastlsh.arrays import compare_share, unique
from fastlsh.parallel import Empty
from fastlsh.texts import (
    Shingler,
    Texts,
    inner_spans,
    original_spans,
    splits_characters,
    texts_without_spans,
    unit_counts,
)

Rows = NDArray[np.int64]


class CutKeywords(TypedDict, total=False):
    """The keyword arguments of `CutRules.of`, for type checkers."""

    join: str
    keep_least: int
    merge_gap: int
    snap: str
    max_share: float


@dataclass(frozen=True)
class CutRules:
    """What is cut of the passages that occurred before."""

    join: str
    keep_least: int
    merge_gap: int
    snap: str
    max_share: float

    @classmethod
    def of(
        cls,
        join: str = "",
        keep_least: int = 0,
        merge_gap: int = 0,
        snap: str = "none",
        max_share: float = 1.0,
    ) -> "CutRules":
        """Check the arguments of a public function.

        Parameters
        ----------
        join
            What is written in place of each cut between two remainders of a text.
        keep_least
            A text that lost something, and of which fewer units remain, is dropped.
        merge_gap
            Up to so many units between two cuts of a text go, too, although they stay nowhere
            else. They do not go if another passage was removed because it stays there, or if
            `max_share` keeps some of them.
        snap
            "word", "sentence" or "line": each cut begins and ends between two of these. Its ends
            move inwards, so what goes is still what stays elsewhere; "none": they do not move.
        max_share
            What occurs in more than this share of all documents, those of `against` included, is
            not removed but reported, and neither is what is left of a passage beside it if that is
            shorter than `min_length`.
        """
        if not isinstance(join, str):
            raise TypeError(f"join must be a str, got {type(join).__name__}")
        return cls(
            join,
            check_integer(keep_least, "keep_least"),
            check_integer(merge_gap, "merge_gap"),
            check_choice(snap, "snap"),
            check_share(max_share, "max_share"),
        )

    def moves_ends(self, shingler: Shingler) -> bool:
        """Return whether `moved_rows` changes cuts: `max_share` may keep a part of a character."""
        return self.snap != "none" or (self.max_share < 1 and splits_characters(shingler))

    @property
    def given(self) -> dict[str, Any]:
        """Those that are not the default."""
        default = asdict(CutRules.of())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    def n_whole(self, n_against: int) -> int:
        """Return how many documents of `against` count as losing nothing.

        With `max_share`, their repeated passages are counted, and dropped by `without_common`.
        """
        return n_against if self.max_share == 1 else 0


class Chosen(NamedTuple):
    """What goes of the passages that occurred before."""

    rows: Rows
    """int64 (m, 5), as `cut_rows` returns them."""
    common: Rows
    """int64 (n, 3), ascending: text, begin and end of what occurs in too many documents."""


def cut_rows(matches: Rows, documents: int, empty: Empty = np.empty) -> Rows:
    """Return what goes and where it stays, from sorted matches; see the kernel `cuts`.

    Returns
    -------
    ndarray of int64, shape (m, 5)
        Text, begin and end in units of the normalised text, and the text and the begin of the same
        units where they stay; ascending, and apart or with different sources.
    """
    room = len(matches) + 1
    while True:
        out = empty((room, 5), np.int64)
        count = cuts(matches, documents, out)
        if count >= 0:
            return out[:count]
        room *= 2


def united_matches(matches: Rows) -> Rows:
    """Return fewer sorted matches, of which `cut_rows` makes the same.

    What lies in a match before it goes, and overlapping matches with the same distance to the place
    where they occurred before are one.
    """
    if not len(matches):
        return matches
    begins = np.diff(matches[:, 0], prepend=-1) != 0
    end = np.cumsum(begins) * (matches[:, 2].max() + 1) + matches[:, 2]
    longer = np.diff(np.maximum.accumulate(end), prepend=-1) > 0
    return _merge_adjacent(matches[longer])


def without_common(
    rows: Rows, documents: int, n_against: int, max_share: float, length: int
) -> Chosen:
    """Take out what occurs in more than a share of the documents, and what `against` would lose.

    A unit occurs in the document where it stays, and in those that it is removed from.
    """
    nothing = np.empty((0, 3), np.int64)
    if max_share == 1 or not len(rows):
        return Chosen(rows, nothing)
    edge, depth = _counted(rows)
    pieces, place = _divided(rows, edge)
    counts = depth[np.searchsorted(edge, place, "right") - 1]
    often = compare_share(counts, documents, max_share) > 0
    in_collection = pieces[:, 0] >= n_against
    rest, common = pieces[~often & in_collection], pieces[often & in_collection]
    cut, spans = cuts_of(rest)
    long = spans[:, 1] - spans[:, 0] >= length
    together, spans = cuts_of(common)
    heads = np.flatnonzero(np.diff(together, prepend=-1))
    return Chosen(_merge_adjacent(rest[long[cut]]), np.column_stack([common[heads, 0], spans]))


def _counted(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the number of documents changes that have what stays, and the numbers.

    The places are those of `_flat`.
    """
    others = rows[rows[:, 0] != rows[:, 3]]
    begin, end = kept_units(others).T
    order = np.lexsort((begin, others[:, 0], others[:, 3]))
    others, begin, end = others[order], begin[order], end[order]
    # Of each document, a place where something stays counts once.
    new = np.any(np.diff(others[:, (0, 3)], axis=0, prepend=-1) != 0, axis=1)
    pair = np.cumsum(new) * _longest(rows)
    reach = np.maximum.accumulate(pair + end) - pair
    begin = np.maximum(begin, np.where(new, 0, np.roll(reach, 1)))
    counts = begin < end
    start = others[counts, 3] * _longest(rows)
    edges = np.concatenate([start + begin[counts], start + end[counts]])
    edge, inverse = np.unique(edges, return_inverse=True)
    steps = np.bincount(inverse, np.repeat([1, -1], counts.sum()), len(edge))
    depth = 1 + np.cumsum(steps).astype(np.int64)
    return np.concatenate([[-1], edge]), np.concatenate([[1], depth])


def _divided(rows: Rows, edge: NDArray[np.int64]) -> tuple[Rows, NDArray[np.int64]]:
    """Divide rows at edges of where they stay; return them, and where each begins to stay."""
    begin, end = _flat(rows)
    first = np.searchsorted(edge, begin, "right")
    inside = np.searchsorted(edge, end) - first
    row = np.repeat(np.arange(len(rows)), inside + 1)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(inside + 1) - inside - 1, inside + 1)
    place = np.where(nth, edge[np.minimum(first[row] + nth, len(edge)) - 1], begin[row])
    pieces = _shifted(rows[row], place - begin[row])
    pieces[:, 2] = np.where(nth < inside[row], np.roll(pieces[:, 1], -1), pieces[:, 2])
    return pieces, place


def whole_matches(texts: Texts, shingler: Shingler, matches: Rows, first: int = 0) -> Rows:
    """Return matches without the characters that do not lie in them as a whole.

    Parameters
    ----------
    texts, shingler
        Some consecutive texts, and the steps that they are normalised by.
    matches
        Those of these texts, in order.
    first
        The number of the first text.
    """
    if not splits_characters(shingler):
        return matches
    ends = inner_spans(texts, shingler, matches[:, 0] - first, matches[:, 1:3])
    return _within(matches, ends)


def moved_rows(
    rules: CutRules, texts: Texts, shingler: Shingler, rows: Rows, first: int = 0
) -> Rows:
    """Move the ends of cuts inwards, to characters, words, sentences or lines of the originals.

    Parameters
    ----------
    rules
        Where cuts end.
    texts, shingler, first
        As for `whole_matches`.
    rows
        What goes from them.
    """
    if not rules.moves_ends(shingler):
        return rows
    cut, ends = cuts_of(rows)
    heads = np.flatnonzero(np.diff(cut, prepend=-1))
    ends = inner_spans(texts, shingler, rows[heads, 0] - first, ends, rules.snap)
    return _within(rows, ends[cut])


def _within(rows: Rows, spans: Rows) -> Rows:
    """Return what of each row lies in a span of the same text."""
    inside = _shifted(rows, np.maximum(spans[:, 0] - rows[:, 1], 0))
    inside[:, 2] = np.minimum(rows[:, 2], spans[:, 1])
    return np.ascontiguousarray(inside[inside[:, 1] < inside[:, 2]])


def with_gaps(rows: Rows, common: Rows, merge_gap: int) -> Rows:
    """Add what is between two cuts that nearly touch, unless something stays there.

    What others have lost stays, and what is common. What is added stays nowhere: as the place where
    it does, it has -1 in its own text.
    """
    if not merge_gap or not len(rows):
        return rows
    size = rows[1:, 1] - rows[:-1, 2]
    gap = np.flatnonzero((rows[1:, 0] == rows[:-1, 0]) & (size > 0) & (size <= merge_gap))
    ends = rows[:, 4] + rows[:, 2] - rows[:, 1]
    stays = np.concatenate([np.column_stack([rows[:, 3:], ends]), common])
    longest = max(rows[:, 2].max(), stays[:, 2].max()) + 1
    begin, end = stays[:, 0] * longest + stays[:, 1:].T
    reach = np.concatenate([[-1], np.maximum.accumulate(end[np.argsort(begin)])])
    text, start, stop = rows[gap, 0], rows[gap, 2], rows[gap + 1, 1]
    line = text * longest
    free = reach[np.searchsorted(np.sort(begin), line + stop)] <= line + start
    added = np.column_stack([text, start, stop, text, np.full(len(gap), -1)])[free]
    return np.insert(rows, gap[free] + 1, added, axis=0)


class CutTexts(NamedTuple):
    """What is left of the texts of a collection that lose passages."""

    texts: dict[int, str]
    """By number."""
    removed: Rows
    """int64 (m, 3): text, begin and end of what goes, in code points of the original texts."""
    kept: Rows
    """int64 (m, 3): where it stays; the same text and -1: nowhere, as it is between two cuts."""
    common: Rows
    """int64 (n, 3): text, begin and end of what stays because it occurs in many documents."""
    dropped: NDArray[np.int64]
    """int64, ascending: the texts of which too little is left."""


def cut_texts(
    texts: Texts, shingler: Shingler, rows: Rows, length: int, n_against: int, rules: CutRules
) -> CutTexts:
    """Cut passages out of the original texts.

    Parameters
    ----------
    texts, shingler, length
        As `repeated_passages` takes them.
    rows
        As it returns them.
    n_against
        How many texts, the first ones, are of `against`: nothing is removed from them.
    rules
        What of these is cut.
    """
    rows, common = without_common(rows, len(texts), n_against, rules.max_share, length)
    rows = with_gaps(moved_rows(rules, texts, shingler, rows), common, rules.merge_gap)
    dropped = too_short(texts, shingler, rows, rules.keep_least)
    removed = np.column_stack([rows[:, 0], removed_spans(texts, shingler, rows)])
    whole = removed[:, 1] < removed[:, 2]  # else the next row has the character
    rows, removed = rows[whole], removed[whole]
    kept = np.column_stack(
        [rows[:, 3], original_spans(texts, shingler, rows[:, 3], kept_units(rows))]
    )
    number = common[:, 0]
    return CutTexts(
        texts_without_spans(texts, removed, rules.join),
        removed,
        kept,
        np.column_stack([number, original_spans(texts, shingler, number, common[:, 1:])]),
        dropped,
    )


def kept_units(rows: Rows) -> Rows:
    """Return where stretches begin and end in the texts where they stay; -1: they do not."""
    ends = rows[:, 4] + rows[:, 2] - rows[:, 1]
    return np.column_stack([rows[:, 4], np.where(rows[:, 4] < 0, -1, ends)])


def removed_spans(texts: Texts, shingler: Shingler, rows: Rows, first: int = 0) -> Rows:
    """Return what goes in the original texts, with what the steps left out inside a cut.

    A character that is a part of two rows goes with the second one.

    Parameters
    ----------
    texts, shingler, rows, first
        As for `moved_rows`.
    """
    spans = original_spans(texts, shingler, rows[:, 0] - first, rows[:, 1:3])
    touching = np.flatnonzero((rows[1:, 0] == rows[:-1, 0]) & (rows[1:, 1] == rows[:-1, 2]))
    spans[touching, 1] = spans[touching + 1, 0]
    return spans


def too_short(texts: Texts, shingler: Shingler, rows: Rows, keep_least: int) -> NDArray[np.int64]:
    """Return the texts that lose something, and of which fewer units remain; as `cut_texts`."""
    if not keep_least:
        return np.empty(0, np.int64)
    text = rows[:, 0]
    changed = unique(text)
    lengths = unit_counts(texts, shingler, changed)
    gone = np.bincount(np.searchsorted(changed, text), rows[:, 2] - rows[:, 1], len(changed))
    return changed[lengths - gone < keep_least]


def _longest(rows: Rows) -> int:
    """Return a number above all places in texts."""
    return int(max(rows[:, 2].max(), kept_units(rows)[:, 1].max())) + 1


def _flat(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where stretches begin and end where they stay, all texts in one line."""
    start = rows[:, 3] * _longest(rows)
    begin, end = kept_units(rows).T
    return start + begin, start + end


def _shifted(rows: Rows, units: NDArray[np.int64]) -> Rows:
    """Return rows that begin so many units later."""
    shifted = rows.copy()
    shifted[:, 1] += units
    shifted[:, 4] += units
    return shifted


def cuts_of(rows: Rows) -> tuple[NDArray[np.int64], Rows]:
    """Return the cut that each row is a part of, and where the cuts begin and end."""
    follows = (rows[1:, 0] == rows[:-1, 0]) & (rows[1:, 1] == rows[:-1, 2])
    cut = np.cumsum(np.concatenate([[True], ~follows])[: len(rows)]) - 1
    heads = np.flatnonzero(np.diff(cut, prepend=-1))
    tails = np.append(heads[1:], len(rows)) - 1 if len(rows) else heads
    return cut, np.column_stack([rows[heads, 1], rows[tails, 2]])


def _merge_adjacent(rows: Rows) -> Rows:
    """Return rows in which a stretch that stays in one place is one row; their ends ascend."""
    if not len(rows):
        return rows
    follows = (
        (rows[1:, 0] == rows[:-1, 0])
        & (rows[1:, 1] <= rows[:-1, 2])
        & (rows[1:, 3] == rows[:-1, 3])
        & (rows[1:, 4] - rows[:-1, 4] == rows[1:, 1] - rows[:-1, 1])
    )
    heads = np.flatnonzero(np.concatenate([[True], ~follows]))
    merged = rows[heads]
    merged[:, 2] = rows[np.append(heads[1:], len(rows)) - 1, 2]
    return merged
