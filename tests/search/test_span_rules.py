"""What is cut of passages: gaps, ends that move, common passages, bytes; against plain Python."""

import random
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import rounds
from fastlsh import Shingler, deduplicate_spans
from fastlsh.texts import boundaries
from fastlsh.texts.boundaries import Boundaries
from hostile_texts import hostile_text
from oracle_passages import removed_by

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones

STOPS, WIDE_STOPS, CLOSING = ".!?…", "。！？", "\"'’”)]»」』"


def is_boundary(text, place, snap):
    """Tell whether a text may be cut at a place, by a look at the characters around it."""
    if place in (0, len(text)):
        return True
    if snap == "word":
        return boundaries._between_words(text, place)
    if "\n" in text[place - 1 : place + 1]:
        return True
    if snap == "line":
        return False
    before = text[:place].rstrip()
    spaced = len(before) < place or text[place].isspace()
    stop = before.rstrip(CLOSING)[-1:]
    return stop != "" and (stop in WIDE_STOPS or (spaced and stop in STOPS))


MANY = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 4)]


def collections_of(seed, most):
    """Yield a source of chance, texts that have much in common, and a length of passages."""
    draw = random.Random(seed)
    for _ in range(rounds(most)):
        base = "".join(draw.choices("ab. \n é😀", k=200))
        documents = [hostile_text(draw, base) for _ in range(draw.randrange(1, 9))]
        yield draw, documents, draw.choice([2, 5, 13, 30])


def rows_of(result):
    columns = (
        result.document, result.start, result.end, result.kept_document, result.kept_start,
        result.kept_end,
    )  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))


def cuts_of(gone, documents):
    """Return (document, begin, end) of the stretches of what goes."""
    flags = ["".join("x" if (d, p) in gone else "." for p in range(len(t))) for d, t in documents]
    return [(d, *m.span()) for d, text in enumerate(flags) for m in re.finditer("x+", text)]


def check_proofs(result, documents, known=()):
    """Each row stays where it is said to, but for those between two cuts; return what goes."""
    gone = removed_by(result)
    places = zip(rows_of(result), result.against_document.tolist(), strict=True)
    for (d, begin, end, source, start, stop), other in places:
        assert begin < end
        if start < 0:
            assert (source, stop) == (d, -1)
            continue
        text = known[other] if other >= 0 else documents[source]
        assert documents[d][begin:end] == text[start:stop]
        assert other >= 0 or not {(source, place) for place in range(start, stop)} & gone
    for d, text in enumerate(documents):
        assert result.texts[d] == "".join(c for p, c in enumerate(text) if (d, p) not in gone)
    return gone


@pytest.mark.parametrize("seed", [0, *MANY])
def test_what_occurs_in_many_documents_stays(seed):
    removed = 0
    for draw, documents, length in collections_of(seed, 100):
        share = draw.choice([0.2, 0.34, 0.5, 0.99])
        first = draw.choice([0, draw.randrange(len(documents))])
        known, own = documents[:first], documents[first:]
        result = deduplicate_spans(own, length, max_share=share, against=known)
        everything, owners, homes = deduplicate_spans(documents, length), {}, {}
        for d, begin, end, source, start, _ in rows_of(everything):
            for place in range(begin, end):
                home = source, start + place - begin
                homes[d, place] = home
                owners.setdefault(home, {source}).add(d)
        common = {u for u, home in homes.items() if len(owners[home]) / len(documents) > share}
        listed = {(d, p) for d, begin, end in result.common.tolist() for p in range(begin, end)}
        assert listed == {(d - first, place) for d, place in common if d >= first}
        rest = cuts_of(homes.keys() - common, list(enumerate(documents)))
        expected = {(d - first, p) for d, b, e in rest if e - b >= length for p in range(b, e)}
        expected = {(d, place) for d, place in expected if d >= 0}
        assert check_proofs(result, own, known) == expected
        removed += len(expected)
    assert removed


def test_a_passage_in_exactly_the_share_goes():
    for share, count in ((0.29, 29), (0.29, 30), (0.07, 7), (0.58, 58), (1, 100)):
        texts = ["one sentence of all " * (n < count) + f"{n * 7919} {n**5}" for n in range(100)]
        result = deduplicate_spans(texts, 18, max_share=share)
        changed = 0 if count / 100 > share else count - 1
        assert len(result.changed) == changed, (share, count)
        behind = deduplicate_spans(texts[1:], 18, max_share=share, against=texts[:1])
        assert len(behind.changed) == changed, (share, count)


@pytest.mark.parametrize("seed", [0, *MANY])
def test_what_is_common_stays_with_every_gap(seed):
    for draw, documents, length in collections_of(seed, 100):
        gap, share = draw.choice([1, 10, 100]), draw.choice([0.2, 0.34, 0.5])
        result = deduplicate_spans(documents, length, merge_gap=gap, max_share=share)
        gone = check_proofs(result, documents)
        without = deduplicate_spans(documents, length, max_share=share)
        assert result.common.tolist() == without.common.tolist()
        listed = {(d, p) for d, begin, end in result.common.tolist() for p in range(begin, end)}
        assert not listed & gone


