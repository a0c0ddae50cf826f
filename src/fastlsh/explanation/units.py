"""The units of a text, and where in the text each stands."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import Spans
from fastlsh.texts import Shingler, as_texts


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
        Unit i stands at text[start[i]:stop[i]]. Both ascend, but units may share characters: where
        a letter becomes two in lower case.
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
    if shingler.tokenizer is not None or shingler.unit == "token":
        return _tokens(shingler.words_of(shingler.take_texts(as_texts([document]), _FIRST)))
    if shingler.as_bytes:
        raw = document if isinstance(document, bytes) else _encoded(document or "")
        return Units(raw, True, np.frombuffer(raw, np.uint8).astype(np.uint32), *_every(len(raw)))
    original = _string(as_texts([document]).spans(0, 1))
    # What may do anything to a text comes first: its result is what the positions refer to.
    base = Shingler(normalize=shingler.normalize)
    called = base.take_texts(as_texts([original]), _FIRST)
    text = _string(called)
    spans, bounds = shingler.traced(called)
    units = Units(text, text == original, _string(spans), *bounds.T)
    if shingler.unit == "word":
        return _words(units, shingler.word_bounds(spans))
    return _bytes(units) if shingler.unit == "byte" else _characters(units)


_FIRST = np.zeros(1, np.int64)


def _string(spans: Spans) -> str:
    return spans.strings()[0]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def _every(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    bounds = np.arange(n + 1)
    return bounds[:-1], bounds[1:]


def _characters(units: Units) -> Units:
    return replace(units, values=_code_points(units.values))


def _words(units: Units, bounds: NDArray[np.int64]) -> Units:
    text: str = units.values
    first, behind = bounds.T
    # An empty word stands where the next code point does, if there is one.
    start = np.append(units.start, len(units.text))[first]
    stop = np.where(behind > first, np.append(units.stop, 0)[behind - 1], start)
    words = [text[begin:end] for begin, end in bounds.tolist()]
    return replace(units, values=words, start=start, stop=stop)


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
