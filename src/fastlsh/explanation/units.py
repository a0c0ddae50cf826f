"""The units of a text, and where in the text each stands."""

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Spans
from fastlsh.texts import Shingler, as_texts

WORD = re.compile(r"\S+")  # as str.split()


@dataclass(frozen=True)
class Units:
    """The units of one document.

    Attributes
    ----------
    text : str or bytes
        What the positions refer to.
    is_original : bool
        Whether that is the document itself; otherwise it is the normalised one, or its tokens
        joined by spaces.
    values : ndarray of uint32, shape (n,), or list of str
        The units, normalised.
    start, stop : ndarray of int64, shape (n,)
        Unit i stands at text[start[i]:stop[i]]. Both ascend, but units may share a place: where a
        letter becomes two in lower case.
    """

    text: str | bytes
    is_original: bool
    values: Any
    start: NDArray[np.int64]
    stop: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)


def units_of(document: str | bytes | None, shingler: Shingler) -> Units:
    """Cut a document, which was checked before, into units."""
    if shingler.tokenizer is not None:
        tokens = shingler.tokenizer(_string(shingler.take_texts(as_texts([document]), _FIRST)))
        return _tokens([t.decode() if isinstance(t, bytes) else t for t in tokens])
    if shingler.unit == "byte" and not shingler.normalises:
        raw = document if isinstance(document, bytes) else _encoded(document or "")
        return Units(raw, True, np.frombuffer(raw, np.uint8).astype(np.uint32), *_every(len(raw)))
    original = _string(as_texts([document]).spans(0, 1))
    # What may do anything to a text comes first: its result is what the positions refer to.
    base = replace(shingler, unit="char", tokenizer=None, lowercase=False, remove_whitespace=False,
                   collapse_whitespace=False)  # fmt: skip
    text = _string(base.take_texts(as_texts([original]), _FIRST))
    units = Units(text, text == original, text, *_every(len(text)))
    units = _normalised(units, shingler)
    if shingler.unit == "word":
        return _words(units)
    return _bytes(units) if shingler.unit == "byte" else _characters(units)


_FIRST = np.zeros(1, np.int64)


def _string(spans: Spans) -> str:
    return spans.strings()[0]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def _every(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    places = np.arange(n + 1)
    return places[:-1], places[1:]


def _ranges(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other."""
    length = stop - start
    before = np.cumsum(length) - length
    numbers: NDArray[np.int64] = np.arange(int(length.sum())) + np.repeat(start - before, length)
    return numbers


def _word_places(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each run of non-whitespace begins and ends."""
    spans = chain.from_iterable(match.span() for match in WORD.finditer(text))
    places = np.fromiter(spans, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _taken(units: Units, text: str, which: NDArray[np.int64]) -> Units:
    """Return the characters of `text`, each in the place of one that there was."""
    return replace(units, values=text, start=units.start[which], stop=units.stop[which])


def _normalised(units: Units, shingler: Shingler) -> Units:
    """Apply what changes, adds or drops single characters; `values` is a str."""
    text: str = units.values
    if shingler.lowercase:
        lower = text.lower()
        length = np.ones(len(text), np.int64)
        if len(lower) != len(text):
            length[:] = [len(character.lower()) for character in text]
        units, text = _taken(units, lower, np.repeat(np.arange(len(length)), length)), lower
    if shingler.remove_whitespace:
        return _taken(units, "".join(text.split()), _ranges(*_word_places(text)))
    if shingler.collapse_whitespace:
        start, stop = _word_places(text)
        # A space stands where the run of whitespace stood: each word but the last has one behind.
        kept = _ranges(start, np.minimum(stop + 1, stop[-1:])) if len(start) else start
        spaced = _taken(units, " ".join(text.split()), kept)
        first = np.cumsum(stop - start + 1)[:-1] - 1  # of each space, its number
        spaced.stop[first] = units.start[start[1:]]
        return spaced
    return units


def _characters(units: Units) -> Units:
    return replace(units, values=_code_points(units.values))


def _words(units: Units) -> Units:
    text: str = units.values
    first, behind = _word_places(text)
    return replace(
        units, values=text.split(), start=units.start[first], stop=units.stop[behind - 1]
    )


def _bytes(units: Units) -> Units:
    """Return the bytes of the characters; positions in bytes, too: of the whole character."""
    assert isinstance(units.text, str)
    border = np.concatenate([[0], np.cumsum(_utf8_lengths(units.text))])
    length = _utf8_lengths(units.values)
    return Units(
        _encoded(units.text),
        units.is_original,
        np.frombuffer(_encoded(units.values), np.uint8).astype(np.uint32),
        np.repeat(border[units.start], length),
        np.repeat(border[units.stop], length),
    )


def _utf8_lengths(text: str) -> NDArray[np.int64]:
    points, borders = _code_points(text), np.array([0x80, 0x800, 0x10000], np.uint32)
    lengths: NDArray[np.int64] = 1 + np.searchsorted(borders, points, "right")
    return lengths


def _tokens(tokens: list[str]) -> Units:
    length = np.array([len(token) for token in tokens], np.int64)
    stop = np.cumsum(length + 1) - 1
    return Units(" ".join(tokens), False, tokens, stop - length, stop)
