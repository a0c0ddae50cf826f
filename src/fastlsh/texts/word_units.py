"""Texts as units: where these are, and the numbers by which words are compared."""

from functools import cached_property
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.passages._passages import WordNumbers, word_hashes
from fastlsh._kernels.text._texts import Spans, TextColumn, TextColumns, column_of, spans_of_list
from fastlsh.arrays import offsets_of
from fastlsh.parallel import batches
from fastlsh.texts.pieces import Pieces, Texts, lengths_of
from fastlsh.texts.shingler import Shingler
from fastlsh.texts.token_ids import TokenIds

HASH_BITS = (1 << 64) - 1
"""The bits of the hash of a word that are used."""

OBJECTS = 1 << 12
"""Texts of pieces that are objects of Python at a time."""


class UnitTexts:
    """Normalised texts as their words, tokens or characters.

    Parameters
    ----------
    texts
        The texts.
    starts
        int64 (n + 1,): where the units of each text begin in `bounds`.
    bounds
        int64 (m, 2): where each unit begins and ends in its text.
    """

    are_characters = False

    def __init__(self, texts: Spans, starts: NDArray[np.int64], bounds: NDArray[np.int64]) -> None:
        self.texts = texts
        self.starts = starts
        self.bounds = bounds

    @classmethod
    def of(cls, shingler: Shingler, texts: Spans) -> "UnitTexts":
        """Cut texts, which are normalised, into the units of a shingler.

        Raises
        ------
        ValueError
            The tokens of a tokenizer are no pieces of the text, or it does not give the same ones
            when it is called again for the first text.
        """
        if shingler.unit == "char":
            lengths = lengths_of(texts)
            starts = offsets_of(lengths)
            begin = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
            units = cls(texts, starts, np.column_stack([begin, begin + 1]))
            units.are_characters = True
            return units
        if shingler.tokenizer is None:
            return cls(texts, *shingler.bounds_of_words(texts))
        strings = texts.strings()
        first = next(filter(None, strings), "")
        if not np.array_equal(bounds_of_tokens(shingler, first), bounds_of_tokens(shingler, first)):
            raise unsteady()
        bounds = [bounds_of_tokens(shingler, text) for text in strings]
        starts = offsets_of(np.array(list(map(len, bounds)), np.int64))
        return cls(texts, starts, np.concatenate([np.empty((0, 2), np.int64), *bounds]))

    @classmethod
    def of_stretches(cls, shingler: Shingler, texts: Spans) -> "UnitTexts":
        """Return the words of texts that `WordPieces.column` has made."""
        if shingler.tokenizer is None:
            return cls.of(shingler, texts)
        tokens = [list(map(unescaped, text.split(" "))) for text in texts.strings()]
        ends = [np.cumsum(list(map(len, of_text))) for of_text in tokens]
        bounds = [np.column_stack([np.append(0, end[:-1]), end]) for end in ends]
        return cls(
            spans_of_list(list(map("".join, tokens))),
            offsets_of(np.array(list(map(len, tokens)), np.int64)),
            np.concatenate([np.empty((0, 2), np.int64), *bounds]),
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many units each text has."""
        return np.diff(self.starts)

    def hashes(self) -> Spans:
        """Return the words of each text as hashes, which do not depend on other texts."""
        out = np.empty(len(self.bounds), np.uint64)
        word_hashes(self.texts, self.starts, self.bounds, HASH_BITS, out)
        return TokenIds(out, self.starts).spans(0, len(self.texts))

    def numbers(self) -> Spans:
        """Return the units of each text as numbers: two are equal if and only if the units are."""
        return self.texts if self.are_characters else self._numbers[1]

    def numbers_by(self, others: "UnitTexts") -> Spans:
        """Return the units as the numbers of other texts; a word that these have not is 0."""
        if self.are_characters:
            return self.texts
        out = np.empty(len(self.bounds), np.uint32)
        others._numbers[0].find(self.texts, self.starts, self.bounds, out)
        return TokenIds(out, self.starts).spans(0, len(self.texts))

    def have_unique_hashes(self) -> bool:
        """Return whether different words have different hashes."""
        return self._numbers[0].have_unique_hashes

    @cached_property
    def _numbers(self) -> tuple[WordNumbers, Spans]:
        out = np.empty(len(self.bounds), np.uint32)
        numbers = WordNumbers(self.texts, self.starts, self.bounds, HASH_BITS, out)
        return numbers, TokenIds(out, self.starts).spans(0, len(self.texts))


class WordPieces(Pieces):
    """Stretches of the words of texts; `bounds` count words."""

    def __init__(self, words: UnitTexts, bounds: NDArray[np.int64], *, escaping: bool) -> None:
        super().__init__(words.texts, bounds)
        self._words = words
        self._escaping = escaping

    def at(self, bounds: NDArray[np.int64]) -> "WordPieces":
        """Return other stretches of the same texts."""
        return WordPieces(self._words, bounds, escaping=self._escaping)

    def column(self) -> TextColumn | TextColumns:
        """Return the text of each stretch; of tokens, these with a space between two."""
        text, begin, end = self.bounds.T
        first, last = self._words.starts[text] + (begin, end)
        if not self._escaping:
            places = self._words.bounds
            within = np.column_stack([text, places[first, 0], places[last - 1, 1]])
            return Pieces(self.texts, within).column()
        return TextColumns([
            column_of(spans_of_list(self._escaped(text[rows], first[rows], last[rows])))
            for rows in starmap(slice, batches(len(text), OBJECTS))
        ])  # fmt: skip

    def _escaped(
        self, text: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> list[str]:
        stretches: list[str] = []
        latest, string = -1, ""
        for number, begin, end in zip(text.tolist(), first.tolist(), last.tolist(), strict=True):
            if number != latest:
                latest, (string,) = number, self.texts.part(number, number + 1).strings()
            places = self._words.bounds[begin:end].tolist()
            stretches.append(" ".join([escaped(string[start:stop]) for start, stop in places]))
        return stretches


def escaped(token: str) -> str:
    """Return another text for each token, without a space."""
    return token.replace("%", "%25").replace(" ", "%20")


def unescaped(text: str) -> str:
    """Return the token that `escaped` has made a text of."""
    return text.replace("%20", " ").replace("%25", "%")


def unit_counts(
    texts: Texts, shingler: Shingler, documents: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many units some texts have after the steps."""
    plain = shingler.take_texts(texts, documents)
    if shingler.unit == "word":
        return UnitTexts.of(shingler, plain).counts
    return lengths_of(plain)


def bounds_of_tokens(shingler: Shingler, text: str) -> NDArray[np.int64]:
    """Return where the tokens of a text begin and end in it, int64 (n, 2), ascending and apart."""
    assert shingler.tokenizer is not None
    tokens: list[Any] = list(shingler.tokenizer(text))
    if tokens and isinstance(tokens[0], tuple):
        return bounds_of_pairs(text, tokens)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(
                "tokens of passages must be str, or where each begins and ends in the text, got"
                f" {type(token).__name__}"
            )
    return bounds_of_pieces(text, list(filter(None, tokens)))


def bounds_of_pairs(text: str, tokens: list[Any]) -> NDArray[np.int64]:
    """Return the bounds that a tokenizer gives; tokens that share a character are one unit."""
    try:
        bounds = np.array(tokens)
    except ValueError:  # of different lengths
        bounds = np.empty(0)
    if bounds.shape != (len(tokens), 2) or bounds.dtype.kind not in "iu":
        raise TypeError("the bounds of tokens must be pairs of int, as (begin, end)")
    bounds = bounds.astype(np.int64)
    begin, end = bounds.T
    if (begin < 0).any() or (begin > end).any() or (end > len(text)).any():
        raise ValueError(f"the tokenizer gave bounds outside a text of {len(text)} code points")
    bounds = bounds[begin < end]
    begin, end = bounds.T
    if (np.diff(begin) < 0).any():
        raise ValueError("the tokenizer gave tokens that are not in the order of the text")
    end = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.concatenate([[True], begin[1:] >= end[:-1]])[: len(begin)])
    tails = np.append(heads[1:], len(begin)) - 1 if len(heads) else heads
    return np.column_stack([begin[heads], end[tails]])


def bounds_of_pieces(text: str, tokens: list[str]) -> NDArray[np.int64]:
    """Return where pieces of a text begin and end in it, int64 (n, 2)."""
    bounds = np.empty((len(tokens), 2), np.int64)
    at = 0
    for row, token in enumerate(tokens):
        while at < len(text) and text[at].isspace() and not text.startswith(token, at):
            at += 1
        if not text.startswith(token, at):
            raise ValueError(
                f"the tokenizer made {token!r} of {text[at : at + 20]!r}: passages are cut out of"
                " the text, so tokens must be pieces of it, in order, with nothing but white space"
                " between them"
            )
        bounds[row] = at, at + len(token)
        at += len(token)
    return bounds


def unsteady() -> ValueError:
    """Return the error of a tokenizer that is not deterministic."""
    return ValueError(
        "the tokenizer gave other tokens when it was called again for the same text: passages need"
        " a tokenizer that is deterministic"
    )
