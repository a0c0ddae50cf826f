"""What is numbered in a run on disk: documents or pieces of them; and what is left of the rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import Spans
from fastlsh.arrays import covered, sorted_range
from fastlsh.errors import InputError
from fastlsh.io import Added, Block, BlockDocuments, Rest, take
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams
from fastlsh.results import piece_name
from fastlsh.stages import Anchors, sign_pieces, unit_anchors
from fastlsh.texts import (
    Pieces,
    Shingler,
    UnitTexts,
    WordPieces,
    as_texts,
    lengths_of,
    pieces_of,
    plain_strings,
    texts_without,
    texts_without_spans,
)

STRETCH = 1 << 18
"""Units of a text in which the contexts begin that are gathered in one text."""

AT_ONCE = 1 << 16
"""Pieces that are gathered together: of one long row, there may be very many."""

OF_WORD = 8
"""Times the memory of a character that a word takes."""


class SignedPieces(NamedTuple):
    """The pieces of the documents of a block, and what finds the like of them."""

    pieces: Pieces
    keys: NDArray[np.uint64]
    """uint64 (bands, m): band keys; 0: a piece that is not compared."""
    echoes: NDArray[np.int64] | None = None
    """Of passages, the stretches that need no key: those of `stages.Anchors`."""
    short: int = 0
    """Of lines, paragraphs and sentences that are compared, those shorter than a shingle."""


@dataclass(frozen=True)
class Cutting:
    """How documents are cut into pieces."""

    by: str
    """"line", "paragraph" or "sentence"."""
    min_length: int
    """Shorter pieces are not compared."""
    window: int = field(default=1, kw_only=True)
    """So many lines, paragraphs or sentences are a piece."""

    @property
    def name(self) -> str:
        """What a piece is called."""
        return piece_name(self.by, self.window)

    @property
    def options(self) -> dict[str, int]:
        """What was given besides `by`; a window is named only where there is one."""
        window = {"window": self.window} if self.window > 1 else {}
        return {**window, "min_length": self.min_length}

    @property
    def piece_bytes(self) -> int:
        """The bytes of memory that the text of a piece takes while pieces are compared."""
        return 0  # it is read in place

    def pieces(self, documents: BlockDocuments) -> Pieces:
        """Cut the documents of a block."""
        return pieces_of(plain_strings(documents.texts), self.by, window=self.window)

    def signed(self, documents: BlockDocuments, params: SearchParams) -> SignedPieces:
        """Cut the documents of a block, and find the band keys of the pieces."""
        pieces = self.pieces(documents)
        signed = sign_pieces(pieces, params, self.min_length)
        short = 0 if signed.short is None else int(signed.short.sum())
        return SignedPieces(pieces, signed.keys, short=short)

    def follows(self, pieces: Pieces) -> NDArray[np.bool_]:
        """Return which pieces are gathered in one text with the piece before them, bool (m,)."""
        return np.zeros(len(pieces), np.bool_)


@dataclass(frozen=True)
class SpanCutting(Cutting):
    """How documents are cut into the contexts of the keys of their passages.

    A context has all windows with one key, so contexts overlap. Those that follow each other are
    gathered in one text, which has the windows of all of them, and no other one.

    Short rows of windows with one key that follow each other share a context, wherever in them the
    key is: in a text with many equal grams, as a table of dashes, there are hundreds of times
    fewer contexts than rows.
    """

    shingler: Shingler

    @property
    def piece_bytes(self) -> int:
        """The bytes of memory that a context takes: up to two windows, decoded."""
        return 8 * self.min_length * (OF_WORD if self.shingler.unit == "word" else 1)

    def pieces(self, documents: BlockDocuments) -> Pieces:
        """Cut the documents of a block."""
        return self._contexts(documents)[0]

    def stored_pieces(self, documents: BlockDocuments, bounds: NDArray[np.int64]) -> Pieces | None:
        """Do as `pieces`, with bounds that were stored; None if the documents are not the same."""
        texts = as_texts(documents.texts)
        plain = self.shingler.plain_texts(texts, 0, len(texts))
        lengths, words = lengths_of(plain), None
        if self.shingler.unit == "word":
            words = UnitTexts.of(self.shingler, plain)
            lengths = np.diff(words.starts)
        text, _, end = bounds.T
        if (text >= len(lengths)).any() or (end > lengths[text]).any():
            return None
        return self._pieces(plain, words, bounds)

    def signed(self, documents: BlockDocuments, params: SearchParams) -> SignedPieces:
        """Cut the documents of a block, and find the key of each context."""
        contexts, anchors = self._contexts(documents)
        return SignedPieces(contexts, anchors.keys[np.newaxis], anchors.echoes)

    def follows(self, pieces: Pieces) -> NDArray[np.bool_]:
        """Return which contexts begin with the window behind the last one of the context before."""
        text, first, end = pieces.bounds.T
        is_next = np.zeros(len(pieces), np.bool_)
        stretch = first // STRETCH
        is_next[1:] = (
            (text[1:] == text[:-1])
            & (first[1:] == end[:-1] - self.min_length + 1)
            & (stretch[1:] == stretch[:-1])
        )
        return is_next

    def _contexts(self, documents: BlockDocuments) -> tuple[Pieces, Anchors]:
        texts = as_texts(documents.texts)
        plain = self.shingler.plain_texts(texts, 0, len(texts))
        anchors, words = unit_anchors(plain, self.shingler, self.min_length)
        text, _, first, last = anchors.rows.T
        heads = _heads(anchors, self.min_length)
        tails = np.append(heads, len(last))[1:] - 1
        bounds = np.column_stack([text[heads], first[heads], last[tails] + self.min_length])
        return self._pieces(plain, words, bounds), anchors._replace(keys=anchors.keys[heads])

    def _pieces(self, plain: Spans, words: UnitTexts | None, bounds: NDArray[np.int64]) -> Pieces:
        if words is None:
            return Pieces(plain, bounds)
        return WordPieces(words, bounds, escaping=self.shingler.tokenizer is not None)


def _heads(anchors: Anchors, length: int) -> NDArray[np.int64]:
    """Return the rows that begin a context.

    Any two windows of a context overlap: a repetition lies in two contexts, which share a key.
    """
    text, _, first, last = anchors.rows.T
    short = last - first < length // 4
    follows = (
        (anchors.keys[1:] == anchors.keys[:-1])
        & (text[1:] == text[:-1])
        & (first[1:] == last[:-1] + 1)
        & short[1:]
        & short[:-1]
    )
    begins = np.concatenate([[True], ~follows])[: len(first)]
    run = np.flatnonzero(begins)
    windows = last - first[run][np.cumsum(begins) - 1]
    begins[1:] |= np.diff(windows // max(length // 2, 1)) > 0
    return np.flatnonzero(begins)


@dataclass(frozen=True)
class WholeRows:
    """What is left of documents that stay as they are, or go."""

    kept: NDArray[np.bool_]
    """bool, by document of the inputs."""
    n_against: int
    """How many documents of `against` are numbered before them."""
    added: Added | None = None
    """Returns the columns that rows get behind their own, by documents of the inputs."""

    def has_rows(self, start: int, stop: int) -> bool:
        """Whether a row is written of the documents from `start` to `stop` - 1."""
        return bool(self.kept[start - self.n_against : stop - self.n_against].any())

    def rest(self, key: tuple[int, int], _: Block) -> Rest:
        """Return what is left of a block; the key is where its documents begin and end."""
        start, stop = key[0] - self.n_against, key[1] - self.n_against
        return Rest(self.kept[start:stop], {}, self.added and self.added(start, stop))


@dataclass(frozen=True)
class WithoutPieces:
    """What is left of documents that lose lines, paragraphs or sentences."""

    kept: NDArray[np.bool_]
    """bool, by piece of the inputs."""
    first_pieces: NDArray[np.int64]
    """int64 (documents + 1,): the number of the first piece of each document, those of `against`
    included."""
    n_against: int
    """How many pieces of `against` are numbered before those of the inputs."""
    cutting: Cutting
    drop_empty: bool
    """Whether rows go of which nothing is left."""
    added: Added | None = None

    def has_rows(self, start: int, stop: int) -> bool:
        """Whether a row is written of the documents from `start` to `stop` - 1."""
        counts = np.diff(self.first_pieces[start : stop + 1])
        _, left = self.lines_left(counts, self._kept(start, stop))
        return start < stop and (not self.drop_empty or not len(left) or bool(left.any()))

    def rest(self, key: tuple[int, int], block: Block) -> Rest:
        """Return what is left of a block; the key is where its documents begin and end."""
        start, stop = key
        rows, kept = np.ones(stop - start, np.bool_), self._kept(start, stop)
        if kept.all():
            return Rest(rows, {})
        pieces = self.cutting.pieces(block.documents())
        plain, removed = pieces.texts, pieces.removed(~kept)
        del pieces  # of one long text, there may be no memory for all of them
        texts = texts_without(plain, removed, self.cutting.by)
        if self.drop_empty:
            rows[[number for number, text in texts.items() if not text]] = False
        return Rest(rows, texts)

    def lines_left(
        self, counts: NDArray[Any], kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many lines, paragraphs or sentences documents with a piece have, and keep.

        Parameters
        ----------
        counts
            How many pieces each document has.
        kept
            bool, by piece: whether it stays.
        """
        window = self.cutting.window
        filled = counts[counts > 0].astype(np.int64)
        lines = filled + window - 1
        if not len(filled):
            return lines, lines
        gone = np.flatnonzero(~kept)
        first = gone + (window - 1) * np.searchsorted(np.cumsum(filled), gone, "right")
        ends = np.cumsum(lines)
        stays = ~covered(first, window, int(ends[-1]))
        return lines, np.add.reduceat(stays, ends - lines, dtype=np.int64)

    def _kept(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which pieces of consecutive documents stay."""
        first, last = (self.first_pieces[[start, stop]] - self.n_against).tolist()
        return self.kept[first:last]


@dataclass(frozen=True)
class WithoutSpans:
    """What is left of documents if spans of their texts are cut out."""

    dropped: NDArray[np.int64]
    """int64, ascending: documents that go as a whole."""
    spans: NDArray[np.int64]
    """int64, ascending: document, begin and end of what is cut, and more columns."""
    join: str
    """Is written instead of each."""
    added: Added | None = None
    """Returns the columns that rows get behind their own."""

    def has_rows(self, start: int, stop: int) -> bool:
        """Whether a row is written of the documents from `start` to `stop` - 1."""
        first, last = np.searchsorted(self.dropped, (start, stop))
        return bool(last - first < stop - start)

    def rest(self, key: tuple[int, int], block: Block) -> Rest:
        """Return what is left of a block; the key is where its documents begin and end."""
        start, stop = key
        kept = np.ones(stop - start, np.bool_)
        kept[self.dropped[sorted_range(self.dropped, start, stop)] - start] = False
        spans = self.spans[sorted_range(self.spans[:, 0], start, stop), :3] - (start, 0, 0)
        texts: Mapping[int, str] = {}
        if len(spans):
            texts = texts_without_spans(as_texts(block.documents().texts), spans, self.join)
        return Rest(kept, texts, self.added and self.added(start, stop))


class Wanted(NamedTuple):
    """What is gathered of a block."""

    documents: BlockDocuments
    """Documents, pieces of documents, or stretches of pieces that follow each other."""
    numbers: NDArray[np.int64]
    """int64 (m,): which document or piece of the block each one begins with."""
    bounds: NDArray[np.int64] | None
    """int64 (m, 2): where each piece or stretch begins and ends in its document."""


def wanted_of(
    block: Block,
    cutting: Cutting | None,
    part: NDArray[np.int32],
    contexts: NDArray[np.int64] | None,
    changed: InputError,
) -> Iterator[Wanted]:
    """Yield what is gathered of a block: at most `AT_ONCE` pieces, or the documents, at a time.

    Parameters
    ----------
    block, cutting
        As when its documents were signed.
    part
        int32, by document or piece: the part that each is gathered in; -1: in none.
    contexts
        Of passages, the bounds of the pieces.
    changed
        Is raised if the file has changed.
    """
    if cutting is None:
        numbers, documents = np.flatnonzero(part >= 0), block.documents(part >= 0)
        if len(documents) != len(numbers):
            raise changed
        yield Wanted(documents, numbers, None)
        return
    documents = block.documents()
    pieces: Pieces | None
    if contexts is not None and isinstance(cutting, SpanCutting):
        pieces = cutting.stored_pieces(documents, contexts)
    else:
        pieces = cutting.pieces(documents)
    if pieces is None or len(pieces) != len(part):
        raise changed
    for start, stop in batches(len(part), AT_ONCE):
        numbers = start + np.flatnonzero(part[start:stop] >= 0)
        if len(numbers):
            yield _wanted_pieces(documents, cutting, pieces, part, numbers)


def _wanted_pieces(
    documents: BlockDocuments,
    cutting: Cutting,
    pieces: Pieces,
    part: NDArray[np.int32],
    numbers: NDArray[np.int64],
) -> Wanted:
    """Return pieces of documents, by their numbers, as documents."""
    chosen = pieces.chosen(numbers)
    follows = cutting.follows(chosen)
    follows[1:] &= (np.diff(numbers) == 1) & (np.diff(part[numbers]) == 0)
    follows[:1] = False
    heads = np.flatnonzero(~follows)
    bounds = chosen.bounds[heads]
    bounds[:, 2] = chosen.bounds[np.append(heads[1:], len(numbers)) - 1, 2]
    owners = bounds[:, 0]
    stretches = BlockDocuments(
        pieces.at(bounds).column(), take(documents.ids, owners), documents.rows[owners]
    )
    return Wanted(stretches, numbers[heads], np.ascontiguousarray(bounds[:, 1:]))
