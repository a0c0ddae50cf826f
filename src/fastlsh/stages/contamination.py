"""Which items are in which documents, found in a table and compared as text; and what is cut."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.passages._passages import extend_grams
from fastlsh._kernels.text._texts import Spans
from fastlsh.arrays import compare_share, offsets_of, ranges_of
from fastlsh.parallel import batches_by_work
from fastlsh.stages.gram_table import ItemGrams
from fastlsh.texts import Texts, UnitTexts, original_spans


def cut_around(
    lengths: NDArray[np.int64],
    spans: NDArray[np.int64],
    around: int,
    min_piece: int,
    max_pieces: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is cut out, int64 (m, 3): document, begin and end; and which documents go.

    Parameters
    ----------
    lengths
        int64 (n,): the code points of each document with spans, in their order.
    spans
        int64 (m, 3): document, begin and end of what they have in common with items, by document.
    around
        Code points before and behind a span that are cut out as well.
    min_piece, max_pieces
        A shorter piece between two cuts goes, too. So does a document that is cut into more
        pieces, or of which no piece is left.
    """
    cuts: list[tuple[int, int, int]] = []
    dropped: list[int] = []
    edges = np.flatnonzero(np.diff(spans[:, 0], prepend=-1, append=-1))
    for length, (start, stop) in zip(lengths.tolist(), pairwise(edges.tolist()), strict=True):
        document = int(spans[start, 0])
        pieces, end = [], 0
        for begin, following in sorted(spans[start:stop, 1:].tolist()):
            if begin - around > end:
                pieces.append((end, begin - around))
            end = max(end, min(following + around, length))
        if end < length:
            pieces.append((end, length))
        left = [(a, b) for a, b in pieces if b - a >= min_piece]
        if not left or (max_pieces is not None and len(pieces) > max_pieces):
            dropped.append(document)
            continue
        bounds = [0, *(place for piece in left for place in piece), length]
        for begin, following in zip(bounds[::2], bounds[1::2], strict=True):
            if following > begin:
                cuts.append((document, begin, following))
    return np.array(cuts, np.int64).reshape(-1, 3), np.array(dropped, np.int64)


ROWS = 1 << 18
"""N-grams that are compared at a time, each with every field that has it."""

ALONE = 0.5
"""An n-gram is alone in a document that has a smaller share of each item with this n-gram."""


@dataclass(frozen=True)
class Matches:
    """N-grams of items in the documents of a batch, each compared as text.

    A document and an n-gram have a row for each stretch of the document that the runs around the
    n-gram cover, or a few of them that touch.
    """

    document: NDArray[np.int64]
    """int64 (n,), ascending: the document of each."""
    gram: NDArray[np.int64]
    """int64 (n,): the n-gram of the item, by its row in `ItemGrams.grams`."""
    run: NDArray[np.int64]
    """int64 (n,): units of the longest run of equal units around it."""
    spans: NDArray[np.int64]
    """int64 (n, 5): field, the units where the stretch begins and ends in the document, and the
    same places as code points of the normalised document."""

    @classmethod
    def joined(cls, parts: "list[Matches]") -> "Matches":
        """Return the rows of all parts, in their order."""
        return cls(
            np.concatenate([part.document for part in parts]),
            np.concatenate([part.gram for part in parts]),
            np.concatenate([part.run for part in parts]),
            np.concatenate([part.spans for part in parts]),
        )


class Containments(NamedTuple):
    """Items in documents, ascending by both."""

    document: NDArray[np.int64]
    """int64 (n,)"""
    item: NDArray[np.int64]
    """int64 (n,)"""
    grams: NDArray[np.int64]
    """int64 (n,): how many of the item's different n-grams that count are in the document."""
    run: NDArray[np.int64]
    """int64 (n,): units of the longest run that contains one of them."""
    spans: NDArray[np.int64]
    """int64 (m, 4), ascending: which row, the field, and where the runs of the field begin and end
    in the document."""

    @classmethod
    def joined(cls, parts: "list[Containments]") -> "Containments":
        """Return the rows of all parts, in their order."""
        starts = offsets_of(np.array([len(part.item) for part in parts], np.int64))
        spans = [part.spans.copy() for part in parts]
        for part_spans, start in zip(spans, starts.tolist(), strict=False):
            part_spans[:, 0] += start
        nothing = np.empty(0, np.int64)
        document, item, grams, run = (
            np.concatenate([nothing, *(part[i] for part in parts)]) for i in range(4)
        )
        all_spans = np.concatenate([np.empty((0, 4), np.int64), *spans])
        return cls(document, item, grams, run, all_spans)


