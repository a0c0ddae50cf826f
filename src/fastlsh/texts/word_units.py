"""Words as the units of passages: where they are, and the numbers by which they are compared."""

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Spans
from fastlsh.parallel import batches
from fastlsh.texts.forms import Texts
from fastlsh.texts.pieces import Pieces
from fastlsh.texts.shingler import Shingler
from fastlsh.texts.token_ids import TokenIds

BATCH = 4096
"""Texts whose words are found at a time."""


class WordNumbers(dict[str, int]):
    """Numbers of words, from 0 on: different words have different ones."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class WordHashes(dict[str, int]):
    """Hashes of 64 bits, which do not depend on the words before."""

    def __missing__(self, word: str) -> int:
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self[word] = number = int.from_bytes(digest, "little")
        return number

    @property
    def differ(self) -> bool:
        """Whether different words have different hashes."""
        return len(set(self.values())) == len(self)


class WordTexts:
    """Normalised texts as their words, or tokens.

    Parameters
    ----------
    shingler
        Says what a word is.
    texts
        Normalised by its steps.

    Raises
    ------
    ValueError
        The tokens of a tokenizer are no pieces of the text, or it does not give the same ones
        when it is called again for the first text.
    """

    def __init__(self, shingler: Shingler, texts: Spans) -> None:
        self._strings = texts.strings()
        self._escaped = shingler.tokenizer is not None
        if self._escaped:
            first = next(filter(None, self._strings), "")
            if tokens_of(shingler, first) != tokens_of(shingler, first):
                raise unsteady()
            found = [token_bounds(text, tokens_of(shingler, text)) for text in self._strings]
        else:
            found = [shingler.word_bounds(texts.part(i, i + 1)) for i in range(len(texts))]
        self.bounds = found
        """Of each text, where its words begin and end, int64 (n, 2)."""

    def numbers(self, table: WordNumbers | WordHashes) -> TokenIds:
        """Return the number that a table has for each word."""
        lists = [self._words(text, 0, len(bounds)) for text, bounds in enumerate(self.bounds)]
        return numbered(lists, table)

    def joined(self, places: NDArray[np.int64]) -> list[str]:
        """Return stretches of words, with a space between two; for text, begin and end of each."""
        return [" ".join(self._words(*place)) for place in places.tolist()]

    def _words(self, text: int, begin: int, end: int) -> list[str]:
        string = self._strings[text]
        words = [string[start:stop] for start, stop in self.bounds[text][begin:end].tolist()]
        return list(map(escaped, words)) if self._escaped else words


class WordPieces(Pieces):
    """Stretches of the words of texts; `bounds` count words."""

    def __init__(self, words: WordTexts, texts: Spans, bounds: NDArray[np.int64]) -> None:
        super().__init__(texts, bounds)
        self._words = words

    def at(self, bounds: NDArray[np.int64]) -> "WordPieces":
        """Return other stretches of the same texts."""
        return WordPieces(self._words, self.texts, bounds)

    def strings(self) -> list[str]:
        """Return the words of each stretch, with a space between two."""
        return self._words.joined(self.bounds)


def escaped(token: str) -> str:
    """Return another text for each token, without a space."""
    return token.replace("%", "%25").replace(" ", "%20")


def numbered(texts: Sequence[list[str]], table: WordNumbers | WordHashes) -> TokenIds:
    """Return the numbers of the words of texts."""
    offsets = np.cumsum([0, *map(len, texts)])
    values = np.fromiter((table[word] for words in texts for word in words), np.uint64, offsets[-1])
    return TokenIds(values, offsets)


def words_of_joined(texts: Spans) -> tuple[Texts, Texts]:
    """Return the words of texts that `WordTexts.joined` has made, as `words_of_texts` does."""

    def some(start: int, stop: int, table: WordHashes | WordNumbers) -> TokenIds:
        return numbered([text.split(" ") for text in texts.part(start, stop).strings()], table)

    return _hashed_and_compared(some, len(texts))


def words_of_texts(texts: Texts, shingler: Shingler) -> tuple[Texts, Texts]:
    """Return texts as hashes of their words, and as numbers that differ if the words do.

    They are the same object if the hashes differ.
    """

    def some(start: int, stop: int, table: WordHashes | WordNumbers) -> TokenIds:
        return WordTexts(shingler, shingler.plain_texts(texts, start, stop)).numbers(table)

    return _hashed_and_compared(some, len(texts))


def _hashed_and_compared(
    some: Callable[[int, int, WordHashes | WordNumbers], TokenIds], n: int
) -> tuple[Texts, Texts]:
    hashes, numbers = WordHashes(), WordNumbers()
    hashed = _of_all([some(start, stop, hashes) for start, stop in batches(n, BATCH)])
    if hashes.differ:
        return hashed, hashed
    return hashed, _of_all([some(start, stop, numbers) for start, stop in batches(n, BATCH)])


def unit_counts(
    texts: Texts, shingler: Shingler, documents: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many units some texts have after the steps."""
    plain = shingler.take_texts(texts, documents)
    if shingler.unit == "word":
        return np.array([len(bounds) for bounds in WordTexts(shingler, plain).bounds], np.int64)
    counts = np.empty(len(documents), np.int64)
    plain.lengths(counts)
    return counts


def _of_all(parts: Sequence[TokenIds]) -> TokenIds:
    documents = [ids for part in parts for ids in part]
    offsets = np.cumsum([0, *map(len, documents)])
    return TokenIds(np.concatenate([np.empty(0, np.uint64), *documents]), offsets)


def tokens_of(shingler: Shingler, text: str) -> list[str]:
    """Return what the tokenizer makes of a text."""
    assert shingler.tokenizer is not None
    tokens = []
    for token in shingler.tokenizer(text):
        if not isinstance(token, str):
            raise TypeError(f"tokens of passages must be str, got {type(token).__name__}")
        tokens.append(token)
    return list(filter(None, tokens))


def token_bounds(text: str, tokens: list[str]) -> NDArray[np.int64]:
    """Return where the tokens of a text begin and end in it, int64 (n, 2)."""
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
