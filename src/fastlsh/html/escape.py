"""Text of users in HTML: nothing in it is markup, nothing acts, what is marked is marked."""

from collections.abc import Iterable

from fastlsh.html.visible import replaced, text_of

_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)  # fmt: skip


def escaped(text: str | bytes) -> str:
    r"""Return HTML that shows a text, for inside `<bdi>`, whatever the text is.

    Markup is text. Characters that act instead of being seen (controls but for tab and line feed,
    directions of writing, invisible ones, lone surrogates, noncharacters) become the name that
    Unicode has for them in a ``<span class="control">``. Bytes are taken as UTF-8.

    Examples
    --------
    >>> escaped("<b>\x1b")
    '&lt;b&gt;<span class="control">U+001B</span>'
    """
    # The names have nothing to escape, and ACTING nothing that the entities are made of.
    text = text_of(text).translate(_ENTITIES)
    return replaced(text, lambda name: f'<span class="control">{name}</span>')


def escaped_attribute(text: str | bytes) -> str:
    """Return a text for an attribute in quotes: as `escaped`, but the names stand alone."""
    text = text_of(text).translate(_ENTITIES)
    return replaced(text, lambda name: name)


def marked(text: str | bytes, spans: Iterable[tuple[int, int]]) -> str:
    """Return HTML that shows a text with some of it in ``<mark>``.

    Parameters
    ----------
    text
        Text of a user.
    spans
        (start, stop) of what is marked, ascending and not overlapping.

    Examples
    --------
    >>> marked("one & two", [(0, 3), (6, 9)])
    '<bdi><mark>one</mark> &amp; <mark>two</mark></bdi>'
    """
    pieces, end = [], 0
    for start, stop in spans:
        if not end <= start <= stop <= len(text):
            raise ValueError(f"the span ({start}, {stop}) is not behind the one before, or outside")
        pieces.append(f"{escaped(text[end:start])}<mark>{escaped(text[start:stop])}</mark>")
        end = stop
    return f"<bdi>{''.join(pieces)}{escaped(text[end:])}</bdi>"


def shortened(text: str, length: int) -> str:
    """Return a text of at most so many characters, with an ellipsis where it was cut."""
    return text if len(text) <= length else f"{text[: length - 1]}\u2026"