def matches_in(grams: ItemGrams, texts: Texts, start: int, stop: int) -> Iterator[Matches]:
    """Yield the n-grams that count in the documents start ... stop - 1, some documents at a time.

    All matches of a document come together.
    """
    plain = grams.shingler.plain_texts(texts, start, stop)
    room = 1024
    while True:
        hits = np.empty((room, 3), np.int64)
        count = grams.table.find(plain, grams.unit, hits, grams.plan)
        if count <= room:
            break
        room = count
    if not count:
        return
    hits = hits[:count]
    occurrences = grams.first[hits[:, 2] + 1] - grams.first[hits[:, 2]]
    hits[:, 0] += start
    edges = np.append(np.flatnonzero(np.diff(hits[:, 0], prepend=-1)), count)
    for first, last in batches_by_work(np.add.reduceat(occurrences, edges[:-1]), ROWS, count):
        documents = hits[edges[first:last], 0]
        units = UnitTexts.of(grams.shingler, grams.shingler.take_texts(texts, documents))
        block = slice(edges[first], edges[last])
        numbers = units.numbers_by(grams.units)
        matches: list[Matches] = []
        rows = most = 0
        for begin, end in batches_by_work(occurrences[block], ROWS, count):
            matches += _compared(grams, documents, units, numbers, hits[block][begin:end])
            rows = sum(len(part.gram) for part in matches)
            if rows > most:  # of a long document, in which n-grams repeat
                matches = [_stretches(Matches.joined(matches))]
                most = max(2 * len(matches[0].gram), ROWS)
        if matches:
            yield Matches.joined(matches)


def _compared(
    grams: ItemGrams,
    documents: NDArray[np.int64],
    units: UnitTexts,
    numbers: Spans,
    hits: NDArray[np.int64],
) -> list[Matches]:
    """Compare n-grams of documents with those of items that have the same hashes.

    Parameters
    ----------
    documents, units, numbers
        int64 (n,), ascending: some documents; their units, also as the numbers of those of items.
    hits
        int64 (n, 3): the document, the first unit of the n-gram, and its number.

    Returns
    -------
    list of Matches
        One, or none if no n-grams are equal.
    """
    occurrences = grams.first[hits[:, 2] + 1] - grams.first[hits[:, 2]]
    gram = grams.by_number[ranges_of(grams.first[hits[:, 2]], occurrences)]
    hits = np.repeat(hits, occurrences, axis=0)
    place = np.searchsorted(documents, hits[:, 0])
    # Grams of different sizes may have one hash; a longer one may not fit behind its place.
    fits = hits[:, 1] + grams.grams[gram, 2] <= units.counts[place]
    gram, hits, place = gram[fits], hits[fits], place[fits]
    field, first, size = grams.grams[gram].T
    rows = np.column_stack([place, field, hits[:, 1], first, size])
    order = np.lexsort((hits[:, 1], field, rows[:, 0]))
    rows = np.ascontiguousarray(rows[order])
    runs, run = np.empty_like(rows), np.empty(len(rows), np.int64)
    count = extend_grams(numbers, grams.units.numbers(), rows, runs, run, *grams.repeats)
    equal = run >= 0
    if not equal.any():
        return []
    runs = runs[:count]
    first, last = runs[:, 2], runs[:, 2] + runs[:, 4]
    begin = units.starts[runs[:, 0]]
    points = units.bounds[begin + first, 0], units.bounds[begin + last - 1, 1]
    where = np.column_stack([runs[:, 1], first, last, *points])[run[equal]]
    length = where[:, 2] - where[:, 1]
    return [_stretches(Matches(documents[rows[equal, 0]], gram[order][equal], length, where))]


def _stretches(matches: Matches) -> Matches:
    """Join the stretches around each n-gram of a document that touch: repeated text has many."""
    document, gram, spans = matches.document, matches.gram, matches.spans
    order, first = touching(np.column_stack([document, gram, spans[:, 1:3]]))
    longest = np.maximum.reduceat(matches.run[order], first)
    joined = spans[order[first]]
    joined[:, [2, 4]] = np.maximum.reduceat(spans[order][:, [2, 4]], first)
    return Matches(document[order[first]], gram[order[first]], longest, joined)


def _counting(grams: ItemGrams, matches: Matches) -> Matches:
    """Return the matches of n-grams that count."""
    counted = grams.counted[matches.gram]
    return Matches(
        matches.document[counted],
        matches.gram[counted],
        matches.run[counted],
        matches.spans[counted],
    )


