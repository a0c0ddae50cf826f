"""How an explanation is shown: in a terminal, as a page; whatever the texts are."""

import re
from typing import ClassVar
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

import report_page
from combinations import larger
from fastlsh import Shingler, explain
from fastlsh.explanation.result import segments_of, share
from fastlsh.html import ACTING, STYLE, escaped, escaped_attribute, marked
from report_page import NASTY, TAGS

nasty_text = st.lists(
    st.sampled_from([NASTY, "<b>", "&", "\x1b[0m", "\u202e", "\ud83d", "plain words ", "\n", "é"]),
    max_size=8,
).map("".join)


class Page(report_page.Page):
    """Its text by tag, and what its links lead to."""

    tags: ClassVar = {
        **TAGS, "ol": set(), "main": set(), "li": {"class"}, "a": {"id", "href"}, "p": {"id"},
    }  # fmt: skip

    def __init__(self, source):
        self.seen, self.ids, self.links, self.text = set(), [], [], {}
        super().__init__(source)

    def handle_starttag(self, tag, attributes):
        super().handle_starttag(tag, attributes)
        self.seen.add(tag)
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []

    def handle_data(self, data):
        super().handle_data(data)
        places = set(self.open)
        if {"section", "bdi"} <= places and "h2" not in places:
            places.add("documents")
        for place in places:
            self.text[place] = self.text.get(place, "") + data


def named(text):
    """Show a text with the names of what acts."""
    return "".join(f"U+{ord(c):04X}" if ACTING.match(c) else c for c in text)


# ---- HTML


@pytest.mark.parametrize("step", larger(97, 1))
def test_what_acts(step):
    ends = (plane << 16 | place for plane in range(17) for place in (0, 0xFFFD, 0xFFFE, 0xFFFF))
    for n in {*range(0x3000), *range(0xD700, 0x10100), *ends, *range(0, 0x110000, step)}:
        c = chr(n)
        control = (n < 0x20 and c not in "\n\t") or 0x7F <= n <= 0x9F
        bidi = n in {0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
        noncharacter = 0xFDD0 <= n <= 0xFDEF or n & 0xFFFE == 0xFFFE
        if (
            control
            or bidi
            or noncharacter
            or 0xD800 <= n <= 0xDFFF
            or n in (0x2028, 0x2029, 0xFEFF)
        ):
            assert ACTING.match(c), hex(n)
        elif c.isprintable() or c in "\n\t":
            assert not ACTING.match(c), hex(n)


@given(nasty_text)
def test_escaped_text_is_text(text):
    for html in (escaped(text), escaped_attribute(text)):
        assert not ACTING.search(html)
        html.encode()
    assert not set(escaped_attribute(text)) & set("<>\"'")
    page = Page(f"<p>{escaped(text)}</p>")
    assert page.seen <= {"p", "span"}
    assert page.text.get("p", "") == named(text)
    assert Page(f'<p id="{escaped_attribute(text)}"></p>').ids == [named(text)]


def test_escaped_bytes():
    assert escaped(b"na\xc3\xafve <\xff\x00>") == (
        'naïve &lt;\\xff<span class="control">U+0000</span>&gt;'
    )


@given(nasty_text, st.lists(st.integers(0, 300), max_size=6))
def test_marked(text, borders):
    borders = sorted(min(place, len(text)) for place in borders[: len(borders) // 2 * 2])
    spans = list(zip(borders[::2], borders[1::2], strict=True))
    page = Page(marked(text, spans))
    assert page.text.get("bdi", "") == named(text)
    assert page.text.get("mark", "") == named("".join(text[i:j] for i, j in spans))


@pytest.mark.parametrize("spans", [[(2, 1)], [(0, 2), (1, 3)], [(0, 99)], [(-1, 2)]])
def test_marks_must_be_in_order(spans):
    with pytest.raises(ValueError, match="span"):
        marked("four", spans)


@given(nasty_text, nasty_text, st.sampled_from(["char", "word", "byte"]))
def test_a_page_of_nasty_texts(a, b, unit):
    found = explain(a, b + a[:40], shingler=Shingler(unit, 4 if unit != "word" else 1))
    html = found.to_html((a, "two"))
    assert not ACTING.search(html)
    html.encode()
    page = Page(html)
    assert page.text["title"] == named(a) + " and two"
    assert page.text["style"].strip().startswith(STYLE)
    assert page.text["h1"] == found.reason
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} == set(page.ids)
    assert not re.search(r"https?:|url\(|@import", html)
    if unit != "byte":
        assert page.text.get("documents", "") == named(a + b + a[:40])


def test_partners_lead_to_each_other():
    a = "one passage of some length; and another one here"
    b = "and another one here / one passage of some length"
    found = explain(a, b)
    assert len(found.spans) == 2
    html = found.to_html()
    for n, span in enumerate(found.spans):
        for which, other, text in (
            ("a", "b", a[span.a_start : span.a_stop]),
            ("b", "a", b[span.b_start : span.b_stop]),
        ):
            assert f'<a id="{which}{n}" href="#{other}{n}"><mark>{text}</mark></a>' in html


@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30), st.integers(1, 4))
def test_segments_are_the_text(a, b, size):
    found = explain(a, b, shingler=Shingler(size=size))
    covered = (found.covered_a, found.covered_b)
    for text, places, segments in zip((a, b), covered, segments_of(found), strict=True):
        assert "".join(text[s.start : s.stop] for s in segments) == text
        assert all(s.start < s.stop for s in segments)
        alike = {p for s in segments if s.alike for p in range(s.start, s.stop)}
        assert alike == {p for start, stop in places for p in range(start, stop)}
    for n, span in enumerate(found.spans):
        first, second = ([s for s in side if s.span == n] for side in segments_of(found))
        assert all(span.a_start <= s.start < s.stop <= span.a_stop for s in first)
        assert all(span.b_start <= s.start < s.stop <= span.b_stop for s in second)


