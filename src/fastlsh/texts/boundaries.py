"""Boundaries: between which characters of a text its words, sentences and lines begin and end."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

_STOPS, _WIDE_STOPS, _CLOSING = (
    ".!?\u2026",
    "\u3002\uff01\uff1f",
    "\"'\u2019\u201d)]\xbb\u300d\u300f",
)
_LINES = re.compile(r"(?P<between>\n+)")
_SENTENCES = re.compile(
    f"[{_WIDE_STOPS}](?P<wide>[{re.escape(_CLOSING)}]*\\s*)"
    f"|[{_STOPS}][{re.escape(_CLOSING)}]*(?P<spaced>\\s+)"
    f"|{_LINES.pattern}"
)
"""A boundary is each place in a group, at its beginning and at its end.

A stop with what follows it is matched once, so time is linear in the text.
"""
_SENTENCE_ENDS = re.compile(f"(?:{_SENTENCES.pattern})+")
"""Boundaries that follow each other, as behind two stops, end one sentence."""
_ALONE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Characters of scripts that put no space between words: each may be a word."""
_MARK = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""What belongs to the character before it."""


class Boundaries:
    """The boundaries of a text; its beginning and its end are boundaries, too.

    Parameters
    ----------
    text
        The text.
    snap
        "word", "sentence" or "line".
    """

    def __init__(self, text: str, snap: str) -> None:
        self._text = text
        self._places = None  # of words, which are short, they are looked for where they are needed
        if snap != "word":
            pattern = _LINES if snap == "line" else _SENTENCES
            groups = (match.span(match.lastgroup or 0) for match in pattern.finditer(text))
            inside = chain.from_iterable(range(begin, end + 1) for begin, end in groups)
            self._places = np.fromiter(chain([0], inside, [len(text)]), np.int64)

    def first(self, place: int, stop: int) -> int:
        """Return the first boundary from a place on; `stop`, behind it, if none is before."""
        if not 0 < place < stop:
            return place
        if self._places is not None:
            return min(int(self._places[np.searchsorted(self._places, place)]), stop)
        while place < stop and not _between_words(self._text, place):
            place += 1
        return place

    def last(self, place: int, start: int) -> int:
        """Return the last boundary up to a place; `start`, before it, if none is behind."""
        if not start < place < len(self._text):
            return place
        if self._places is not None:
            row = np.searchsorted(self._places, place, "right") - 1
            return max(int(self._places[row]), start)
        while place > start and not _between_words(self._text, place):
            place -= 1
        return place


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends: what is between boundaries, and not white space.

    A stop and the quotation marks and brackets behind it belong to the sentence that they end; the
    white space between two sentences belongs to neither.
    """
    begin = 0
    for end in chain((match.end() for match in _SENTENCE_ENDS.finditer(text)), [len(text)]):
        stretch = text[begin:end].rstrip()
        sentence = stretch.lstrip()
        if sentence:
            yield begin + len(stretch) - len(sentence), begin + len(stretch)
        begin = end


def without_sentences(text: str, removed: Sequence[Sequence[int]]) -> str:
    """Return a text without some of its sentences.

    Where sentences are gone between two that stay, one of the stretches of white space around them
    stays: the one with most line feeds, the first one of several. The text begins and ends with
    the white space with which it began and ended; if no sentence is left, nothing is.

    Parameters
    ----------
    text
        The text.
    removed
        Where each sentence that goes begins and ends, ascending.
    """
    rest: list[str] = []
    gaps: list[str] = []
    position = 0
    for begin, end in [*removed, (len(text), len(text))]:
        between = text[position:begin]
        behind_gap = between.lstrip()
        gaps.append(between[: len(between) - len(behind_gap)])
        if sentences := behind_gap.rstrip():
            rest += [max(gaps, key=_line_feeds) if rest else gaps[0], sentences]
            gaps = [behind_gap[len(sentences) :]]
        position = end
    return "".join([*rest, gaps[-1]]) if rest else ""


def _line_feeds(gap: str) -> int:
    return gap.count("\n")


def _between_words(text: str, place: int) -> bool:
    if _MARK.match(text, place):
        return False
    before = place - 1
    while before > 0 and _MARK.match(text, before):
        before -= 1
    return not (_is_letter(text, before) and _is_letter(text, place))


def _is_letter(text: str, place: int) -> bool:
    letter = text[place]
    return (letter.isalnum() or letter == "_") and not _ALONE.match(letter)
