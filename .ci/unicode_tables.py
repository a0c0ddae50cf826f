"""Writes the pinned Unicode tables, unicode_tables.py and .bin in src/fastlsh/_kernels/text.

Needs PyICU with an ICU of exactly this version of Unicode (ICU 76 and 77 have Unicode 16):

    pip install pyicu-wheels==2.15.2 && python .ci/unicode_tables.py

The build needs neither; what this writes is committed. docs/signature-spec.md, section 9, says what
each table means. Run it with --check to compare instead of writing.
"""

import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import punctuation

import icu

UNICODE = "16.0"
OUT = Path(__file__).parents[1] / "src/fastlsh/_kernels/text/unicode_tables.py"
POINTS = range(0x110000)
PAGE = 128
SURROGATES = range(0xD800, 0xE000)
HANGUL = range(0xAC00, 0xAC00 + 11172)  # composed and decomposed by arithmetic

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
CANONICAL = icu.Normalizer2.getNFDInstance()
COMPATIBLE = icu.Normalizer2.getNFKDInstance()
COMPOSED = icu.Normalizer2.getNFCInstance()
LETTERS = {
    getattr(icu.UCharCategory, name)
    for name in (
        "UPPERCASE_LETTER", "LOWERCASE_LETTER", "TITLECASE_LETTER", "MODIFIER_LETTER",
        "OTHER_LETTER", "DECIMAL_DIGIT_NUMBER", "LETTER_NUMBER", "OTHER_NUMBER",
    )
}  # fmt: skip
MARKS = {
    getattr(icu.UCharCategory, name)
    for name in (
        "CONNECTOR_PUNCTUATION", "DASH_PUNCTUATION", "START_PUNCTUATION", "END_PUNCTUATION",
        "INITIAL_PUNCTUATION", "FINAL_PUNCTUATION", "OTHER_PUNCTUATION",
    )
}  # fmt: skip
COMBINING = {
    getattr(icu.UCharCategory, name)
    for name in ("NON_SPACING_MARK", "COMBINING_SPACING_MARK", "ENCLOSING_MARK")
}
WITHOUT_SPACES = {
    icu.Script.getCode(name)[0]
    for name in (
        "Ahom", "Balinese", "Bopomofo", "Han", "Hiragana", "Javanese", "Katakana", "Kawi",
        "Khitan_Small_Script", "Khmer", "Lao", "Myanmar", "New_Tai_Lue", "Nushu", "Tai_Le",
        "Tai_Tham", "Tai_Viet", "Tangut", "Thai", "Tibetan", "Yi",
    )
}  # fmt: skip
"""Scripts that are written without spaces between words (docs/signature-spec.md, section 2)."""


def is_apart(c: int) -> bool:
    """Return whether a code point is a letter of scripts that are written without spaces."""
    scripts = set(icu.Script.getScriptExtensions(chr(c)))
    return icu.Char.isalpha(chr(c)) and scripts <= WITHOUT_SPACES


def properties(c: int) -> int:
    """Return the combining class in the lowest byte, and flags above it."""
    kind = icu.Char.charType(chr(c))
    flags = [
        icu.Char.hasBinaryProperty(chr(c), icu.UProperty.WHITE_SPACE) or 0x1C <= c <= 0x1F,
        kind == icu.UCharCategory.NON_SPACING_MARK,
        kind == icu.UCharCategory.DECIMAL_DIGIT_NUMBER,
        icu.Char.hasBinaryProperty(chr(c), icu.UProperty.CASED),
        icu.Char.hasBinaryProperty(chr(c), icu.UProperty.CASE_IGNORABLE),
        kind in MARKS or chr(c) in punctuation,
        kind in LETTERS or c == ord("_"),
        *(
            icu.Char.getIntPropertyValue(chr(c), getattr(icu.UProperty, f"{form}_QUICK_CHECK")) == 1
            for form in FORMS
        ),
        kind in COMBINING,
        is_apart(c),
    ]
    ccc = icu.Char.getIntPropertyValue(chr(c), icu.UProperty.CANONICAL_COMBINING_CLASS)
    return ccc | sum(1 << 8 + i for i, flag in enumerate(flags) if flag)


def lowercase(c: int) -> int:
    """Return by how much the simple lowercase of a code point is larger, modulo 2**32."""
    return (ord(icu.Char.tolower(chr(c))) - c) % 2**32


