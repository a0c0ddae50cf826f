"""What a document is a set of: shingles of characters, words or bytes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._normal import Normaliser
from fastlsh._kernels.text._plans import (
    CHARACTERS,
    TOKEN_IDS,
    WORDS,
    ShinglePlan,
    token_hashes,
    word_counts,
)
from fastlsh._kernels.text._texts import Spans, spans_of_list
from fastlsh.arguments import check_choice, check_integer
from fastlsh.arrays import offsets_of
from fastlsh.keyed import Key, check_key
from fastlsh.texts.forms import (
    Gathered,
    Hashing,
    NormalizedTexts,
    as_texts,
    gather_tokens,
    is_normalized,
    named,
)
from fastlsh.texts.ignored import IgnoredShingles, check_ignored
from fastlsh.texts.pieces import Texts, lengths_of
from fastlsh.texts.steps import (
    FLAGS,
    STEPS,
    check_steps,
    normaliser_of,
    shingle_set_steps,
    unit_of_words,
    word_bounds,
)
from fastlsh.texts.token_ids import missing_as_ids

LISTS = ("stop_words", "vocabulary")
"""The arguments of a `Shingler` that are lists of words."""


def check_word_list(shingler: Any, name: str) -> tuple[str, ...] | None:
    """Return an argument as a sorted tuple of different words; None if there is nothing to do."""
    word_list = getattr(shingler, name)
    if word_list is None:
        return None
    if isinstance(word_list, (str, bytes)) or not isinstance(word_list, Iterable):
        raise TypeError(f"{name} must be a list of words, got {type(word_list).__name__}")
    words = list(word_list)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} has an element of type {type(word).__name__}, expected str")
    if not words and name == "vocabulary":
        raise ValueError("vocabulary has no words: every document would be empty")
    if shingler.unit != "word" or shingler.tokenizer is not None:
        raise ValueError(f'{name} needs unit="word", and no tokenizer, which can leave words out')
    return tuple(sorted({str(word) for word in words})) or None


def check_word_lists(shingler: Any) -> dict[str, tuple[str, ...] | None]:
    """Return both lists of a `Shingler` as `check_word_list` does; ValueError if there are two."""
    lists = {name: check_word_list(shingler, name) for name in LISTS}
    if None not in lists.values():
        raise ValueError(
            "stop_words and vocabulary: give one of them, because a vocabulary already says which"
            " words stay"
        )
    return lists


UnicodeForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
Words = Literal["whitespace", "alphanumeric", "ascii_alphanumeric", "unicode"]
Document = str | bytes | Sequence[int] | NDArray[Any] | None

UNIT = {"char": "character", "word": "word", "byte": "byte", "token": "token"}
"""What the units of a `Shingler` are called."""


@dataclass(frozen=True)
class Shingler:
    """Defines how a text is split into shingles, each of `size` consecutive units.

    A text shorter than `size` units has a single shingle, the whole text. A text without any unit
    is empty: it has no shingle, is similar to nothing and is never removed. Texts are not
    normalised unless you ask for it.

    Parameters
    ----------
    unit
        "char": Unicode code points. "word": maximal runs of non-whitespace, as in str.split().
        "byte": bytes of UTF-8; input of bytes is used unchanged. "token": the documents are
        token ids, see `TokenIds`, which are hashed as words of their decimal digits.
    size
        Units per shingle. With characters, 8 to 10 suit documents and 5 suits very short texts;
        below 8, unrelated long texts begin to share most shingles.
    unicode_form, lowercase, numbers, punctuation, strip_accents
        Steps of normalisation. The kernels apply them in this order, by the tables of one fixed
        version of Unicode (docs/signature-spec.md, section 9); the steps of `remove_whitespace`
        and `collapse_whitespace` follow.

        `unicode_form` is "NFC", "NFD", "NFKC" or "NFKD". `lowercase` works as str.lower().
        ``numbers="0"`` replaces each number by one 0. `punctuation` is "space" or "remove".
        `strip_accents` drops accents and other marks and leaves the text decomposed: a syllable of
        Hangul counts as its two or three letters.
    remove_whitespace, collapse_whitespace
        Drop all whitespace; or replace each run of it by one space and strip the ends.
    punctuation_characters
        The characters that count as punctuation; by default the general categories P and the
        other marks of ASCII.
    words
        Where words are cut: "whitespace"; "alphanumeric", at everything but letters, numbers and
        underscores; "ascii_alphanumeric", at everything but those of ASCII; or "unicode", at
        everything but letters, marks, numbers and underscores, where each letter of the scripts
        that are written without spaces (Han, Thai...), with its marks, is a word.
    empty_words
        With "alphanumeric" and "ascii_alphanumeric": there is an empty word between two adjacent
        separators, as in re.split().
    stop_words, vocabulary
        Words that are left out before shingles form, or the only words that are not left out;
        `unit` must be "word". They are normalised like the texts. A sorted tuple afterwards.
    normalize
        A function from str to str, applied before the other steps. In memory, it is called once
        for each text of a call, and its results are kept until the call returns. On disk, it is
        called again for texts that share a bucket, so it must be deterministic.
    tokenizer
        A function from the normalised str to a sequence of str or bytes (UTF-8), which are the
        units instead of words; `unit` must be "word". It is called again for each text that is
        compared, because the tokens of all texts take more memory than the texts.
    key
        A `Key`, on whose secret the hashes of the shingles and the signatures then depend.
    ignored
        Shingles that belong to the set of no document: see `ignoring`, which makes them.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or two contradict each other.

    Notes
    -----
    What the steps cost is in docs/parameters.md. `normalize` and `tokenizer` run in Python, one
    text at a time, and hold the GIL: a tokenizer reduces the speed to between a tenth and a fifth.

    Examples
    --------
    >>> words = Shingler("word", 2, lowercase=True, punctuation="space")
    >>> words.shingles("The library, closed")
    ['the library', 'library closed']
    """

    unit: str = "char"
    size: int = 9
    lowercase: bool = False
    remove_whitespace: bool = False
    collapse_whitespace: bool = False
    unicode_form: UnicodeForm | None = None
    normalize: Callable[[str], str] | None = None
    tokenizer: Callable[[str], Sequence[str | bytes]] | None = None
    numbers: Literal["0"] | None = None
    punctuation: Literal["space", "remove"] | None = None
    punctuation_characters: str | None = None
    strip_accents: bool = False
    words: Words = "whitespace"
    empty_words: bool = False
    key: Key | None = None
    stop_words: Iterable[str] | None = None
    vocabulary: Iterable[str] | None = None
    ignored: IgnoredShingles | None = None

    def __repr__(self) -> str:
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        if self.ignored is None:
            del values["ignored"]
        return f"Shingler({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def __getstate__(self) -> dict[str, Any]:
        # Without the plan, which is made again.
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def __post_init__(self) -> None:
        check_choice(self.unit, "unit")
        # Plain ones, which go into JSON.
        object.__setattr__(self, "size", check_integer(self.size, "size"))
        for name in FLAGS:
            object.__setattr__(self, name, bool(getattr(self, name)))
        for name in ("normalize", "tokenizer"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise TypeError(f"{name} must be a function, got {getattr(self, name)!r}")
        if self.tokenizer is not None and self.unit not in ("word", "token"):
            raise ValueError(f'a tokenizer makes words: unit must be "word", got {self.unit!r}')
        check_steps(self)
        check_key(self.key)
        for name, words in check_word_lists(self).items():
            object.__setattr__(self, name, words)
        if self._has_word_list:
            self._listed_words  # noqa: B018  (raises if an element is not one word)
        if self.ignored is not None:
            check_ignored(self.ignored, self.unit, self.size, self.key)

    def ignoring(self, texts: Any) -> "Shingler":
        """Return the same shingler for sets without the shingles of some texts.

        Everybody shares these texts: question sheets, licence headers, templates. A document that
        has no other shingle is empty. What this shingler ignores already is still ignored.

        Parameters
        ----------
        texts
            A collection of texts, in any form in which functions take documents.

        Examples
        --------
        >>> shingler = Shingler("word", 2).ignoring(["Explain in your own words"])
        >>> shingler.hashes("Explain in your own words: why").size
        2
        """
        collection, plain = as_texts(texts, "ignore"), replace(self, ignored=None)
        sets = [named("ignore", plain._set_of, collection, i) for i in range(len(collection))]
        return self.ignoring_hashes(*sets)

    def ignoring_hashes(self, *parts: NDArray[np.uint64]) -> "Shingler":
        """Return the same shingler for sets without these hashes of shingles, too."""
        known = np.empty(0, np.uint64) if self.ignored is None else self.ignored.hashes
        fingerprint = self.key.fingerprint if self.key else None
        hashes = np.concatenate([known, *parts])
        ignored = IgnoredShingles(hashes, self.unit, self.size, fingerprint)
        return replace(self, ignored=ignored if len(ignored) else None)

    def shingles(self, text: Document) -> list[Any]:
        """Return every window of the text in order, repetitions and ignored shingles included.

        Words are joined by one space; for unit "byte" the windows are bytes.

        Examples
        --------
        >>> Shingler(size=4).shingles("closed")
        ['clos', 'lose', 'osed']
        >>> Shingler("word", 3).shingles("two words")
        ['two words']
        """
        windows = self._windows(self._units(text))
        if self.unit in ("word", "token"):
            return [" ".join(words) for words in windows]
        return windows

    def are_ignored(self, text: Document) -> NDArray[np.bool_]:
        """Return which of the windows that `shingles` returns are ignored, bool (n,)."""
        units = self._units(text)
        if self.ignored is None or not units:
            return np.zeros(max(len(units) - self.size + 1, min(len(units), 1)), np.bool_)
        windows = self._windows(units)
        # As a text, a window has only itself as a shingle.
        has_words = self.unit in ("word", "token")
        plain = Shingler(
            "word" if has_words else self.unit, self.size, key=self.key, ignored=self.ignored
        )
        if has_words:
            gathered = gather_tokens(windows, prepared=plain.hashing.prepared)
        else:
            gathered = plain.gather(as_texts(windows), 0, len(windows))
        return np.equal(plain._sets_of(gathered)[1], 0)

    def hashes(self, text: Document) -> NDArray[np.uint64]:
        """Return the 64-bit hashes of the distinct shingles, uint64, ascending.

        Those that are ignored are not among them. docs/signature-spec.md defines them in section 2.

        Examples
        --------
        >>> Shingler("word", 1).hashes("to be or not to be").size
        4
        """
        return self._set_of(as_texts([text]), 0)

    def _set_of(self, texts: Texts, number: int) -> NDArray[np.uint64]:
        """Return the hashes of one of several texts."""
        hashes, count = self._sets_of(self.gather(texts, number, number + 1))
        return hashes[: count[0]].copy()

    def _sets_of(self, gathered: Gathered) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the hashes of documents, in a room for each of them, and how many it has."""
        lengths = gathered.lengths()
        room = offsets_of(self.most_shingles(lengths))
        hashes, count = np.empty(room[-1], np.uint64), np.empty(len(lengths), np.int64)
        for _ in shingle_set_steps(gathered, lengths, self.hashing, hashes, room, count):
            pass  # Ctrl-C is heard here
        return hashes, count

    def _units(self, text: Document) -> Any:
        """Return the units of the text: a string, bytes, or a list of words."""
        spans = self._normalised(as_texts([text]).spans(0, 1, self.as_bytes))
        if self.unit in ("word", "token"):
            return self.words_of(spans)
        string = spans.strings()[0]
        return string.encode("latin-1") if self.unit == "byte" else string

    def _windows(self, units: Any) -> list[Any]:
        """Return every window of the units in order."""
        windows = range(max(len(units) - self.size, 0) + 1 if units else 0)
        return [units[i : i + self.size] for i in windows]

    # ---- for the floors above

    @property
    def kernel_unit(self) -> int:
        """The unit by the number that the kernels have for it."""
        if self.unit == "token":
            return TOKEN_IDS
        return unit_of_words(self) if self.unit == "word" else CHARACTERS

    @property
    def hashing(self) -> Hashing:
        """How the kernels hash the shingles; LockedKeyError if the key is locked."""
        unit = self.kernel_unit
        if self._has_word_list or self.ignored is not None:
            return Hashing(unit, self.size, self._plan)
        return Hashing(unit, self.size, self.key.plan(unit, self.size) if self.key else None)

    def most_shingles(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an upper bound of the shingles of documents of these lengths, as gathered."""
        if self.unit == "word" and self.tokenizer is None:
            # n separators make n + 1 empty words; else a separator stands between two words,
            # except letters that are written apart.
            most = (lengths + 1) // 2
            if self.empty_words or self.words == "unicode":
                most = lengths + self.empty_words
            lengths = np.where(lengths > 0, most, 0)
        return np.maximum(lengths - self.size + 1, np.minimum(lengths, 1))

    @property
    def normalises(self) -> bool:
        """Whether texts are changed before they are cut."""
        return self.normalize is not None or normaliser_of(self) is not None

    @property
    def without_steps(self) -> "Shingler":
        """The shingler for texts that this one has normalised already; the rest is the same."""
        plain: dict[str, Any] = {
            entry.name: entry.default for entry in fields(self) if entry.name in STEPS
        }
        for name in LISTS:
            if getattr(self, name) is not None:
                plain[name] = self._listed_words
        return replace(self, **plain)

    @property
    def as_bytes(self) -> bool:
        """Whether texts are read as their bytes of UTF-8, unchanged."""
        return self.unit == "byte" and not self.normalises

    def prepared(self, texts: Texts) -> Texts:
        """Return texts that may be read often: `normalize` is called once for each, and kept."""
        if self.normalize is None or is_normalized(texts):
            return texts
        return NormalizedTexts(texts, self._called)

    def gather(self, texts: Texts, start: int, stop: int) -> Gathered:
        """Gather the documents start ... stop - 1, normalised and tokenised."""
        return self.tokenised(self.plain_texts(texts, start, stop), start)

    def plain_texts(self, texts: Texts, start: int, stop: int) -> Spans:
        """Gather the documents start ... stop - 1, normalised but not tokenised."""
        spans = texts.spans(start, stop, self.as_bytes)
        return self._normalised(spans, called=is_normalized(texts))

    def take(self, texts: Texts, documents: NDArray[np.int64]) -> Gathered:
        """Gather the given documents, normalised and tokenised."""
        return self.tokenised(self.take_texts(texts, documents), 0, documents)

    def lengths(self, texts: Texts, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lengths of the given documents: code points, bytes or tokens."""
        lengths = np.empty(len(documents), np.int64)
        for start in range(0, len(documents), 4096):
            part = slice(start, start + 4096)
            lengths[part] = self.take(texts, documents[part]).lengths()
        return lengths

    def take_texts(self, texts: Texts, documents: NDArray[np.int64]) -> Spans:
        """Gather the given documents, normalised but not tokenised."""
        return self._normalised(texts.take(documents, self.as_bytes), called=is_normalized(texts))

    def unit_counts(self, texts: Spans, most: int) -> NDArray[np.int64]:
        """Return how many units each normalised text has, int64 (n,); or `most` or more of many.

        A text without a unit is empty: it is similar to nothing.
        """
        if self.tokenizer is not None:
            return np.array([len(self.tokenizer(text)) for text in texts.strings()], np.int64)
        if self.unit != "word":
            return lengths_of(texts)
        counts = np.empty(len(texts), np.int64)
        hashing = self.hashing if self._has_word_list else Hashing(self.kernel_unit, self.size)
        word_counts(texts, hashing.unit, hashing.size, most, counts, hashing.prepared)
        return counts

    def are_short(self, gathered: Gathered, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which documents of these lengths have a unit, but fewer than a shingle, (n,)."""
        if self.unit == "word" and gathered.offsets is None and self.size > 1:
            lengths = self.unit_counts(gathered.units, self.size)
        return (lengths > 0) & (lengths < self.size)

    def words_of(self, text: Spans) -> list[str]:
        """Return the words or tokens of the only text, which is normalised."""
        string = text.strings()[0]
        if self.unit == "token":
            return string.split()
        if self.tokenizer is not None:
            return [t.decode() if isinstance(t, bytes) else t for t in self.tokenizer(string)]
        return [string[begin:end] for begin, end in self.word_bounds(text).tolist()]

    def word_bounds(self, text: Spans) -> NDArray[np.int64]:
        """Return where each word of the only text begins and ends, int64 (n, 2).

        Words that are left out have no bounds.
        """
        return self.bounds_of_words(text)[1]

    def bounds_of_words(self, texts: Spans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the words of each text begin in the second array, and their bounds.

        Returns
        -------
        starts : ndarray of int64, shape (n + 1,)
        bounds : ndarray of int64, shape (m, 2)
            As `word_bounds` does, text by text.
        """
        counts, bounds = word_bounds(self, texts)
        starts = offsets_of(counts)
        if not self._has_word_list:
            return starts, bounds
        listed, keeps = self._listed_words, self.vocabulary is not None
        stay = [
            (text[begin:end] in listed) == keeps
            for text, (first, last) in zip(texts.strings(), pairwise(starts), strict=True)
            for begin, end in bounds[first:last].tolist()
        ]
        stays = np.array(stay, np.bool_)
        return offsets_of(stays.astype(np.int64))[starts], bounds[stays]

    def traced(self, text: Spans) -> tuple[Spans, NDArray[np.int64]]:
        """Return the only text after the steps, and of each code point where it comes from.

        That is where it begins and ends in the text given, int64 (n, 2). `normalize` is left out.
        """
        return (normaliser_of(self) or Normaliser()).traced(text)

    @property
    def _has_word_list(self) -> bool:
        return self.stop_words is not None or self.vocabulary is not None

    @cached_property
    def _listed_words(self) -> frozenset[str]:
        """The words of the list as they occur in normalised texts."""
        name = "stop_words" if self.stop_words is not None else "vocabulary"
        word_list = getattr(self, name)
        spans = self._normalised(spans_of_list(list(word_list)))
        words: set[str] = set()
        for i, (word, text) in enumerate(zip(word_list, spans.strings(), strict=True)):
            _, bounds = word_bounds(self, spans.part(i, i + 1))
            pieces = [text[begin:end] for begin, end in bounds.tolist()]
            if len([piece for piece in pieces if piece]) != 1:
                raise ValueError(
                    f"{name} has {word!r}, which is not one word but {len(pieces)} after"
                    " normalisation"
                )
            words.update(filter(None, pieces))
        return frozenset(words)

    @cached_property
    def _plan(self) -> ShinglePlan:
        """How shingles are hashed where some words, or some shingles, are left out."""
        key, listed = self.key, None
        if self._has_word_list:
            listed = token_hashes(
                [list(self._listed_words)], np.empty(2, np.int64),
                prepared=key.plan(WORDS, 1) if key else None,
            )  # fmt: skip
        secret = key.shingle_secret() if key else None
        keeps = self.vocabulary is not None
        ignored = self.ignored.hashes if self.ignored is not None else None
        return ShinglePlan(self.kernel_unit, self.size, secret, listed, keeps, ignored)

    def tokenised(
        self, plain: Spans, first: int, documents: NDArray[np.int64] | None = None
    ) -> Gathered:
        """Tokenise normalised texts, if there is a tokenizer; numbers as in `gather_tokens`."""
        if self.tokenizer is None:
            return Gathered(plain, None)
        tokens = [self.tokenizer(text) for text in plain.strings()]
        return gather_tokens(tokens, first, documents, self.hashing.prepared)

    def _normalised(self, spans: Spans, *, called: bool = False) -> Spans:
        """Normalise texts; `called`: `normalize` has been called for them already."""
        if self.unit == "token" and not spans.tokens:
            spans = missing_as_ids(spans)
        if spans.tokens != (self.unit == "token") and len(spans):
            if spans.tokens:
                raise TypeError(
                    f'the documents are token ids: unit must be "token", not {self.unit!r}'
                )
            raise TypeError('unit="token" needs documents of token ids, got texts')
        if self.normalize is not None and not called:
            spans = spans_of_list([self._called(text) for text in spans.strings()])
        kernel = normaliser_of(self)
        if kernel is not None:
            spans = kernel.normalised(spans)
        if self.unit == "byte" and self.normalises:
            spans = spans_of_list(spans.strings(), 0, True)
        return spans

    def _called(self, text: str) -> str:
        assert self.normalize is not None
        result = self.normalize(text)
        if not isinstance(result, str):
            raise TypeError(f"normalize returned {type(result).__name__}, expected str")
        return result


def check_shingler(shingler: Shingler | None) -> Shingler:
    """Return the shingler, the default for None; TypeError if it is something else."""
    if shingler is None:
        return Shingler()
    if not isinstance(shingler, Shingler):
        raise TypeError(f"shingler must be a Shingler, got {type(shingler).__name__}")
    return shingler


def with_key(shingler: Shingler | None, key: Key | None) -> Shingler:
    """Return the shingler, the default for None, with the key; ValueError if it has another."""
    shingler = check_shingler(shingler)
    if check_key(key) is None or shingler.key == key:
        return shingler
    if shingler.key is not None:
        raise ValueError(
            "the shingler has another key than key=: their fingerprints are"
            f" {shingler.key.fingerprint} and {key.fingerprint if key else None}; give one of them"
        )
    return replace(shingler, key=key)
