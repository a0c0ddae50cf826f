"""Stop words and vocabularies: which words are left out before shingles form."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import WORDS, ShinglePlan, Spans, spans_of_list, token_hashes

LISTS = ("stop_words", "vocabulary")
"""The arguments of a `Shingler` that are lists of words."""


def check_word_list(shingler: Any, name: str) -> tuple[str, ...] | None:
    """Return an argument as a sorted tuple of different words; None if there is nothing to do."""
    given = getattr(shingler, name)
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of words, got {type(given).__name__}")
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} has an element of type {type(word).__name__}, expected str")
    if not words and name == "vocabulary":
        raise ValueError("vocabulary has no words: every document would be empty")
    if shingler.unit != "word" or shingler.tokenizer is not None:
        raise ValueError(f'{name} needs unit="word", and no tokenizer, which can leave words out')
    return tuple(sorted({str(word) for word in words})) or None


def check_one_word_list(shingler: Any) -> None:
    """Raise if a `Shingler` has both lists."""
    if shingler.stop_words is not None and shingler.vocabulary is not None:
        raise ValueError(
            "stop_words and vocabulary: give one of them, because a vocabulary already says which"
            " words stay"
        )


def normalised_words(shingler: Any, normalise: Any, cut: Any) -> frozenset[str]:
    """Return the words of the list as they occur in normalised texts.

    Parameters
    ----------
    shingler
        It has a list.
    normalise, cut
        From `Spans` to normalised `Spans`; from one of these texts to the bounds of its words.
    """
    name = "stop_words" if shingler.stop_words is not None else "vocabulary"
    given = getattr(shingler, name)
    spans: Spans = normalise(spans_of_list(list(given)))
    words: set[str] = set()
    for i, (word, text) in enumerate(zip(given, spans.strings(), strict=True)):
        bounds = cut(spans.part(i, i + 1)).tolist()
        pieces = [text[begin:end] for begin, end in bounds]
        if len([piece for piece in pieces if piece]) != 1:
            raise ValueError(
                f"{name} has {word!r}, which is not one word but {len(pieces)} after normalisation"
            )
        words.update(filter(None, pieces))
    return frozenset(words)


def plan_of_word_list(shingler: Any, words: Iterable[str], unit: int) -> ShinglePlan:
    """Return how shingles are hashed where some words are left out."""
    key = shingler.key
    hashes = token_hashes(
        [list(words)], np.empty(2, np.int64), prepared=key.plan(WORDS, 1) if key else None
    )
    keeps = shingler.vocabulary is not None
    if key is not None:
        plan: ShinglePlan = key.new_plan(unit, shingler.size, hashes, keeps)
        return plan
    return ShinglePlan(unit, shingler.size, None, hashes, keeps)


def bounds_that_stay(
    bounds: NDArray[np.int64], text: str, words: frozenset[str], keeps: bool
) -> NDArray[np.int64]:
    """Return the bounds of the words that are not left out."""
    stay = [(text[begin:end] in words) == keeps for begin, end in bounds.tolist()]
    return bounds[np.array(stay, np.bool_)]