def _pairs(grams: ItemGrams, matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which rows are of one document and item: an order of rows, and where each begins."""
    item = grams.item[matches.gram]
    order = np.lexsort((grams.text[matches.gram], item, matches.document))
    document, item = matches.document[order], item[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (document[1:] != document[:-1]) | (item[1:] != item[:-1])
    return order, np.flatnonzero(new)


def _different(
    text: NDArray[np.int64], order: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many different n-grams each document and item have in common."""
    text = text[order]
    new = np.ones(len(text), np.int64)
    new[1:] = text[1:] != text[:-1]
    new[first] = 1
    return np.add.reduceat(new, first)


def found_in(
    grams: ItemGrams, texts: Texts, matches: Matches, min_share: float, min_run: int
) -> Containments:
    """Return the items that documents contain, by their n-grams that count.

    Parameters
    ----------
    texts
        The collection of the documents.
    matches
        Of a batch of these.
    min_share, min_run
        The least share of the item's n-grams, and the least run.
    """
    matches = _counting(grams, matches)
    if not len(matches.gram):
        return Containments.joined([])
    order, first = _pairs(grams, matches)
    document = matches.document[order[first]]
    item = grams.item[matches.gram[order[first]]]
    common = _different(grams.text[matches.gram], order, first)
    run = np.maximum.reduceat(matches.run[order], first)
    enough = (compare_share(common, grams.sizes[item], min_share) >= 0) & (run >= min_run)
    row = np.full(len(first), -1)
    row[enough] = np.arange(enough.sum())
    pair = np.repeat(row, np.diff(first, append=len(order)))
    is_kept = pair >= 0
    spans = np.column_stack([pair[is_kept], matches.spans[order[is_kept]]])
    spans = _merged(spans)
    document = document[enough]
    spans[:, 2:] = original_spans(
        texts, grams.shingler, document[spans[:, 0]], spans[:, 2:], words=False
    )
    return Containments(document, item[enough], common[enough], run[enough], spans)


def _merged(spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return spans of each row and field in which no two touch: int64 (m, 4), in code points.

    Parameters
    ----------
    spans
        int64 (n, 6): the row, and what `Matches.spans` has.
    """
    if not len(spans):
        return spans[:, :4]
    order, first = touching(spans)
    spans = spans[order]
    ends = np.maximum.reduceat(spans[:, 5], first)
    return np.column_stack([spans[first][:, [0, 1, 4]], ends])


def touching(spans: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of spans, and where each stretch begins in it that touching spans cover.

    Parameters
    ----------
    spans
        int64 (n, 4 or more), n > 0: two columns that are equal for spans which may be joined, and
        where each span begins and ends.
    """
    order = np.lexsort((spans[:, 2], spans[:, 1], spans[:, 0]))
    spans = spans[order]
    group = np.cumsum((np.diff(spans[:, :2], axis=0, prepend=-1) != 0).any(axis=1))
    # The furthest end so far, in each group: ends of later groups are greater.
    shift = group * (int(spans[:, 3].max()) + 1)
    furthest = np.maximum.accumulate(spans[:, 3] + shift) - shift
    new = (np.diff(group) != 0) | (spans[1:, 2] > furthest[:-1])
    return order, np.flatnonzero(np.append(True, new))


@dataclass
class Tally:
    """In how many documents each n-gram is, and in how many it is alone."""

    documents: NDArray[np.int64]
    """int64 (texts,): by the text of an n-gram, as `ItemGrams.text` numbers it."""
    alone: NDArray[np.int64]
    """int64 (texts,)"""

    @classmethod
    def empty(cls, grams: ItemGrams) -> "Tally":
        """Return the counts of no document."""
        zeros = np.zeros(len(grams.reasons), np.int64)
        return cls(zeros, zeros.copy())

    def add(self, grams: ItemGrams, matches: Matches) -> None:
        """Count the documents of a batch.

        An n-gram is alone if the document has less than half of the n-grams of each item with it,
        or the item has no other n-gram.
        """
        order, first = _pairs(grams, matches)
        item = grams.item[matches.gram[order[first]]]
        share = _different(grams.text[matches.gram], order, first) / grams.sizes[item]
        share[grams.sizes[item] == 1] = 0
        share = np.repeat(share, np.diff(first, append=len(order)))
        number = grams.text[matches.gram[order]]
        document = matches.document[order]
        by_gram = np.lexsort((share, number, document))
        number, document = number[by_gram], document[by_gram]
        last = np.ones(len(number), np.bool_)  # the greatest share of each document and n-gram
        last[:-1] = (number[1:] != number[:-1]) | (document[1:] != document[:-1])
        self.documents += np.bincount(number[last], minlength=len(self.documents))
        alone = last & (share[by_gram] < ALONE)
        self.alone += np.bincount(number[alone], minlength=len(self.alone))

    def boilerplate(self, sample: int, share: float, least: int) -> NDArray[np.int64]:
        """Return the texts of the n-grams that are boilerplate, ascending.

        Parameters
        ----------
        sample
            How many documents were looked at.
        share, least
            It is in at least this share of them, and in so many; and alone in more than half of
            these.
        """
        enough = compare_share(self.documents, sample, share) >= 0
        common = enough & (self.documents >= least)
        return np.flatnonzero(common & (2 * self.alone > self.documents) & (self.documents > 0))
