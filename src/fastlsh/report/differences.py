"""Two texts beside each other, as far as they differ."""

from collections.abc import Iterator

from fastlsh.explain import explain
from fastlsh.explain.html import escaped, marked
from fastlsh.shingling import Shingler

COMPARED = 20_000
"""Characters at the beginning of two texts that are looked at."""

SHOWN = 320
"""Characters of a text that are shown, with all its differences."""

AROUND, LONGEST = 40, 120
"""Characters before and after a difference, and of it."""

GAP = ' <span class="gap">\u2026</span> '

Place = tuple[int, int]


def beginning(text: str | bytes, most: int = SHOWN) -> str:
    """Return the beginning of a text as HTML."""
    tail = GAP if len(text) > most else ""
    return f"<bdi>{escaped(text[:most])}</bdi>{tail}"


def differences(kept: str | bytes, other: str | bytes, shingler: Shingler) -> tuple[str, str]:
    """Return where a text differs from the kept one, and where that one from it, as HTML.

    Parameters
    ----------
    kept, other
        The texts. Their first 20,000 characters are compared.
    shingler
        What they were taken as sets of.

    Returns
    -------
    tuple of (str, str)
        Excerpts of `other` and of `kept`; "" where there is nothing of its own.
    """
    found = explain(kept[:COMPARED], other[:COMPARED], shingler=shingler)
    return (
        _excerpt(found.b, _outside(found.covered_b, len(found.b))),
        _excerpt(found.a, _outside(found.covered_a, len(found.a))),
    )


def _outside(covered: list[Place], length: int) -> list[Place]:
    """Return the places that are not covered."""
    borders = [0, *(border for place in covered for border in place), length]
    pairs = zip(borders[::2], borders[1::2], strict=True)
    return [(start, stop) for start, stop in pairs if start < stop]


def _excerpt(text: str | bytes, different: list[Place]) -> str:
    """Return the differences with some text around them, as many as there is room for."""
    pieces = []
    shown = end = 0
    for start, stop, places in _windows(different, len(text)):
        if shown >= SHOWN:
            break
        pieces.append(GAP if start > end else "")
        pieces.append(marked(text[start:stop], [(a - start, b - start) for a, b in places]))
        shown += stop - start
        end = stop
    if pieces and end < len(text):
        pieces.append(GAP)
    return "".join(pieces)


def _windows(different: list[Place], length: int) -> Iterator[tuple[int, int, list[Place]]]:
    """Yield (start, stop, differences inside), ascending and disjoint."""
    windows: list[tuple[int, int, list[Place]]] = []
    for first, last in different:
        end = min(last, first + LONGEST)
        start, stop = max(first - AROUND, 0), min(end + AROUND, length) if end == last else end
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