def paged(values: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return an index of pages, and the different pages one after the other."""
    flat = list(values)
    seen: dict[tuple[int, ...], int] = {}
    pages = (tuple(flat[c : c + PAGE]) for c in range(0, len(flat), PAGE))
    index = [seen.setdefault(page, len(seen)) for page in pages]
    return index, [value for page in seen for value in page]


class Pool:
    """Sequences of code points, each after its length; number 0 is none."""

    def __init__(self) -> None:
        self.values = [0]
        self.places: dict[tuple[int, ...], int] = {}

    def place(self, sequence: tuple[int, ...]) -> int:
        """Return where a sequence stands, and put it there if it is new."""
        if sequence not in self.places:
            self.places[sequence] = len(self.values)
            self.values += [len(sequence), *sequence]
        return self.places[sequence]

    def decompositions(self, form: icu.Normalizer2) -> Iterator[int]:
        """Yield of every code point where its full decomposition stands."""
        for c in POINTS:
            mapping = chr(c) if c in SURROGATES or c in HANGUL else form.normalize(chr(c))
            yield 0 if mapping == chr(c) else self.place(tuple(map(ord, mapping)))


def composites() -> Iterator[int]:
    """Yield a, b and c of every pair a, b that NFC makes one code point c of, but for Hangul."""
    pairs = []
    for c in POINTS:
        if c in SURROGATES or c in HANGUL or COMPOSED.normalize(chr(c)) != chr(c):
            continue
        apart = CANONICAL.normalize(chr(c))
        first = COMPOSED.normalize(apart[:-1])
        if len(apart) > 1 and len(first) == 1:
            pairs.append((ord(first), ord(apart[-1]), c))
    for triple in sorted(pairs):
        yield from triple


def sections() -> Iterator[tuple[str, str, list[int]]]:
    """Yield the name, the format of an element and the elements of each table."""
    pool = Pool()
    for name, form, values in (
        ("properties", "I", map(properties, POINTS)),
        ("lowercase", "I", map(lowercase, POINTS)),
        ("canonical", "H", pool.decompositions(CANONICAL)),
        ("compatible", "H", pool.decompositions(COMPATIBLE)),
    ):
        index, pages = paged(values)
        yield f"{name}_index", "H", index
        yield name, form, pages
    yield "pool", "I", pool.values
    yield "composites", "I", list(composites())


def check() -> None:
    """Stop if ICU has another Unicode, or one that breaks what the kernels rely on."""
    if icu.UNICODE_VERSION != UNICODE:
        raise SystemExit(f"this ICU has Unicode {icu.UNICODE_VERSION}, not {UNICODE}")
    for c in POINTS:
        if c not in SURROGATES:
            lower = str(icu.UnicodeString(chr(c)).toLower(icu.Locale.getRoot()))
            # The only code point that becomes two, and the only one that depends on its neighbours.
            assert (len(lower) == 1 and ord(lower) == (c + lowercase(c)) % 2**32) or c == 0x130


def source() -> tuple[str, bytes]:
    """Return the module, and the data beside it."""
    shape, data = [], b""
    for name, form, values in sections():
        shape.append((name, form, len(values)))
        data += struct.pack(f"<{len(values)}{form}", *values)
    rows = [f'    "{name}": ("{form}", {count}),' for name, form, count in shape]
    module = "\n".join(
        [
            f'"""The tables of Unicode {UNICODE}, written by .ci/unicode_tables.py."""',
            "",
            "from pathlib import Path",
            "",
            f'UNICODE = "{UNICODE}"',
            "",
            f"PAGE = {PAGE}",
            "",
            "# Their names, formats (of struct, little-endian) and numbers of elements, in order.",
            "SECTIONS = {",
            *rows,
            "}",
            "",
            'DATA = Path(__file__).with_suffix(".bin").read_bytes()',
            "",
        ]
    )
    return module, data


if __name__ == "__main__":
    check()
    module, data = source()
    binary = OUT.with_suffix(".bin")
    if "--check" in sys.argv:
        written = OUT.read_text(encoding="utf-8"), binary.read_bytes()
        raise SystemExit(written != (module, data) and f"{OUT} or {binary} is not this")
    OUT.write_text(module, encoding="utf-8")
    binary.write_bytes(data)
