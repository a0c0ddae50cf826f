"""The steps of a normalisation: what contradicts itself, and the kernel that does them."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import (
    ALPHANUMERIC,
    ASCII_ALPHANUMERIC,
    UNICODE_WORDS,
    WITH_EMPTY,
    WORDS,
    Normaliser,
    Spans,
    word_places,
)
from fastlsh.arguments import check_choice
from fastlsh.parallel import batches_by_work

CHARACTERS = 1 << 18
"""Characters in which words are found at a time."""

FLAGS = ("lowercase", "strip_accents", "remove_whitespace", "collapse_whitespace", "empty_words")
"""The arguments of a `Shingler` that are true or false."""

CHOICES = ("unicode_form", "numbers", "punctuation")
"""Those that are a word or None."""

STEPS = (
    *CHOICES, "normalize", "lowercase", "punctuation_characters", "strip_accents",
    "remove_whitespace", "collapse_whitespace",
)  # fmt: skip
"""Those that change a text before it is cut into units."""

CUTS = {
    "whitespace": WORDS,
    "alphanumeric": ALPHANUMERIC,
    "ascii_alphanumeric": ASCII_ALPHANUMERIC,
    "unicode": UNICODE_WORDS,
}


def check_steps(shingler: Any) -> None:
    """Raise if the steps of a `Shingler` contradict themselves or its unit."""
    if shingler.unit == "token":
        for name in (*STEPS, "empty_words", "tokenizer"):
            if getattr(shingler, name) not in (None, False):
                words = ', and unit="word" the tokens of a text' if name == "tokenizer" else ""
                raise ValueError(f'{name} changes texts: unit="token" takes ids as they are{words}')
    for name in CHOICES:
        if getattr(shingler, name) is not None:
            check_choice(getattr(shingler, name), name)
    check_choice(shingler.words, "words")
    characters = shingler.punctuation_characters
    if characters is not None and not isinstance(characters, str):
        raise TypeError(
            "punctuation_characters must be a str of all the characters, got"
            f" {type(characters).__name__}"
        )
    if characters is not None and shingler.punctuation is None:
        raise ValueError('punctuation_characters needs punctuation="space" or punctuation="remove"')
    if shingler.remove_whitespace and shingler.collapse_whitespace:
        raise ValueError(
            "remove_whitespace leaves no whitespace to collapse: choose one of the two"
        )
    cut = shingler.unit == "word" and shingler.tokenizer is None
    if shingler.remove_whitespace and cut:
        raise ValueError(
            'remove_whitespace would make one word of each text: leave it out, or use unit="char"'
        )
    cuts = shingler.words != "whitespace"
    if cuts and shingler.unit != "word":
        raise ValueError(f'words={shingler.words!r} needs unit="word", got {shingler.unit!r}')
    if cuts and shingler.tokenizer is not None:
        raise ValueError(f"words={shingler.words!r} and a tokenizer: only one can make the words")
    if shingler.empty_words and shingler.words not in ("alphanumeric", "ascii_alphanumeric"):
        raise ValueError('empty_words needs words="alphanumeric" or "ascii_alphanumeric"')


def unit_of_words(shingler: Any) -> int:
    """Return how the kernels are to cut words."""
    return CUTS[shingler.words] | (WITH_EMPTY if shingler.empty_words else 0)


def normaliser_of(shingler: Any) -> Normaliser | None:
    """Return the kernel for the steps of a `Shingler`, or None if there is nothing to do."""
    s = shingler
    blanks = "remove" if s.remove_whitespace else "collapse" if s.collapse_whitespace else None
    steps = (s.unicode_form, s.lowercase, s.numbers is not None, s.punctuation,
             s.punctuation_characters, s.strip_accents, blanks)  # fmt: skip
    return _normaliser(*steps) if any(step not in (None, False) for step in steps) else None


@lru_cache(maxsize=16)
def _normaliser(
    form: str | None,
    lowercase: bool,
    numbers: bool,
    punctuation: str | None,
    characters: str | None,
    accents: bool,
    blanks: str | None,
) -> Normaliser:
    # Half a megabyte, and a few milliseconds to make.
    chosen = None
    if characters is not None:
        chosen = np.unique(np.array([ord(character) for character in characters], np.uint32))
    return Normaliser(form, lowercase, numbers, punctuation, chosen, accents, blanks)


def word_bounds(shingler: Any, texts: Spans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many words each text has, int64 (n,), and where they begin and end, int64 (m, 2).

    The words stand in `bounds` text by text.
    """
    lengths, counts = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
    texts.lengths(lengths)
    found = [np.empty((0, 2), np.int64)]
    room = found[0]
    for start, stop in batches_by_work(lengths, CHARACTERS, CHARACTERS):
        needed = int(lengths[start:stop].sum()) + stop - start
        if needed > len(room):
            room = np.empty((needed, 2), np.int64)
        some = texts.part(start, stop)
        count = word_places(some, unit_of_words(shingler), counts[start:stop], room)
        found.append(room[:count].copy())
    return counts, np.concatenate(found)
