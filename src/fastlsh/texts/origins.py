"""Origins: where the units of a normalised text lie in the text."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import Spans
from fastlsh.parallel import batches, batches_by_work
from fastlsh.texts.boundaries import Boundaries
from fastlsh.texts.pieces import CHARACTERS, MOST, Texts, lengths_of
from fastlsh.texts.shingler import Shingler, check_shingler
from fastlsh.texts.word_units import UnitTexts, unsteady

DECODED = 64
"""Texts that are made strings at a time."""


def check_traceable(shingler: Shingler | None) -> Shingler:
    """Return a shingler whose units can be found in the original text, or raise ValueError."""
    shingler = check_shingler(shingler)
    if shingler.unit == "token":
        raise ValueError(
            "passages are counted in characters, bytes or words: unit must be 'char', 'byte' or"
            " 'word', got 'token'; for tokens, give Shingler('word', tokenizer=...)"
        )
    if shingler.ignored is not None:
        raise ValueError("passages are found by all of a text: ignore= has no effect on them")
    if shingler.empty_words:
        raise ValueError("passages have no empty words: leave out empty_words=")
    if shingler.normalize is not None:
        raise ValueError(
            "passages are cut in the original text, and normalize= does not tell where they are:"
            " give the other steps of a shingler"
        )
    return shingler


def counts_originals(shingler: Shingler) -> bool:
    """Return whether the units of a normalised text are the characters of the original one."""
    return shingler.unit == "char" and not shingler.normalises


def splits_characters(shingler: Shingler) -> bool:
    """Return whether a character of an original text may be several units of the normalised one."""
    steps = shingler.unicode_form, shingler.lowercase, shingler.strip_accents
    return shingler.unit == "byte" or any(steps)


def original_spans(
    texts: Texts,
    shingler: Shingler,
    number: NDArray[np.int64],
    spans: NDArray[np.int64],
    *,
    words: bool = True,
) -> NDArray[np.int64]:
    """Return spans of normalised texts as spans of the original texts, int64 (m, 2).

    A character of which a part lies in a span lies in its original.

    Parameters
    ----------
    texts, shingler
        The collection, and how it was normalised.
    number
        int64 (m,): the text of each span.
    spans
        int64 (m, 2): where each begins and ends in the normalised text; or -1, which remains.
    words
        Whether spans count words if these are the unit; if not, they count code points.
    """
    originals = spans.copy()
    if counts_originals(shingler):
        return originals
    if shingler.unit == "word" and words and not shingler.normalises:
        return _spans_of_words(texts, shingler, number, originals)
    for rows, _, bounds in _by_text(texts, shingler, number, spans, words):
        originals[rows, 0] = bounds[spans[rows, 0], 0]
        originals[rows, 1] = bounds[spans[rows, 1] - 1, 1]
    return originals


def _spans_of_words(
    texts: Texts, shingler: Shingler, number: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return spans as `original_spans` does, of words of texts that the steps do not change."""
    rows_of_words = np.flatnonzero(spans[:, 0] >= 0)
    documents, of_row = np.unique(number[rows_of_words], return_inverse=True)
    plain = texts.take(documents)
    order = np.argsort(of_row, kind="stable")
    for start, stop in batches_by_work(lengths_of(plain), CHARACTERS, MOST):
        words = UnitTexts.of(shingler, plain.part(start, stop))
        rows_of_batch = order[slice(*np.searchsorted(of_row[order], (start, stop)))]
        rows, first = rows_of_words[rows_of_batch], words.starts[of_row[rows_of_batch] - start]
        begin, end = first + spans[rows].T
        if (end > words.starts[of_row[rows_of_batch] - start + 1]).any():
            raise unsteady()
        spans[rows] = np.column_stack([words.bounds[begin, 0], words.bounds[end - 1, 1]])
    return spans