@pytest.mark.parametrize("seed", [0, *MANY])
@pytest.mark.parametrize("snap", ["word", "sentence", "line"])
def test_ends_move_inwards(seed, snap):
    for _, documents, length in collections_of(seed, 60):
        result = deduplicate_spans(documents, length, snap=snap)
        numbered = list(enumerate(documents))
        expected = set()
        for d, begin, end in cuts_of(removed_by(deduplicate_spans(documents, length)), numbered):
            found = Boundaries(documents[d], snap)
            begin, end = found.first(begin, len(documents[d])), found.last(end, 0)
            expected |= {(d, place) for place in range(begin, end)}
        assert check_proofs(result, documents) == expected


@pytest.mark.parametrize("seed", [0, *MANY])
def test_small_gaps_go_too(seed):
    merged = 0
    for draw, documents, length in collections_of(seed, 100):
        gap = draw.choice([1, 3, 10])
        result = deduplicate_spans(documents, length, merge_gap=gap)
        plain = deduplicate_spans(documents, length)
        expected = removed_by(plain)
        homes = {(s, p) for *_, s, start, stop in rows_of(plain) for p in range(start, stop)}
        cuts = cuts_of(expected, list(enumerate(documents)))
        for (d, _, end), (after, begin, _) in pairwise(cuts):
            between = {(d, place) for place in range(end, begin)}
            if d == after and begin - end <= gap and not between & homes:
                expected = expected | between
                merged += 1
        assert check_proofs(result, documents) == expected
    assert merged


def test_bytes_after_steps():
    documents = ["Äpfel und Birnen", "x ÄPFEL  UND birnen!"]
    shingler = Shingler("byte", lowercase=True, collapse_whitespace=True)
    result = deduplicate_spans(documents, 17, shingler=shingler)
    assert result.texts == [documents[0], "x !"]
    assert list(result) == [(1, 2, 19, 0, 0)]


def test_what_the_steps_leave_out_goes_with_a_cut():
    """Two stretches of one cut that stay in different places, with white space between."""
    shingler = Shingler(remove_whitespace=True)
    documents = ["abcdefgh 1", "2 ijklmnop", "- abcd efgh \n ijkl mnop -"]
    result = deduplicate_spans(documents, 8, shingler=shingler)
    assert result.texts[2] == "-  -"


@given(st.text('ab .!?"\n)\u2028。中\u0301_', max_size=40), st.data())
def test_boundaries(text, data):
    snap = data.draw(st.sampled_from(["word", "sentence", "line"]))
    found = Boundaries(text, snap)
    expected = [place for place in range(len(text) + 1) if is_boundary(text, place, snap)]
    for place in range(len(text) + 1):
        limit = data.draw(st.integers(0, len(text)))
        inside = [b for b in expected if min(place, limit) <= b <= max(place, limit)]
        if limit >= place:
            assert found.first(place, limit) == min([*inside, limit])
        else:
            assert found.last(place, limit) == max([*inside, limit])


def test_runs_of_closing_quotes_take_linear_time():
    """Looked at from each quote, a run of so many would take hours."""
    text = "He said. " + '"' * 1_000_000 + "a." + ")" * 1_000_000 + " b"
    found = Boundaries(text, "sentence")
    assert found.first(10, len(text)) == len(text) - 2
    assert found.last(len(text) - 3, 0) == 9


@pytest.mark.parametrize(
    ("text", "snap", "boundaries"),
    [
        ("One. Two", "sentence", [0, 4, 5, 8]),
        ('He said "no." 3.14 is pi', "sentence", [0, 13, 14, 24]),
        ("一。二", "sentence", [0, 2, 3]),
        ("a_1 é2", "word", [0, 3, 4, 6]),
        ("中文e\u0301x", "word", [0, 1, 2, 5]),
        ("a\nb c", "line", [0, 1, 2, 5]),
    ],
)
def test_where_texts_may_be_cut(text, snap, boundaries):
    places = range(len(text) + 1)
    assert [each for each in places if is_boundary(text, each, snap)] == boundaries
    assert sorted({Boundaries(text, snap).first(each, len(text)) for each in places}) == boundaries


def test_long_lines_before_a_boundary():
    text = "a\n" + "b" * 5000 + "."
    assert Boundaries(text, "sentence").last(4000, 0) == 2
    assert Boundaries(text, "line").last(4000, 0) == 2
    assert np.all(deduplicate_spans([text, text], 10, snap="line").texts == [text, ""])


@pytest.mark.parametrize("shingler", [None, Shingler(lowercase=True)])
def test_boundaries_are_looked_for_within_a_cut(monkeypatch, shingler):
    draw = random.Random(3)
    parts = ["".join(draw.choices("abcdefghijklmnop", k=20)) for _ in range(100)]
    word = "".join(f"{part}{number:03}" for number, part in enumerate(parts))
    between, places = boundaries._between_words, []

    def counted(text, place):
        places.append(place)
        return between(text, place)

    monkeypatch.setattr(boundaries, "_between_words", counted)
    result = deduplicate_spans([*parts, word], 20, snap="word", shingler=shingler)
    assert result.texts[-1] == word
    assert len(word) < len(places) < 2 * len(word)


def test_short_passages_are_warned_of():
    texts = ["".join(random.Random(seed).choices("abcdefgh ", k=1000)) for seed in range(10)]
    with pytest.warns(UserWarning, match="equal by accident .* give min_length=26 or more"):
        deduplicate_spans(texts, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deduplicate_spans(texts, 26)
        deduplicate_spans(["", "a"], 1)
