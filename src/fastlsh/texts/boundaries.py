"""Boundaries: where a text may be cut between two words, sentences or lines."""

import re
from collections.abc import Callable

_STOPS, _WIDE_STOPS, _CLOSING = (
    ".!?\u2026",
    "\u3002\uff01\uff1f",
    "\"'\u2019\u201d)]\xbb\u300d\u300f",
)
_AFTER_STOP = re.compile(f"[{re.escape(_STOPS + _WIDE_STOPS + _CLOSING)}\n]")
_ALONE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
"""Characters of scripts that put no space between words: each may be a word."""
_MARK = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""What belongs to the character before it."""
_NEAR = 256
"""Characters before an end in which a boundary is looked for at first."""


def first_boundary(text: str, place: int, snap: str, stop: int) -> int:
    """Return the first boundary from a place on, or `stop`, which is behind it, if none is before.

    `snap` is "word", "sentence" or "line".
    """
    is_boundary = _IS_BOUNDARY[snap]
    while 0 < place < stop and not is_boundary(text, place):
        if snap == "word":
            place += 1
        elif snap == "line":
            found = text.find("\n", place, stop)
            place = stop if found < 0 else found
        else:
            end = _AFTER_STOP.search(text, place, stop)
            place = stop if end is None else max(end.start(), place + 1)
    return place


def last_boundary(text: str, place: int, snap: str, start: int) -> int:
    """Return the last boundary up to a place, or `start`, which is before it, if none is behind."""
    is_boundary = _IS_BOUNDARY[snap]
    while start < place < len(text) and not is_boundary(text, place):
        if snap == "word":
            place -= 1
        elif snap == "line":
            place = max(text.rfind("\n", start, place) + 1, start)
        else:
            place = _before_stop(text, place, start)
    return place


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


def _between_lines(text: str, place: int) -> bool:
    return "\n" in text[place - 1 : place + 1]


def _between_sentences(text: str, place: int) -> bool:
    if _between_lines(text, place):
        return True
    end = place
    while end > 0 and text[end - 1].isspace():
        end -= 1
    spaced = end < place or text[place].isspace()
    while end > 0 and text[end - 1] in _CLOSING:
        end -= 1
    stop = text[end - 1 : end]
    return bool(stop) and (stop in _WIDE_STOPS or (spaced and stop in _STOPS))


def _before_stop(text: str, place: int, start: int) -> int:
    """Return the last place before this one at which a sentence may end, or `start`."""
    size = _NEAR
    near = place
    while near > start:
        near = max(place - size, start)
        stops = [found.start() for found in _AFTER_STOP.finditer(text, near, place)]
        if near == start:
            stops.insert(0, start - 1)  # what begins there may follow a stop
        for stop in reversed(stops):
            # What follows a stop, up to a letter, belongs to its sentence.
            end = stop + 1
            while end < place and (text[end].isspace() or text[end] in _CLOSING):
                end += 1
            end = min(end, place - 1)
            while end > stop and not _between_sentences(text, end):
                end -= 1
            if end > stop:
                return end
        size *= 4
    return start


_IS_BOUNDARY: dict[str, Callable[[str, int], bool]] = {
    "word": _between_words, "sentence": _between_sentences, "line": _between_lines,
}  # fmt: skip
