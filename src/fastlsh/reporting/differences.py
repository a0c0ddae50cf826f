"""Two texts beside each other, as far as they differ."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fastlsh.explanation import Units, covered, units_of
from fastlsh.html import escaped, marked
from fastlsh.texts import Shingler

COMPARED, KNOWN = 20_000, 100_000
"""Characters of a text that are looked at, and of the other one that they are looked up in."""

SHOWN = 320
"""Characters of a text that are shown, with all its differences."""

AROUND_SHARED = 2_000
"""Characters of a text that are shown where what both have is to be seen."""

AROUND, LONGEST = 40, 120
"""Characters before and after a difference, and of it."""

GAP = ' <span class="gap">\u2026</span> '

Text = str | bytes
Span = tuple[int, int]


@dataclass(frozen=True)
class Differences:
    """What two texts have and the other one has not, as HTML; "" where that is nothing."""

    in_other: str
    in_kept: str
    complete: bool
    """Whether all of both was compared."""

    def __str__(self) -> str:
        parts = [f"<p>{self.in_other}</p>"] if self.in_other else []
        parts += [f'<p class="there">{self.in_kept}</p>'] if self.in_kept else []
        return "".join(parts)


def beginning(text: Text, length: int = SHOWN) -> str:
    """Return the beginning of a text as HTML."""
    tail = GAP if len(text) > length else ""
    return f"<bdi>{escaped(text[: _border(text, length)])}</bdi>{tail}"


def differences(kept: Text, other: Text, shingler: Shingler) -> Differences:
    """Return where a text differs from the kept one: what none of their common shingles covers.

    Parameters
    ----------
    kept, other
        The texts. Of long ones 20,000 characters are looked at, from where they begin to differ.
    shingler
        What they were taken as sets of.

    Returns
    -------
    Differences
        `in_other` is the excerpts of `other`, `in_kept` those of `kept`.
    """
    shingler = _in_words(shingler)
    start = _first_compared(kept, other, shingler)
    in_other, in_kept = (
        _excerpt(*own_part(text, against, start, shingler), start > 0, start + COMPARED < len(text))
        for text, against in ((other, kept), (kept, other))
    )
    return Differences(in_other, in_kept, max(len(kept), len(other)) <= COMPARED)


def _in_words(shingler: Shingler) -> Shingler:
    """Return what cuts a shown text: tokens are shown as words of digits, with equal shingles."""
    return replace(shingler, unit="word") if shingler.unit == "token" else shingler


def _first_compared(kept: Text, other: Text, shingler: Shingler) -> int:
    """Return from where on two texts are compared: of long ones, from before they differ."""
    is_short = max(len(kept), len(other)) <= COMPARED
    return 0 if is_short else _before(kept, _alike(kept, other), shingler)


def compared(kept: Text, other: Text, shingler: Shingler) -> str:
    """Return as HTML where a text differs from the kept one, or that it does not."""
    difference = differences(kept, other, shingler)
    part = f"no difference in the {COMPARED:,} characters that were compared"
    same = "the same set of shingles" if difference.complete else part
    return str(difference) or f'<p class="same">{same}</p>'


def beside(kept: Text, other: Text, shingler: Shingler) -> tuple[str, str]:
    """Return both texts as HTML in which is marked what none of their common shingles covers.

    Of long ones 20,000 characters are shown, from where they begin to differ.
    """
    start = _first_compared(kept, other, shingler)
    shown = []
    for text, against in ((kept, other), (other, kept)):
        part, spans = own_part(text, against, start, shingler)
        head, tail = GAP * (start > 0), GAP * (start + COMPARED < len(text))
        shown.append(f"{head}{marked(part, spans)}{tail}")
    return shown[0], shown[1]


def around_shared(text: Text, other: Text, shingler: Shingler) -> str:
    """Return as HTML up to 2,000 characters of a text: where it has most in common with another.

    Ignored shingles do not count for that. What none of the common shingles covers is marked.
    """
    shingler = _in_words(shingler)
    for start in (*range(0, len(text), COMPARED), 0):
        units, shared = _common(text, other, start, shingler)
        counted = shared & ~shingler.are_ignored(text[start : start + COMPARED])
        if counted.any():
            break
    if len(text) > COMPARED and counted.any():  # from there on, about
        start += max(int(units.start[np.argmax(counted)]) - AROUND, 0)
        units, shared = _common(text, other, start, shingler)
        counted = shared & ~shingler.are_ignored(text[start : start + COMPARED])
    part = units.text
    common = np.zeros(len(part) + 1, np.int64)
    for begin, stop in covered(units, counted, shingler.size):
        common[begin + 1 : stop + 1] = 1
    sums = np.cumsum(common)
    width = min(AROUND_SHARED, len(part))
    best = int(np.argmax(sums[width:] - sums[: len(sums) - width]))
    first, last = _border(part, best), _border(part, best + width)
    spans = [
        (max(begin, first) - first, min(stop, last) - first)
        for begin, stop in _own_spans(units, shared, text, start, shingler)
        if begin < last and stop > first
    ]
    head, tail = start + first > 0, start + COMPARED < len(text) or last < len(part)
    return f"{GAP * head}{marked(part[first:last], spans)}{GAP * tail}"


def own_part(text: Text, other: Text, start: int, shingler: Shingler) -> tuple[Text, list[Span]]:
    """Return the text from `start` on, normalised if need be, and where it is only its own.

    The spans are those that no shingle covers which the other text has, too; ascending.
    """
    units, shared = _common(text, other, start, shingler)
    return units.text, _own_spans(units, shared, text, start, shingler)


def _common(
    text: Text, other: Text, start: int, shingler: Shingler
) -> tuple[Units, NDArray[np.bool_]]:
    """Return the units from `start` on, and whether the other text has each of their shingles."""
    stop = start + COMPARED
    first = max(start - KNOWN // 2, 0)
    shingles = set(shingler.shingles(other[first : first + KNOWN]))
    are_shared = [shingle in shingles for shingle in shingler.shingles(text[start:stop])]
    return units_of(text[start:stop], shingler), np.array(are_shared, np.bool_)


def _own_spans(
    units: Units, shared: NDArray[np.bool_], text: Text, start: int, shingler: Shingler
) -> list[Span]:
    begin, end = 0, len(units.text)
    certain = len(units) > shingler.size
    # Where the text was cut, words are not whole, and shingles missing that cover the next ones.
    if start:
        begin = int(units.start[shingler.size]) if certain else end
    if start + COMPARED < len(text):
        end = int(units.start[len(units) - shingler.size]) if certain else 0
    spans = _outside(covered(units, shared, shingler.size), len(units.text))
    return [(max(i, begin), min(j, end)) for i, j in spans if i < end and j > begin]


def _alike(a: Text, b: Text) -> int:
    """Return how long the common beginning is."""
    at, step, limit = 0, 1 << 20, min(len(a), len(b))
    while step:
        if at + step <= limit and a[at : at + step] == b[at : at + step]:
            at += step
        else:
            step //= 2
    return at


def _before(text: Text, at: int, shingler: Shingler) -> int:
    """Return a position before `at` with at least one whole shingle in between."""
    room = AROUND
    while room < min(at, COMPARED // 2):
        if len(units_of(text[at - room : at], shingler)) > shingler.size:
            break
        room *= 2
    return max(_border(text, at - room), 0)


def _border(text: Text, at: int) -> int:
    """Return `at`; in bytes the border of UTF-8 characters before it, if there is one."""
    if isinstance(text, bytes) and 3 < at < len(text):
        return next((at - n for n in range(4) if text[at - n] & 0xC0 != 0x80), at)
    return at


def _outside(spans: list[Span], length: int) -> list[Span]:
    """Return the spans that are not covered."""
    borders = [0, *(border for span in spans for border in span), length]
    pairs = zip(borders[::2], borders[1::2], strict=True)
    return [(start, stop) for start, stop in pairs if start < stop]


def _excerpt(text: Text, different: list[Span], before: bool, behind: bool) -> str:
    """Return the differences with some text around them, as many as there is room for."""
    pieces = []
    shown, end = 0, -1 if before else 0
    for start, stop, spans in _windows(text, different):
        if shown >= SHOWN:
            break
        pieces.append(GAP if start > end else "")
        pieces.append(marked(text[start:stop], [(a - start, b - start) for a, b in spans]))
        shown += stop - start
        end = stop
    if pieces and (behind or end < len(text)):
        pieces.append(GAP)
    return "".join(pieces)


def _windows(text: Text, different: list[Span]) -> Iterator[tuple[int, int, list[Span]]]:
    """Yield (start, stop, differences inside), ascending and disjoint."""
    windows: list[tuple[int, int, list[Span]]] = []
    for first, last in different:
        end = min(last, _border(text, first + LONGEST))
        start = _border(text, max(first - AROUND, 0))
        stop = _border(text, min(end + AROUND, len(text))) if end == last else end
        if not windows or start > windows[-1][1]:
            yield from windows
            windows = [(start, stop, [(first, end)])]
            continue
        begin, _, inside = windows[-1]
        if first - begin >= SHOWN:
            windows = [(begin, first, inside)]
            break
        windows = [(begin, stop, [*inside, (first, end)])]
    yield from windows
