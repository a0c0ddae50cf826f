"""Section 9 of docs/signature-spec.md in plain Python, slow and short: the steps of a Shingler.

It reads the same pinned tables as the kernels, but nothing else of theirs.
"""

import functools
import re
import struct

from fastlsh._kernels.text import unicode_tables


def _tables():
    start, tables = 0, {}
    for name, (form, count) in unicode_tables.SECTIONS.items():
        tables[name] = struct.unpack_from(f"<{count}{form}", unicode_tables.DATA, start)
        start += struct.calcsize(f"<{count}{form}")
    return tables


TABLES = _tables()
POOL = TABLES["pool"]
TRIPLES = TABLES["composites"]
COMPOSITES = {TRIPLES[i : i + 2]: chr(TRIPLES[i + 2]) for i in range(0, len(TRIPLES), 3)}
SPACE, MARK, DIGIT, CASED, IGNORABLE, PUNCTUATION, WORD = (1 << 8 + i for i in range(7))
ANY_MARK, APART = 1 << 19, 1 << 20
S, L, V, T = 0xAC00, 0x1100, 0x1161, 0x11A7


def look_up(name, character):
    page, place = divmod(ord(character), unicode_tables.PAGE)
    return TABLES[name][TABLES[f"{name}_index"][page] * unicode_tables.PAGE + place]


@functools.lru_cache(1 << 16)
def has(character, flag):
    return bool(look_up("properties", character) & flag)


@functools.lru_cache(1 << 16)
def combining(character):
    return look_up("properties", character) & 0xFF


def all_that(flags, table="properties"):
    """Return the code points in whose entry of a table one of these bits is set."""
    index, values, size = TABLES[f"{table}_index"], TABLES[table], unicode_tables.PAGE
    places = [
        [i for i in range(size) if values[page * size + i] & flags]
        for page in range(len(values) // size)
    ]
    return [chr(k * size + i) for k, page in enumerate(index) for i in places[page]]


DIGITS = "".join(all_that(DIGIT))
NUMBER = re.compile(f"[{DIGITS}]+(?:[.,،٫⎖⎗⎘][{DIGITS}]+)?")


@functools.lru_cache(1 << 16)
def apart(character, table):
    c = ord(character)
    if 0 <= c - S < 11172:
        last = T + (c - S) % 28
        points = [L + (c - S) // 588, V + (c - S) // 28 % 21] + [last] * (last > T)
        return "".join(map(chr, points))
    place = look_up(table, character)
    return "".join(map(chr, POOL[place + 1 : place + 1 + POOL[place]])) if place else character


def in_order(text):
    """Sort each run of characters whose combining class is not 0 by this class."""
    out, run = [], []
    for character in text:
        if combining(character):
            run.append(character)
        else:
            out += [*sorted(run, key=combining), character]
            run = []
    return "".join(out + sorted(run, key=combining))


def composite(a, b):
    x, y = ord(a), ord(b)
    if 0 <= x - L < 19 and 0 <= y - V < 21:
        return chr(S + ((x - L) * 21 + y - V) * 28)
    if 0 <= x - S < 11172 and (x - S) % 28 == 0 and 0 < y - T < 28:
        return chr(x + y - T)
    return COMPOSITES.get((x, y))


def composed(text):
    out, starter = [], None
    for character in text:
        if starter is not None:
            last = combining(out[-1])  # of what stands between, if anything does
            blocked = starter < len(out) - 1 and (last == 0 or last >= combining(character))
            one = None if blocked else composite(out[starter], character)
            if one:
                out[starter] = one
                continue
        if combining(character) == 0:
            starter = len(out)
        out.append(character)
    return "".join(out)


def unicode_form(text, form):
    table = "compatible" if "K" in form else "canonical"
    text = in_order("".join(apart(character, table) for character in text))
    return composed(text) if form.endswith("C") else text


@functools.lru_cache(1 << 16)
def lower_of(character):
    return chr((ord(character) + look_up("lowercase", character)) % 2**32)


def lowercase(text):
    def cased(characters):
        for character in characters:
            if not has(character, IGNORABLE):
                return has(character, CASED)
        return False

    def lower(i):
        if text[i] == "\u0130":
            return "i\u0307"
        if text[i] == "\u03a3":
            return "\u03c2" if cased(text[:i][::-1]) and not cased(text[i + 1 :]) else "\u03c3"
        return lower_of(text[i])

    return "".join(map(lower, range(len(text))))


def punctuation(text, how, characters=None):
    def kept(character):
        if has(character, PUNCTUATION) if characters is None else character in characters:
            return " " if how == "space" else ""
        return character

    return "".join(map(kept, text))


def strip_accents(text):
    return "".join(c for c in unicode_form(text, "NFD") if not has(c, MARK))


def words(text, cut="whitespace", empty=False):
    """Return the words of a text, as a Shingler cuts them."""

    def parts(character):
        if cut == "whitespace":
            return has(character, SPACE)
        if cut == "ascii_alphanumeric":
            return re.match("[^A-Za-z0-9_]", character, re.DOTALL) is not None
        return not has(character, WORD)

    if cut == "unicode":
        return unicode_words(text)
    found = re.split("\n", "".join("\n" if parts(c) else c for c in text)) if text else []
    return [word for word in found if word or empty]


def unicode_words(text):
    """Return runs of letters, marks, numbers and underscores; with some letters apart."""
    found, current = [], ""
    for character in text:
        if has(character, ANY_MARK):
            current += character
            continue
        if (
            not has(character, WORD)
            or has(character, APART)
            or (current and has(current[0], APART))
        ):
            found.append(current)
            current = ""
        if has(character, WORD):
            current += character
    return [word for word in [*found, current] if word]


def normalised(text, **steps):
    """Return a text after the steps of a Shingler, named as there."""
    if steps.get("unicode_form"):
        text = unicode_form(text, steps["unicode_form"])
    if steps.get("lowercase"):
        text = lowercase(text)
    if steps.get("numbers"):
        text = NUMBER.sub("0", text)
    if steps.get("punctuation"):
        text = punctuation(text, steps["punctuation"], steps.get("punctuation_characters"))
    if steps.get("strip_accents"):
        text = strip_accents(text)
    if steps.get("remove_whitespace"):
        text = "".join(words(text))
    if steps.get("collapse_whitespace"):
        text = " ".join(words(text))
    return text
