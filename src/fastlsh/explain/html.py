"""Text of users in HTML: nothing in it is markup, nothing acts, what is marked is marked."""

from collections.abc import Iterable

from fastlsh.explain.visible import replaced, text_of

STYLE = """
:root { color-scheme: light dark; --mark: #c9ebd0; --only: #ffd9d2; --faint: #656d76; }
@media (prefers-color-scheme: dark) {
  :root { --mark: #12512b; --only: #6b2119; --faint: #9aa4af; }
}
bdi { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.control { border: 1px solid; border-radius: 3px; font: .7em/1 monospace; padding: 0 .2em; }
""".strip()
"""The rules that `escaped` and `marked` need, for light and dark pages."""

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


def whole_page(title: str, style: str, body: str) -> str:
    """Return a page that loads nothing and runs nothing, for any screen.

    Parameters
    ----------
    title
        Text of a user.
    style
        Rules besides `STYLE`.
    body
        HTML.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escaped_attribute(title)}</title>
<style>
{STYLE}
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""
