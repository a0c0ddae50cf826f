"""Origins: where the characters of a normalised text lie in the text as it came."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fastlsh.texts.forms import Texts
from fastlsh.texts.shingler import Shingler


def check_traceable(shingler: Shingler) -> Shingler:
    """Return a shingler whose characters can be found in the original text, or raise ValueError."""
    if shingler.unit != "char":
        raise ValueError(
            f"passages are counted in characters: unit must be 'char', got {shingler.unit!r}"
        )
    if shingler.normalize is not None:
        raise ValueError(
            "passages are cut in the original text, and normalize= does not tell where they are:"
            " give the other steps of a shingler"
        )
    return shingler


def original_spans(
    texts: Texts, shingler: Shingler, number: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return spans of normalised texts as spans of the original texts, int64 (m, 2).

    Parameters
    ----------
    texts, shingler
        The collection, and how it was normalised.
    number
        int64 (m,): the text of each span.
    spans
        int64 (m, 2): where each begins and ends in the normalised text.
    """
    if not shingler.normalises:
        return spans
    found = np.empty_like(spans)
    order = np.argsort(number, kind="stable")
    edges = np.flatnonzero(np.diff(number[order], prepend=-1, append=-1))
    for start, stop in pairwise(edges.tolist()):
        rows = order[start:stop]
        _, bounds = shingler.traced(texts.take(number[rows[:1]]))
        found[rows, 0] = bounds[spans[rows, 0], 0]
        found[rows, 1] = bounds[spans[rows, 1] - 1, 1]
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
