"""Pieces: the lines, paragraphs or sentences of texts, read in place as documents of their own."""

from abc import abstractmethod
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import (
    Spans,
    TextColumn,
    TextColumns,
    column_of,
    cut_pieces,
    remainders,
    spans_of_list,
    windows_of,
)
from fastlsh.arrays import covered
from fastlsh.parallel import batches_by_work, run_batches
from fastlsh.texts.boundaries import sentences_of, without_sentences

CHARACTERS = 1 << 24
"""Characters that are worked on in one call: some hundredths of a second."""
MOST = 1 << 16
"""Texts of a call at most."""
LINE = 40
"""Characters of a piece, by which room is made at first."""


class Texts(Protocol):
    """A collection of texts that can be read again, in any order: all that a search asks of it.

    A class needs `__len__` and `take`. One that can read a range of texts in place, without a list
    of their numbers, has `spans` of its own.
    """

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of documents."""

    @abstractmethod
    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents; `as_bytes` takes str as UTF-8."""

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the documents start ... stop - 1."""
        return self.take(np.arange(start, stop), as_bytes)


def lengths_of(texts: Spans) -> NDArray[np.int64]:
    """Return the code points (bytes, tokens) of each text, int64 (n,)."""
    lengths = np.empty(len(texts), np.int64)
    texts.lengths(lengths)
    return lengths


class Pieces(Texts):
    """Pieces of texts, behind the interface `Texts`.

    Parameters
    ----------
    texts
        The texts.
    bounds
        int64 (m, 3), ascending: of each piece its text, and the code points where it begins and
        ends.
    """

    def __init__(self, texts: Spans, bounds: NDArray[np.int64]) -> None:
        self.texts = texts
        self.bounds = bounds

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The code points of each piece, int64 (m,)."""
        return self.bounds[:, 2] - self.bounds[:, 1]

    def removed(self, pieces: NDArray[Any]) -> NDArray[np.int64]:
        """Return what goes if some of them are removed, given as for `chosen`, int64 (n, 3)."""
        return self.chosen(pieces).bounds

    def chosen(self, pieces: NDArray[Any]) -> "Pieces":
        """Return some of them, by numbers that ascend or by flags."""
        return Pieces(self.texts, self.bounds[pieces])

    def at(self, bounds: NDArray[np.int64]) -> "Pieces":
        """Return other pieces of the same texts."""
        return Pieces(self.texts, bounds)

    def strings(self) -> list[str]:
        """Return the text of each piece."""
        return self.spans(0, len(self)).strings()

    def column(self) -> TextColumn | TextColumns:
        """Return the texts of the pieces as a column."""
        return column_of(self.spans(0, len(self)))

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the pieces start ... stop - 1, without a copy of their bounds."""
        return self.take(slice(start, stop), as_bytes)

    def take(self, documents: NDArray[np.int64] | slice, as_bytes: bool = False) -> Spans:
        """Gather the given pieces."""
        windows = windows_of(self.texts, self.bounds[documents])
        # Of bytes a piece has others than its text has code points.
        return spans_of_list(windows.strings(), 0, True) if as_bytes else windows


class Windows(Pieces):
    """Windows of consecutive pieces of a text, as pieces: from the first one to the last one.

    Parameters
    ----------
    pieces
        Lines, paragraphs or sentences.
    size
        How many of them a window has. A text with fewer has none.
    """

    def __init__(self, pieces: Pieces, size: int) -> None:
        parts = pieces.bounds
        last = parts[size - 1 :]
        self._parts, self._size = parts, size
        self._first = np.flatnonzero(parts[: len(last), 0] == last[:, 0])
        ends = last[self._first, 2:]
        super().__init__(pieces.texts, np.hstack([parts[self._first, :2], ends]))

    def removed(self, pieces: NDArray[Any]) -> NDArray[np.int64]:
        """Return the lines, paragraphs or sentences of some windows."""
        return self._parts[covered(self._first[pieces], self._size, len(self._parts))]


def pieces_of(documents: list[str | None], by: str, threads: int = 1, window: int = 1) -> Pieces:
    """Cut texts into lines, paragraphs or sentences.

    Parameters
    ----------
    documents
        The texts; None has no piece.
    by
        "line": up to a line feed; a carriage return before it is left out, and blank lines are no
        pieces. "paragraph": runs of lines that are not blank. White space is that of ASCII here.
        "sentence": what is between the boundaries of `Boundaries`, without white space around it.
    threads
        How many.
    window
        So many consecutive ones are a piece: see `Windows`.
    """
    spans = spans_of_list(documents)
    bounds: dict[int, NDArray[np.int64]] = {}

    def cut(start: int, stop: int) -> None:
        if by == "sentence":
            out = _sentences(documents[start:stop])
        else:
            room = int(lengths[start:stop].sum()) // LINE + stop - start
            out = _lines(spans.part(start, stop), by == "paragraph", room)
        out[:, 0] += start
        bounds[start] = out

    lengths = lengths_of(spans)
    run_batches(cut, batches_by_work(lengths, CHARACTERS, MOST), threads)
    parts = [bounds[start] for start in sorted(bounds)]
    if len(parts) != 1:  # of one long text, there may be no memory for a copy
        parts = [np.concatenate([np.empty((0, 3), np.int64), *parts])]
    pieces = Pieces(spans, parts[0])
    return pieces if window == 1 else Windows(pieces, window)


def _lines(texts: Spans, paragraphs: bool, room: int) -> NDArray[np.int64]:
    """Return where lines or paragraphs stand, int64 (m, 3); at first there is room for `room`."""
    while True:
        out = np.empty((room, 3), np.int64)
        count = cut_pieces(texts, paragraphs, out)
        if count <= room:
            return out if count == room else out[:count].copy()
        room = count


def _sentences(documents: list[str | None]) -> NDArray[np.int64]:
    """Return where sentences stand, int64 (m, 3)."""
    rows = (
        (number, *place)
        for number, text in enumerate(documents)
        for place in sentences_of(text or "")
    )
    return np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, 3)


def texts_without(texts: Spans, removed: NDArray[np.int64], by: str) -> dict[int, str]:
    """Return the texts that lose pieces, by number, without these.

    A line goes with its line end, or with the one before it if it has none; a paragraph with the
    blank lines behind it, or at the end of a text with those before it; a sentence as
    `without_sentences` says. A text of which only blank lines would be left is "".

    Parameters
    ----------
    texts
        All texts.
    removed
        int64 (m, 3), ascending: text, begin and end of each piece that goes.
    by
        What they are: "line", "paragraph" or "sentence".
    """
    removed = np.ascontiguousarray(removed)
    starts = np.flatnonzero(np.diff(removed[:, 0], prepend=-1))
    numbers = removed[starts, 0]
    edges = np.append(starts, len(removed))
    rest: list[str] = []
    for first, last in batches_by_work(lengths_of(texts)[numbers], CHARACTERS, MOST):
        bounds = removed[edges[first] : edges[last]]
        if by != "sentence":
            rest += remainders(texts, bounds, by == "paragraph")
            continue
        for n in range(first, last):
            (text,) = texts.part(int(numbers[n]), int(numbers[n]) + 1).strings()
            rest.append(without_sentences(text, removed[edges[n] : edges[n + 1], 1:].tolist()))
    return dict(zip(numbers.tolist(), rest, strict=True))