def inner_spans(
    texts: Texts,
    shingler: Shingler,
    number: NDArray[np.int64],
    spans: NDArray[np.int64],
    snap: str = "none",
) -> NDArray[np.int64]:
    """Move spans inwards, to between two characters, words, sentences or lines of the originals.

    Parameters
    ----------
    texts, shingler, number, spans
        As for `original_spans`, all at least 0.
    snap
        "word", "sentence" or "line"; "none": between characters.

    Returns
    -------
    ndarray of int64, shape (m, 2)
        Where they begin and end in the normalised texts; the end is not behind the begin where
        nothing is left.
    """
    inner = spans.copy()
    for rows, text, bounds in _by_text(texts, shingler, number, spans):
        if snap != "none":
            boundaries = Boundaries(text.strings()[0], snap)
            for row in rows.tolist():
                inner[row] = _snapped(boundaries, bounds, *spans[row].tolist())
        # A character of several units lies before and behind the places between them.
        apart = bounds[1:, 0] >= bounds[:-1, 1]
        whole = np.flatnonzero(np.concatenate([[True], apart, [True]]))
        inner[rows, 0] = whole[np.searchsorted(whole, inner[rows, 0])]
        inner[rows, 1] = whole[np.searchsorted(whole, inner[rows, 1], "right") - 1]
    return inner


def _snapped(
    boundaries: Boundaries, bounds: NDArray[np.int64], begin: int, end: int
) -> tuple[int, int]:
    """Return where a span of units begins and ends that lies between boundaries of the original."""
    start, stop = int(bounds[begin, 0]), int(bounds[end - 1, 1])
    first, last = boundaries.first(start, stop), boundaries.last(stop, start)
    if first >= last:
        return end, begin
    return (
        max(begin, int(np.searchsorted(bounds[:, 0], first))),
        min(end, int(np.searchsorted(bounds[:, 1], last, "right"))),
    )


def _by_text(
    texts: Texts,
    shingler: Shingler,
    number: NDArray[np.int64],
    spans: NDArray[np.int64],
    words: bool = True,
) -> Iterator[tuple[NDArray[np.int64], Spans, NDArray[np.int64]]]:
    """Yield the rows of each text that has spans, the text, and the origins of its units."""
    order = np.flatnonzero(spans[:, 0] >= 0)
    order = order[np.argsort(number[order], kind="stable")]
    edges = np.flatnonzero(np.diff(number[order], prepend=-1, append=-1))
    for start, stop in pairwise(edges.tolist()):
        rows = order[start:stop]
        text = texts.take(number[rows[:1]])
        bounds = _origins(shingler, text, words)
        if spans[rows, 1].max() > len(bounds):
            raise unsteady()
        yield rows, text, bounds


def _origins(shingler: Shingler, text: Spans, words: bool = True) -> NDArray[np.int64]:
    """Return where each unit of the only text begins and ends in the original, int64 (n, 2)."""
    text, bounds = shingler.traced(text)
    if shingler.unit == "byte":
        (string,) = text.strings()
        code = np.frombuffer(string.encode("utf-32-le", "surrogatepass"), np.uint32)
        sizes = 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000).astype(np.int64)
        return np.repeat(bounds, sizes, axis=0)
    if shingler.unit == "word" and words:
        places = UnitTexts.of(shingler, text).bounds
        return np.column_stack([bounds[places[:, 0], 0], bounds[places[:, 1] - 1, 1]])
    return bounds


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
    rest: dict[int, str] = {}
    heads = np.flatnonzero(np.diff(removed[:, 0], prepend=-1))
    edges = np.append(heads, len(removed)).tolist()
    for first, last in batches(len(heads), DECODED):
        numbers = removed[heads[first:last], 0]
        bounds = removed[edges[first] : edges[last], 1:].tolist()
        strings = texts.take(numbers).strings()
        for n, (number, text) in enumerate(zip(numbers.tolist(), strings, strict=True), first):
            remainders, end = [], 0
            for begin, following in bounds[edges[n] - edges[first] : edges[n + 1] - edges[first]]:
                remainders.append(text[end:begin])
                end = following
            remainders.append(text[end:])
            rest[number] = join.join(filter(None, remainders))
    return rest
