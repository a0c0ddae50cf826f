"""What the page shows of two texts is where they differ, however long they are."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import every
from fastlsh import Shingler, deduplicate, report
from fastlsh.explanation.units import units_of
from fastlsh.reporting import differences as module
from fastlsh.reporting.differences import (
    AROUND,
    COMPARED,
    GAP,
    KNOWN,
    LONGEST,
    SHOWN,
    around_shared,
    beginning,
    differences,
    own_part,
)
from strategies import by_text

SHINGLERS = [
    Shingler(size=3), Shingler("word", 2), Shingler("byte", 4), Shingler(size=2, lowercase=True),
    Shingler("word", 1, tokenizer=lambda text: re.findall(r"\w", text)),
    Shingler(size=3, remove_whitespace=True),
]  # fmt: skip
a_text = st.text("aAbß é\u00a0", max_size=40)


def marks(html):
    return [
        unescape(re.sub("<[^>]*>", "", each)) for each in re.findall("<mark>(.*?)</mark>", html)
    ]


def plain(html):
    return unescape(re.sub("<[^>]*>", "", html))


def truly_own(text, other, shingler):
    """Return the normalised text, and the places that no common shingle covers, one by one."""
    units = units_of(text, shingler)
    mine, theirs = shingler.shingles(text), set(shingler.shingles(other))
    common = set()
    for n, shingle in enumerate(mine):
        if shingle in theirs:
            common |= set(range(n, min(n + shingler.size, len(units))))
    within = {p for n in common for p in range(units.start[n], units.stop[n])}
    for n in common & {n - 1 for n in common}:
        within |= set(range(units.stop[n], units.start[n + 1]))  # whitespace between them
    return units.text, set(range(len(units.text))) - within


@pytest.mark.parametrize("shingler", SHINGLERS, ids=by_text)
@given(a_text, a_text)
def test_a_place_is_marked_if_no_common_shingle_covers_it(shingler, a, b):
    text, places = own_part(a, b, 0, shingler)
    assert (text, {p for i, j in places for p in range(i, j)}) == truly_own(a, b, shingler)
    found = differences(a, b, shingler)
    assert found.complete
    if isinstance(text, str):
        assert "".join(marks(found.in_kept)) == "".join(text[i:j] for i, j in places)
    assert bool(found.in_other) == bool(truly_own(b, a, shingler)[1])


@pytest.mark.parametrize("shingler", SHINGLERS[:3], ids=by_text)
@given(st.text("ab c", max_size=30), st.lists(a_text, max_size=2), st.text("ab c", max_size=60))
def test_nothing_else_is_marked_in_a_part_of_long_texts(shingler, head, middle, tail):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COMPARED", 25)
        patch.setattr(module, "AROUND", 4)
        a, b = head + "".join(middle[:1]) + tail, head + "".join(middle[1:]) + tail
        start = module._before(a, module._alike(a, b), shingler)
        text, places = own_part(a, b, start, shingler)
    whole, expected = truly_own(a, b, shingler)
    offset = len(a[:start].encode()) if isinstance(whole, bytes) else start
    # A shingle that begins before `start` is of the common beginning, and so is the one there.
    assert whole[offset : offset + len(text)] == text
    assert {offset + p for i, j in places for p in range(i, j)} <= expected


LONG = " ".join(f"word{i}" for i in range(9000))  # over three times what is compared


def test_a_change_far_from_the_beginning():
    found = differences(LONG, LONG[:-4] + " is changed", Shingler())
    assert not found.complete
    assert marks(found.in_other) == [" is changed"]
    assert marks(found.in_kept) == ["8999"]
    assert plain(found.in_other).strip().startswith("\u2026 ")
    assert len(plain(found.in_other)) < 100


@pytest.mark.parametrize(
    "shingler", every(3, [Shingler(), Shingler("word", 3), Shingler("byte")]), ids=by_text
)
def test_what_is_moved_by_an_insertion_is_no_difference(shingler):
    new = "Something new. " * 500
    found = differences(LONG, LONG.replace("word900 ", f"word900 {new}"), shingler)
    assert found.in_kept == ""
    assert marks(found.in_other)[0].strip().startswith("Something new.")
    assert differences(LONG, new + LONG, shingler).in_kept == ""


def test_both_change_and_are_cut():
    found = differences(LONG, "x" * 3 * COMPARED, Shingler())
    assert marks(found.in_other)[0].startswith("xxx")
    assert marks(found.in_kept)[0].startswith("word0 word1")
    assert len(plain(found.in_other)) < SHOWN


def test_many_differences_close_together_are_cut():
    text = " ".join(f"word{i}" for i in range(900))
    found = differences(text, re.sub(r"(word\d*[05]) ", r"\1 changed ", text), Shingler(size=3))
    # Up to the first difference that is so far behind the first one of all.
    assert SHOWN <= len(plain(found.in_other)) < SHOWN + LONGEST + 2 * AROUND + 2 * len(plain(GAP))


@pytest.mark.parametrize("unit", every(3, ["char", "word", "byte"]))
def test_a_shingle_is_longer_than_what_is_shown_around(unit):
    found = differences(LONG, LONG.replace("word5000 ", "WORD "), Shingler(unit, 100))
    assert "WORD" in plain(found.in_other)
    assert plain(found.in_other).count("word") < 60


@pytest.mark.exhaustive
def test_no_difference_where_it_was_looked_for(tmp_path):
    texts = [LONG, LONG.upper(), LONG[:-4].upper() + "ANOTHER END"]
    shingler = Shingler(lowercase=True)
    assert differences(texts[0], texts[1], shingler) == module.Differences("", "", False)
    report(deduplicate(texts, shingler=shingler), texts, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("no difference in the 20,000 characters that were compared") == 2
    assert differences("A b", "a B", Shingler(size=1, lowercase=True)).complete


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 100, 2**20 - 1, 2**20, 2**20 + 1, 2**21 + 7])
def test_the_common_beginning(size):
    base = "\u20ac" + "ab" * 2**21
    for a, b in ((base[:size], base), (base[:size] + "x" + base, base[:size] + "y")):
        assert module._alike(a, b) == module._alike(b, a) == size
    assert module._alike(base[:size].encode(), base[:size].encode()) == len(base[:size].encode())


def test_bytes_are_not_cut_inside_a_character():
    a, b = ("é" * n + "x" + "ü" * 200 for n in (199, 300))
    for one, other in ((a, b), (b, a)):
        found = differences(one.encode(), other.encode(), Shingler("byte", 5))
        for html in (found.in_other, found.in_kept, beginning(one.encode(), 101)):
            assert "\\x" not in html
    assert "\\xff" in beginning(b"\xff" * 9, 4)


def test_work_is_bounded(monkeypatch):
    """However long the texts are, so many characters are cut into shingles."""
    seen = []
    cut = Shingler.shingles
    monkeypatch.setattr(Shingler, "shingles", lambda self, t: seen.append(len(t)) or cut(self, t))
    differences("a" * 10**7, "a" * 10**7 + "b", Shingler())
    assert sum(seen) <= 2 * (COMPARED + KNOWN)


def test_what_differs_behind_separators_alone_is_shown():
    # Words are those of the shingler: between these separators there is none.
    same, dashes = "word " * 5000, "--- " * 11
    kept, other = (f"{same}{dashes}{word} of the end" for word in ("alpha", "beta"))
    for cut in ({"words": "alphanumeric"}, {"stop_words": ["---"]}):
        found = differences(kept, other, Shingler("word", 3, **cut))
        assert "beta" in plain(found.in_other), cut
        assert "alpha" in plain(found.in_kept), cut


@pytest.mark.parametrize("shingler", [Shingler(), Shingler("word", 2), Shingler("byte", 7)])
@pytest.mark.parametrize("before", every(2, [3_000, 3 * COMPARED], 1))
def test_a_text_is_cut_around_what_is_shared(shingler, before):
    shared = " ".join(f"ours{number}ö" for number in range(190))  # less than is shown
    texts = [f"{name * 2} " * (before // 9) + shared for name in ("mine", "your")]
    texts[0] += " the end" * 500
    if shingler.unit == "byte":
        texts = [text.encode() for text in texts]
    for text, other in (texts, texts[::-1]):
        found = around_shared(text, other, shingler)
        shown = plain(found).replace("\u2026", "").strip()
        assert shared[12:-3] in shown  # the first word may be in the piece before
        assert len(shown) <= 2_000
        assert found.startswith(' <span class="gap">')
        assert marks(found) or text is texts[1]  # which ends with what is shared
        assert not any("ours9" in mark for mark in marks(found))
    assert plain(around_shared(texts[0][:99], texts[1], shingler)).startswith("mine")
