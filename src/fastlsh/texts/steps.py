"""Normalisation and shingle sets in steps, each short enough for Ctrl-C, however long a text is."""

from collections.abc import Generator, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text._normal import Normaliser
from fastlsh._kernels.text._plans import (
    ALPHANUMERIC,
    ASCII_ALPHANUMERIC,
    UNICODE_WORDS,
    WITH_EMPTY,
    WORDS,
    word_places,
)
from fastlsh._kernels.text._texts import Spans
from fastlsh.arguments import check_choice
from fastlsh.arrays import unique
from fastlsh.parallel import batches, batches_by_work
from fastlsh.texts.forms import Gathered, Hashing
from fastlsh.texts.pieces import lengths_of

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
    chosen = None if characters is None else np.unique(np.array([*map(ord, characters)], np.uint32))
    return Normaliser(form, lowercase, numbers, punctuation, chosen, accents, blanks)


def word_bounds(shingler: Any, texts: Spans) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many words each text has, int64 (n,), and where they begin and end, int64 (m, 2).

    The words stand in `bounds` text by text.
    """
    lengths, counts = lengths_of(texts), np.empty(len(texts), np.int64)
    bounds = [np.empty((0, 2), np.int64)]
    room = bounds[0]
    for start, stop in batches_by_work(lengths, CHARACTERS, CHARACTERS):
        needed = int(lengths[start:stop].sum()) + stop - start
        if needed > len(room):
            room = np.empty((needed, 2), np.int64)
        batch = texts.part(start, stop)
        count = word_places(batch, unit_of_words(shingler), counts[start:stop], room)
        bounds.append(room[:count].copy())
    return counts, np.concatenate(bounds)


STEP = 1 << 22
"""Units that are hashed, or hashes that are merged, in one call: about a tenth of a second."""


def shingle_set_steps(
    gathered: Gathered,
    lengths: NDArray[np.int64],
    hashing: Hashing,
    out: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    *,
    thinned: bool = False,
) -> Iterator[None]:
    """Write the shingle hashes of each document of a batch, step by step.

    Parameters
    ----------
    gathered, lengths
        The batch, and the code points (bytes, tokens) of each document, int64 (n,).
    hashing
        Of the shingler.
    out
        uint64, written: document d from start[d] on; it needs room for
        `Shingler.most_shingles`.
    start
        int64 (n + 1,), where the room of each document begins and ends.
    count
        int64 (n,), written: how many hashes there are, distinct and ascending.
    thinned
        In the order of the text instead; some that repeat are left out.
    """
    for first, last in batches_by_work(lengths, STEP, max(len(lengths), 1)):
        room = start[first : last + 1]
        counts = count[first:last]
        if lengths[first] <= STEP or not gathered.has_windows(hashing.unit):
            _write_sets(gathered.part(first, last), hashing, out, room, counts, thinned)
            yield
            continue
        parts: list[NDArray[np.uint64]] = []
        end = int(room[0])
        overlap = hashing.size - 1
        length = int(lengths[first])
        # What is read twice is to be little.
        for a, b in batches(max(length - overlap, 1), max(STEP, 64 * overlap)):
            window = gathered.window(first, a, min(b + overlap, length))
            _write_sets(window, hashing, out, np.array([end, end + b - a]), counts, thinned)
            parts.append(out[end : end + int(counts[0])])
            end += int(counts[0])
            yield
        counts[0] = end - room[0]
        if not thinned:
            counts[0] = yield from _merge(parts, out[int(room[0]) : end])


def _write_sets(
    batch: Gathered,
    hashing: Hashing,
    out: NDArray[np.uint64],
    room: NDArray[np.int64],
    counts: NDArray[np.int64],
    thinned: bool,
) -> None:
    # Not an inner function: its annotations would be evaluated for each batch, 6 us a time.
    unit, size, prepared = hashing
    _sets.shingle_sets(
        batch.units, batch.offsets, unit, size, out, room, counts, thinned=thinned,
        prepared=prepared,
    )  # fmt: skip


def _merge(parts: list[NDArray[np.uint64]], out: NDArray[np.uint64]) -> Generator[None, None, int]:
    """Write the union of ascending parts of `out` to its beginning; return its size.

    Range by range of values: hashes are spread evenly over all of them.
    """
    ranges = len(out) // STEP + 1
    bounds = np.array([2**64 * i // ranges for i in range(1, ranges)], np.uint64)
    edges = [[0, *np.searchsorted(part, bounds).tolist(), len(part)] for part in parts]
    union = []
    for i in range(ranges):
        slices = [part[edge[i] : edge[i + 1]] for part, edge in zip(parts, edges, strict=True)]
        union.append(unique(np.concatenate(slices)))
        yield
    end = 0
    for merged in union:
        out[end : end + len(merged)] = merged
        end += len(merged)
    return end
