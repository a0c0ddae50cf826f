"""Origins: where the units of a normalised text lie in the text as it came."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Spans
from fastlsh.texts.forms import Texts
from fastlsh.texts.shingler import Shingler


class Origins(NamedTuple):
    """Of each unit of a text, the code points of the original text."""

    begin: NDArray[np.int64]
    """int64 (n,): where a stretch that begins with this unit begins."""
    end: NDArray[np.int64]
    """int64 (n,): where a stretch that ends with this unit ends."""


def check_traceable(shingler: Shingler) -> Shingler:
    """Return a shingler whose units can be found in the original text, or raise ValueError."""
    for name, wrong in (
        ("unit", shingler.unit not in ("char", "byte")),
        ("tokenizer", shingler.tokenizer is not None),
        ("normalize", shingler.normalize is not None),
    ):
        if wrong:
            raise ValueError(
                f"passages are counted in characters or bytes, and cut in the original text: a"
                f" shingler with {name}={getattr(shingler, name)!r} does not tell where they are"
            )
    return shingler


def origins_of(text: Spans, shingler: Shingler) -> Origins:
    """Return where the units of the only text come from; a byte never splits a code point.

    A stretch of bytes that begins inside a code point begins in the original text behind it, and
    one that ends inside ends before it.
    """
    normalised, bounds = shingler.traced(text)
    begin, end = bounds[:, 0], bounds[:, 1]
    if shingler.unit == "char":
        return Origins(begin, end)
    points = np.frombuffer(normalised.strings()[0].encode("utf-32-le", "surrogatepass"), "<u4")
    width = 1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF)
    of_byte = np.repeat(np.arange(len(points)), width)
    is_first = np.diff(of_byte, prepend=-1) > 0
    is_last = np.diff(of_byte, append=len(points)) > 0
    return Origins(
        np.where(is_first, begin[of_byte], end[of_byte]),
        np.where(is_last, end[of_byte], begin[of_byte]),
    )


def original_spans(
    texts: Texts, shingler: Shingler, number: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return spans of units as spans of code points of the original texts, int64 (m, 2).

    Parameters
    ----------
    texts, shingler
        The collection, and how it was normalised.
    number
        int64 (m,): the text of each span.
    spans
        int64 (m, 2): where each begins and ends in the normalised text.
    """
    if shingler.unit == "char" and not shingler.normalises:
        return spans
    found = np.empty_like(spans)
    order = np.argsort(number, kind="stable")
    edges = np.flatnonzero(np.diff(number[order], prepend=-1, append=-1))
    for start, stop in pairwise(edges.tolist()):
        rows = order[start:stop]
        origins = origins_of(texts.take(number[rows[:1]]), shingler)
        found[rows, 0] = origins.begin[spans[rows, 0]]
        found[rows, 1] = origins.end[spans[rows, 1] - 1]
    return found


def texts_without_spans(texts: Texts, removed: NDArray[np.int64], join: str) -> dict[int, str]:
    """Return the texts that lose spans, by number, without these.

    Parameters
    ----------
    texts
        The collection.
    removed
        int64 (m, 3), ascending: text, begin and end of each span that goes.
    join
        What is written between two remainders.
    """
    edges = np.flatnonzero(np.diff(removed[:, 0], prepend=-1, append=-1))
    rest: dict[int, str] = {}
    for start, stop in pairwise(edges.tolist()):
        number = removed[start, 0]
        (text,) = texts.take(removed[start : start + 1, 0]).strings()
        remainders, end = [], 0
        for begin, following in removed[start:stop, 1:].tolist():
            remainders.append(text[end:begin])
            end = following
        remainders.append(text[end:])
        rest[int(number)] = join.join(filter(None, remainders))
    return rest
