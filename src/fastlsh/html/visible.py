"""Characters of a text that act on a terminal or a page instead of being seen."""

import re
from collections.abc import Callable

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
