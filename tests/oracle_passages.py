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
