"""From shingles to spans of the texts, and a text cut into what the other one has."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.explanation.matching import Pairing
from fastlsh.explanation.units import Units


class MatchingSpan(NamedTuple):
    """A run that two texts share: ``a[a_start:a_stop]`` and ``b[b_start:b_stop]``."""

    a_start: int
    a_stop: int
    b_start: int
    b_stop: int


def covered(units: Units, shared: NDArray[np.bool_], size: int) -> list[tuple[int, int]]:
    """Return the spans of a text that at least one of the shared shingles covers.

    Parameters
    ----------
    units
        Of the document.
    shared : ndarray of bool
        For each of its shingles, whether the other document has it.
    size
        Units in a shingle.
    """
    at = np.flatnonzero(shared)
    if not len(at):
        return []
    start, stop = units.start[at], units.stop[np.minimum(at + size, len(units)) - 1]
    # Shingles that overlap or touch make one span; so do shingles whose units share a character.
    begins = np.flatnonzero((at[1:] > at[:-1] + size) & (start[1:] > stop[:-1])) + 1
    first = np.concatenate([[0], begins])
    last = np.concatenate([begins, [len(at)]]) - 1
    return list(zip(start[first].tolist(), stop[last].tolist(), strict=True))


def matching_spans(a: Units, b: Units, pairing: Pairing, size: int) -> list[MatchingSpan]:
    """Return the spans of the runs of paired shingles."""
    return [
        MatchingSpan(
            int(a.start[run.a]),
            int(a.stop[min(run.a + run.length - 1 + size, len(a)) - 1]),
            int(b.start[run.b]),
            int(b.stop[min(run.b + run.length - 1 + size, len(b)) - 1]),
        )
        for run in pairing.runs()
    ]


Place = tuple[int, int]


class Segment(NamedTuple):
    """``text[start:stop]``."""

    start: int
    stop: int
    alike: bool
    """Whether shared shingles cover it."""
    span: int | None
    """The matching span that it belongs to, if one has it."""
    ignored: bool
    """Whether it is not alike because ignored shingles cover it."""


class Folded(NamedTuple):
    """A stretch that may be too long to be shown: its begin, how much is left out, its end."""

    head: str | bytes
    left_out: str
    """What stands for the middle; "" if nothing is left out."""
    tail: str | bytes


ALIKE, IGNORED, DIFFERENT = -1, -2, -3
"""What a position is that is in no matching span; the others have the number of theirs."""


def cut_into_segments(
    length: int,
    alike: Sequence[Place],
    ignored: Sequence[Place],
    spans: Sequence[tuple[int, int, int]],
) -> list[Segment]:
    """Cut a text; where two spans overlap, the overlap belongs to the earlier one.

    Parameters
    ----------
    length, alike, ignored
        Of the text, and the places that shared shingles and that ignored shingles cover.
    spans
        Start, stop and number of each matching span, ascending.
    """
    kind = np.full(length, DIFFERENT)
    for places, what in ((ignored, IGNORED), (alike, ALIKE)):
        for start, stop in places:
            kind[start:stop] = what
    for start, stop, span in reversed(spans):
        kind[start:stop] = span
    starts = np.flatnonzero(np.diff(kind, prepend=DIFFERENT - 1))
    bounds = pairwise([*starts.tolist(), length])
    return [
        Segment(start, stop, what >= ALIKE, what if what >= 0 else None, what == IGNORED)
        for (start, stop), what in zip(bounds, kind[starts].tolist(), strict=True)
    ]


def folded(text: str | bytes, segment: Segment, shown: int) -> Folded:
    """Leave out the middle of a long stretch.

    Of a stretch that is alike or ignored, `shown` characters stay at either end, and ten times as
    many of a difference. A stretch of which no more than that would be hidden is shown whole.
    """
    shown = shown if segment.alike or segment.ignored else 10 * shown
    stretch = text[segment.start : segment.stop]
    hidden = len(stretch) - 2 * shown
    if hidden <= shown:
        return Folded(stretch, "", stretch[:0])
    unit = "bytes" if isinstance(text, bytes) else "characters"
    what = "alike" if segment.alike else "ignored" if segment.ignored else "of difference"
    return Folded(stretch[:shown], f"\u2026 {hidden:,} {unit} {what} \u2026", stretch[-shown:])