def test_long_stretches_are_folded():
    alike, other = "".join(f"{n} " for n in range(20_000)), "x" * 50_000
    found = explain(alike + other, alike)
    hidden = len(alike) - 320
    shown = str(found)
    assert f" \u2026 {hidden:,} characters alike \u2026 " in shown
    assert f" \u2026 {50_000 - 3200:,} characters of difference \u2026 " in shown
    assert len(shown) < 6000
    assert f"{len(alike) - 4000:,} characters alike" in found.to_html()
    assert len(found.to_html()) < 70_000


# ---- terminal

SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


@given(nasty_text, nasty_text)
def test_texts_do_nothing_to_a_terminal(a, b):
    found = explain(a, b, shingler=Shingler(size=3))
    plain = found.to_terminal(colour=False, names=(a, "b\x1b[2J\nnew"))
    assert not ACTING.search(plain)
    assert plain.encode()
    coloured = found.to_terminal(colour=True, names=(a, b))
    assert not ACTING.search(SEQUENCE.sub("", coloured))
    assert str(found) == found.to_terminal(colour=False)


def test_colours_and_brackets():
    a, b = "the same beginning, one end", "the same beginning, two ends"
    found = explain(a, b)
    lines = str(found).splitlines()
    assert lines[0] == found.reason
    assert lines[-4:] == [
        "the same beginning, [-one end-]", "", "b (28 characters)",
        "the same beginning, {+two ends+}",
    ]  # fmt: skip
    coloured = found.to_terminal()
    assert "\x1b[32mthe same beginning, \x1b[0m\x1b[1;31mone end\x1b[0m" in coloured
    assert "[-" not in SEQUENCE.sub("", coloured)
    # Every line by itself, for pagers.
    for line in explain("x\n" * 9, "x\n" * 9 + "y\ny").to_terminal().splitlines():
        assert line.count("\x1b[0m") * 2 == line.count("\x1b")


def test_the_figures():
    found = explain("abcd", "bcde", shingler=Shingler(size=2), num_perm=20, bands=10, rows=2)
    values = dict(re.split(" {2,}", line) for line in str(found).splitlines()[2:8])
    equal = round(found.estimate * 20)
    assert values == {
        "Jaccard similarity": "0.5000 (2 of 4 shingles)",
        "estimate": f"{share(found.estimate)} ({equal} of 20 minima)",
        "of a in b": "0.6667 (2 of 3 shingles)",
        "of b in a": "0.6667 (2 of 3 shingles)",
        "shingles": "2 characters",
        "parameters": "10 bands x 2 rows, affine32, seed 1, threshold 0.8",
    }
    assert f"{len(found.matching_bands) or 'none'} of 10 bands match" in str(found).splitlines()[0]
    how = Shingler(
        "word", 1, lowercase=True, unicode_form="NFC", normalize=str, tokenizer=str.split
    )
    assert "1 word, NFC, lowercase, normalize, tokenizer" in str(explain("a", "a", shingler=how))


def test_the_width():
    found = explain("a text " * 9, "a text " * 8 + "b", num_perm=512)
    for line in found.to_terminal(False, 50).split("\n\n")[1].splitlines():
        assert len(line) <= 50


@given(nasty_text, nasty_text, st.integers(20, 60))
def test_texts_are_wrapped_between_words(a, b, width):
    found = explain(
        a + " one two 三三 four" * 9, b + " one two 三三 five" * 9, num_perm=8, bands=4, rows=2
    )
    for colour in (False, True):
        wide, narrow = (SEQUENCE.sub("", found.to_terminal(colour, w)) for w in (None, width))
        texts = [shown.partition("\n\na (")[2].partition(")\n") for shown in (wide, narrow)]
        assert "".join(texts[0]).split() == "".join(texts[1]).split()
        for line in texts[1][2].splitlines():
            columns = sum(2 if east_asian_width(c) in "WF" else 1 for c in line)
            assert columns <= width or " " not in line.strip()


def test_shares_are_1_and_0_only_where_they_are():
    assert [share(v) for v in (0, 1e-9, 0.5, 1 - 1e-9, 1)] == [
        "0", "0.0001", "0.5000", "0.9999", "1",
    ]  # fmt: skip


def test_long_names_do_not_widen_the_figures():
    names = ("corpus/part-00000-of-00100.jsonl.zst:1234567", "b")
    lines = explain("one two three", "one two four").to_terminal(False, names=names).split("\n")
    assert next(line for line in lines if "Jaccard" in line).startswith("Jaccard similarity ")
    assert any(line.startswith("of the first in the second  ") for line in lines)
    assert any(line.startswith(f"{names[0]} (13 characters)") for line in lines)
