"""Repeated passages by their definition: every window in a dictionary."""


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
    begins = [set() for _ in documents]
    for d, begin, *_ in windows_seen(compared, length):
        begins[d].add(begin)
    gone = set()
    for d in range(n_against, len(documents)):
        numbers = {}
        for number, (_, places) in enumerate(units[d]):
            for place in places:
                numbers.setdefault(place, []).append(number)
        for place, own in numbers.items():
            if not begins[d].isdisjoint(range(own[-1] - length + 1, own[0] + 1)):
                gone.add((d, place))
    return gone


def removed_by(result, first=0):
    """Return the characters that a result removes, as a set of (document, place)."""
    rows = zip(result.document.tolist(), result.start.tolist(), result.end.tolist(), strict=True)
    gone = [(d + first, place) for d, begin, end in rows for place in range(begin, end)]
    assert len(gone) == len(set(gone))
    return set(gone)
