"""What pipelines do with a text before they compare it."""

import re
import unicodedata
from string import punctuation

_NUMBER = re.compile(r"\d+(?:[.,،٫⎖⎗⎘]\d+)?")
_PUNCTUATION = dict.fromkeys(
    [
        *map(ord, punctuation + "—”％〈、━【「」，】；“《„’∶´．（–？！：～«〉》）。…►»１"),
        *range(9), *range(11, 32), *range(127, 160),
    ],
    " ",
)  # fmt: skip
_NOT_CODE = re.compile("[^A-Za-z_0-9]")


def simplified(text: str) -> str:
    """Return the text as FineWeb compares it.

    Lowercase; each number as 0; punctuation and control characters as spaces; whitespace as one
    space; without the marks of the canonical decomposition, accents for instance.

    Examples
    --------
    >>> simplified("Café Noir, 3.50 €!")
    'cafe noir 0 €'
    """
    text = _NUMBER.sub("0", text.lower()).translate(_PUNCTUATION)
    decomposed = unicodedata.normalize("NFD", " ".join(text.split()))
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").strip()


def code_words(text: str) -> list[str]:
    """Return what lies between characters other than A-Z, a-z, 0-9 and _, empty words included.

    Examples
    --------
    >>> code_words("if x: return y_1")
    ['if', 'x', '', 'return', 'y_1']
    """
    return _NOT_CODE.split(text)
