"""From shingles to spans of the texts, and a text cut into what the other one has."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.explanation.data import ExplanationData, MatchingSpan
from fastlsh.explanation.matching import Pairing
from fastlsh.explanation.units import Units


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


class Folded(NamedTuple):
    """A stretch that may be too long to be shown: its begin, how much is left out, its end."""

    head: str | bytes
    hidden: int
    tail: str | bytes


def segments_of(explanation: ExplanationData) -> tuple[list[Segment], list[Segment]]:
    """Cut both texts; where two spans overlap, the overlap belongs to the earlier one."""
    spans = list(enumerate(explanation.spans))
    in_a = [(span.a_start, span.a_stop, n) for n, span in spans]
    in_b = sorted((span.b_start, span.b_stop, n) for n, span in spans)
    return (
        list(_segments(len(explanation.a), explanation.covered_a, in_a)),
        list(_segments(len(explanation.b), explanation.covered_b, in_b)),
    )


def _segments(
    length: int, places: Sequence[Place], spans: Sequence[tuple[int, int, int]]
) -> Iterator[Segment]:
    at, following = 0, 0
    for start, stop in [*places, (length, length)]:
        if at < start:
            yield Segment(at, start, False, None)
            at = start
        while following < len(spans) and spans[following][0] < stop:
            begin, end, span = spans[following]
            if at < begin:
                yield Segment(at, begin, True, None)
                at = begin
            if at < end:
                yield Segment(at, end, True, span)
                at = end
            following += 1
        if at < stop:
            yield Segment(at, stop, True, None)
            at = stop


def folded(text: str | bytes, segment: Segment, shown: int) -> Folded:
    """Leave out the middle of a long stretch.

    Of one that is alike, `shown` characters stay at either end, ten times as many of a difference;
    what would hide no more than that is shown whole.
    """
    shown = shown if segment.alike else 10 * shown
    stretch = text[segment.start : segment.stop]
    hidden = len(stretch) - 2 * shown
    if hidden <= shown:
        return Folded(stretch, 0, stretch[:0])
    return Folded(stretch[:shown], hidden, stretch[-shown:])


def hidden_text(explanation: ExplanationData, hidden: int, alike: bool) -> str:
    """Say what was left out."""
    unit = "bytes" if isinstance(explanation.a, bytes) else "characters"
    return f"\u2026 {hidden:,} {unit} {'alike' if alike else 'of difference'} \u2026"
