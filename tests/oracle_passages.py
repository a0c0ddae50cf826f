"""Repeated passages by their definition: every window in a dictionary."""

from collections import Counter


def windows_seen(documents, length):
    """Yield (document, begin, first document, first begin) of every window that occurred before.

    The first occurrence lies in an earlier document, or ends before this one begins.
    """
    first = {}
    for d, text in enumerate(documents):
        for begin in range(len(text) - length + 1):
            where = first.setdefault(text[begin : begin + length], (d, begin))
            if where[0] < d or where[1] + length <= begin:
                yield d, begin, *where


def removed(documents, length, n_against=0):
    """Return the units that go, as a set of (document, place)."""
    gone = set()
    for d, begin, *_ in windows_seen(documents, length):
        if d >= n_against:
            gone |= {(d, place) for place in range(begin, begin + length)}
    return gone


def removed_characters(documents, length, units_of, n_against=0):
    """Return the characters that go, as a set of (document, place).

    `units_of` returns what is compared of a document: (unit, places of its characters) of each. A
    character goes if all of its units lie in one window that occurred before.
    """
    units = [units_of(text) for text in documents]
    compared = [tuple(unit for unit, _ in own) for own in units]
    all_of = [Counter(place for _, places in own for place in places) for own in units]
    gone = set()
    for d, begin, *_ in windows_seen(compared, length):
        if d >= n_against:
            inside = Counter(p for _, places in units[d][begin : begin + length] for p in places)
            gone |= {(d, place) for place, n in inside.items() if n == all_of[d][place]}
    return gone


def removed_by(result, first=0):
    """Return the characters that a result removes, as a set of (document, place)."""
    rows = zip(result.document.tolist(), result.start.tolist(), result.end.tolist(), strict=True)
    gone = [(d + first, place) for d, begin, end in rows for place in range(begin, end)]
    assert len(gone) == len(set(gone))
    return set(gone)
