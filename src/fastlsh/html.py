"""The frame of every page; and text of users in it, in which nothing is markup."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256

ACTING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the direction of writing
    "\u2028\u2029"  # line ends
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # without width
    "\ud800-\udfff\ufdd0-\ufdef"  # lone surrogates, noncharacters
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 1 << 16)
    )
    + "]"
)
"""Matches one of them."""


def replaced(text: str, shown: Callable[[str], str]) -> str:
    """Return the text with `shown`, a function of the name as U+202E, instead of each of them."""
    return ACTING.sub(lambda match: shown(f"U+{ord(match[0]):04X}"), text)


def text_of(text: str | bytes) -> str:
    r"""Return a part of a document as str; bytes that are not UTF-8 as \xNN."""
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


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


STYLE = """
:root { color-scheme: light dark; --mark: #c9ebd0; --only: #ffd9d2; --faint: #656d76; }
@media (prefers-color-scheme: dark) {
  :root { --mark: #12512b; --only: #6b2119; --faint: #9aa4af; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; overflow-wrap: anywhere; }
dl { display: grid; }
dd { margin: 0; }
bdi { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.control { border: 1px solid; border-radius: 3px; font: .7em/1 monospace; padding: 0 .2em; }
""".strip()
"""What all pages have, light and dark; the rules that `escaped` and `marked` need."""


NOTHING = "default-src 'none'; style-src 'unsafe-inline'"
"""The policy of a page that loads nothing and runs nothing."""


def whole_page(title: str, style: str, body: str, script: str = "") -> str:
    """Return a page that loads nothing and, by its policy, runs no other script, for any screen.

    Parameters
    ----------
    title
        Text of a user.
    style
        Rules besides `STYLE`.
    body
        HTML.
    script
        JavaScript without text of users, behind the body.
    """
    policy = NOTHING
    if script:
        known = b64encode(sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{known}'"
        body += f"\n<script>{script}</script>"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
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


def described(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of labels, each with what it is about; nothing if there is none.

    Parameters
    ----------
    rows
        (label, value), both HTML.
    """
    inner = "\n".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in rows)
    return f"<dl>\n{inner}\n</dl>" if inner else ""
