"""Texts without repeated passages of characters, bytes or words, against the definition."""

import random
import re
import unicodedata
from functools import cache, partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_passages
from combinations import every, rounds
from fastlsh import Shingler, deduplicate_spans
from fastlsh.parallel import RunOptions
from fastlsh.stages import passages
from fastlsh.texts import as_texts, word_units
from hostile_texts import SPLITTING, alike_in_part, hostile_text
from oracle_passages import removed_by
from refusals import refuses
from strategies import few_letters

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones
MANY = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 6)]


def of_character(character, steps):
    """Return what becomes of a character, whatever is beside it."""
    form = steps.get("unicode_form", "NFD" if "strip_accents" in steps else None)
    text = unicodedata.normalize(form, character) if form else character
    if "lowercase" in steps:
        text = text.lower()
    if "strip_accents" in steps:
        text = "".join(c for c in text if not unicodedata.combining(c))
    return "".join(text.split()) if "remove_whitespace" in steps else text


def units_after(text, unit, steps):
    """Return what is compared of a text, and the places of the characters of each."""
    owned = [(c, place) for place, own in enumerate(text) for c in of_character(own, steps)]
    if unit == "char":
        return [(c, {place}) for c, place in owned]
    if unit == "byte":
        return [(byte, {place}) for c, place in owned for byte in c.encode()]
    places = re.finditer(r"\S+", "".join(c for c, _ in owned))
    return [(m[0], {place for _, place in owned[slice(*m.span())]}) for m in places]


characters_of = partial(units_after, unit="char", steps={})


def check(documents, length, units_of, shingler=None, n_against=0, keep_least=0, threads=1):
    """Compare a result with the definition; look whether what goes stays where it is said to.

    `units_of` is that of `oracle_passages.removed_characters`.
    """
    units_of = cache(units_of)  # most characters and passages are asked for again and again
    own, known = documents[n_against:], documents[:n_against]
    result = deduplicate_spans(
        own, length, shingler=shingler, against=known, keep_least=keep_least, threads=threads
    )
    documents = [text or "" for text in documents]
    gone = removed_by(result, n_against)
    units = [units_of(text) for text in documents]
    compared = {(d, place) for d, each in enumerate(units) for _, own in each for place in own}
    expected = oracle_passages.removed_characters(documents, length, units_of, n_against)
    assert gone & compared == expected
    dropped = []
    for d, text in enumerate(documents[n_against:], n_against):
        left = [place for place in range(len(text)) if (d, place) not in gone]
        assert (result.texts[d - n_against] or "") == "".join(text[place] for place in left)
        n_left = sum(not places.isdisjoint(left) for _, places in units[d])
        if len(left) < len(text) and n_left < keep_least:
            dropped.append(d - n_against)
    assert result.dropped.tolist() == dropped
    for row in range(len(result)):
        d, begin, end = result.document[row] + n_against, result.start[row], result.end[row]
        there = result.kept_document[row] + n_against
        source = result.against_document[row] if there < n_against else there
        start, stop = result.kept_start[row], result.kept_end[row]
        assert begin < end
        assert (source, start) < (d, begin)
        assert not {(source, place) for place in range(start, stop)} & gone
        text, kept_text = documents[d][begin:end], documents[source][start:stop]
        removed, kept = ([unit for unit, _ in units_of(each)] for each in (text, kept_text))
        # The first character may stay in two places, of which the row names the last.
        beside = range(max(len(units_of(each)) for each in text + documents[source][start]))
        assert any(removed[n:] == kept[m:][: len(removed) - n] for n in beside for m in beside)
        several = any(len(units_of(character)) > 1 for character in text + kept_text)
        assert several or len(removed) == len(kept)
    return result


@st.composite
def collections(draw):
    """Return texts with repetitions of many kinds: periodic, nested, overlapping, astral."""
    letters = draw(st.sampled_from(["ab", "a", "abcdef", "aé☃😀"]))
    pieces = draw(st.lists(st.text(letters, min_size=1, max_size=12), min_size=1, max_size=4))
    piece = st.tuples(st.sampled_from(pieces), st.integers(0, 12)).map(lambda p: p[0] * p[1])
    text = st.lists(piece | st.text(letters, max_size=5), max_size=6).map("".join)
    return draw(st.lists(st.none() | text, max_size=6))


@few_letters
@given(
    collections(), st.none() | collections(), st.sampled_from([1, 2, 3, 5, 8, 13, 30]),
    st.sampled_from([1, 3]),
)  # fmt: skip
def test_what_goes_and_where_it_stays(documents, known, length, threads):
    known = known or []
    result = check(
        [*known, *documents], length, characters_of, n_against=len(known), threads=threads
    )
    again = deduplicate_spans(documents, against=known, **result.options)
    assert (again.texts, list(again)) == (result.texts, list(result))


@pytest.mark.parametrize("seed", [0, *MANY])
@pytest.mark.parametrize("unit", ["char", "byte"])
def test_hostile_collections(monkeypatch, seed, unit):
    draw, of = random.Random(seed), partial(units_after, unit=unit, steps={})
    for _ in range(rounds(100)):
        base = "".join(draw.choices("abcdefgh  é😀"[: draw.choice([3, 8, 12])], k=300))
        documents = [hostile_text(draw, base) for _ in range(draw.randrange(1, 9))]
        length = draw.choice([1, 2, 3, 5, 8, 13, 21, 34, 55, 80, 120])
        length = max(length, 5) if unit == "byte" else length  # no character has more units
        gram = min(draw.choice([1, 2, 5, 20, 50]), length)
        monkeypatch.setattr(passages, "gram_size", lambda length, gram=gram: gram)
        n_against = draw.choice([0, 0, draw.randrange(len(documents))])
        check(documents, length, of, Shingler(unit), n_against, draw.choice([0, 30]))


@pytest.mark.parametrize("length", [40, 100, 101, 500])
def test_long_passages(length):
    """Of lengths in which a window has many grams, in texts with much that repeats."""
    draw = random.Random(length)
    base = "".join(draw.choices("abcdefgh ", k=3000))
    documents = []
    for _ in range(15):
        begin = draw.randrange(2500)
        parts = [
            base[begin : begin + draw.randrange(20, 1200)],
            "".join(draw.choices("xyz", k=draw.randrange(300))),
            draw.choice("abc") * draw.randrange(2 * length),
            base[: draw.randrange(1, 9)] * draw.randrange(2 * length // 5),
        ]
        documents.append("".join(draw.sample(parts, draw.randrange(1, 5))))
    assert len(check(documents, length, characters_of))


@given(st.lists(st.text("aA  bÄß", max_size=24), max_size=5))
def test_normalised_passages_are_cut_in_the_original(documents):
    shingler = Shingler(lowercase=True, collapse_whitespace=True)
    result = deduplicate_spans(documents, 4, shingler=shingler)
    normal = [" ".join(text.lower().split()) for text in documents]
    check_normal = deduplicate_spans(normal, 4)
    assert len(result) == len(check_normal)
    assert (result.kept_document == check_normal.kept_document).all()
    for row in range(len(result)):
        d, begin, end = result.document[row], result.start[row], result.end[row]
        source = documents[result.kept_document[row]]
        ours = documents[d][begin:end].lower().split()
        assert ours == source[result.kept_start[row] : result.kept_end[row]].lower().split()
        cut = normal[d][check_normal.start[row] : check_normal.end[row]]
        assert ours == cut.split()


def test_options_and_columns():
    documents = ["abcdefgh 1", "2 abcdefgh 3", "abcdefgh", None, "4"]
    result = deduplicate_spans(documents, 8, ids=list("vwxyz"), join=" ... ", keep_least=3)
    assert result.texts == ["abcdefgh 1", "2  ... 3", "", None, "4"]
    assert list(result) == [("w", 2, 11, "v", 0), ("x", 0, 8, "v", 0)]
    assert (result.emptied.tolist(), result.dropped.tolist()) == ([2], [2])
    assert result.changed.tolist() == [1, 2]
    assert (result.documents, result.n_removed, result.characters) == (5, 2, 17)
    assert "2 spans of 17 characters removed from 2 of 5 documents" in repr(result)
    pa = pytest.importorskip("pyarrow")
    assert pa.table(result)["kept_id"].to_pylist() == ["v", "v"]
    column = pa.array(documents, pa.large_string())
    assert deduplicate_spans(column, 8).texts == ["abcdefgh 1", "2 3", "", "", "4"]
    assert deduplicate_spans([], 5).texts == []
    assert deduplicate_spans(["short"]).texts == ["short"]


# ---- units of which a character may have several

LENGTHS = {"char": [5, 8], "byte": [9, 11, 18], "word": [1, 2, 3]}
"""No character has more units."""


@pytest.mark.parametrize("seed", [0, *MANY])
@pytest.mark.parametrize("name", every(2, SPLITTING))
def test_a_character_goes_as_a_whole_or_not_at_all(seed, name):
    draw = random.Random(f"{seed} {name}")
    steps, letters = SPLITTING[name]
    rows = 0
    for unit in ("char", "byte", "word"):
        if unit == "word" and "remove_whitespace" in steps:
            continue
        for _ in range(20):
            documents = alike_in_part(draw, letters)
            length, keep_least = draw.choice(LENGTHS[unit]), draw.choice([0, 4, 9])
            n_against = draw.choice([0, 0, draw.randrange(len(documents))])
            of, shingler = partial(units_after, unit=unit, steps=steps), Shingler(unit, **steps)
            rows += len(check(documents, length, of, shingler, n_against, keep_least))
    assert rows > 40


def test_a_gap_between_whole_characters_is_closed():
    """Half of each accent is common: what is between the cuts is two characters of two units."""
    documents = ["one sentence e", "\u0301another sentence", "one sentence éèanother sentence"]
    for gap, left in ((3, "éè"), (4, "")):
        result = deduplicate_spans(
            documents, 12, shingler=Shingler(unicode_form="NFD"), merge_gap=gap
        )
        assert result.texts == [*documents[:2], left]


def test_marks_that_change_places_go_together():
    """NFD puts the dot below, which is the last one here, before the dot above."""
    known, text = "\u0323\u0307 and a sentence", "e\u0307\u0323 and a sentence"
    result = deduplicate_spans([text], 12, against=[known], shingler=Shingler(unicode_form="NFD"))
    assert result.texts == ["e"]


def test_what_is_common_keeps_whole_characters():
    """The first half of a syllable is in all documents, and what follows in two of them."""
    common, rest = "a sentence of all 가", " and one of some"
    documents = [f"{common}x", f"{common}y", f"{common}ᆫ{rest}", f"a sentence of all 간{rest}"]
    shingler = Shingler(unicode_form="NFD")
    result = deduplicate_spans(documents, 12, shingler=shingler, max_share=0.5)
    assert result.texts[3] == "a sentence of all 간"
    assert result.common.tolist()[-1] == [3, 0, 19]


# ---- words and tokens

GAPS = [" ", " ", "  ", "\n", "\u3000"]


def pieces(text):
    """Return the letters of a text one by one, and what is between them."""
    return re.findall(r"\S+|\s+", text)


def places(text):
    """Return where the letters of a text are, two of them as halves of each, and one empty."""
    found = [(m.start(), m.end()) for m in re.finditer(r"\S+|\s+", text)]
    return [pair for begin, end in found for pair in ((begin, end), (begin, begin), (begin, end))]


SHINGLERS = [
    Shingler("word"),
    Shingler("word", lowercase=True, words="alphanumeric"),
    Shingler("word", tokenizer=pieces),
    Shingler("word", tokenizer=places),
]


def words_of(text, shingler):
    """Return the words of a text, and the places of the characters of each."""
    pattern = r"\S+|\s+" if shingler.tokenizer else r"\S+"
    if shingler.lowercase:
        pattern = r"\w+"
    return [
        (m[0].lower() if shingler.lowercase else m[0], set(range(*m.span())))
        for m in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize("seed", [0, *MANY])
@pytest.mark.parametrize(
    "shingler", every(2, SHINGLERS), ids=["words", "lowercase", "tokens", "bounds"]
)
def test_words_of_hostile_collections(monkeypatch, seed, shingler):
    draw, bits = random.Random(seed), word_units.HASH_BITS
    for _ in range(rounds(60)):
        monkeypatch.setattr(word_units, "HASH_BITS", draw.choice([0, bits]))  # without, all collide
        base = "".join(draw.choices("abcdefgh-é😀"[: draw.choice([3, 8, 11])], k=200))
        documents = [
            "".join(letter + draw.choice(GAPS) for letter in hostile_text(draw, base))
            for _ in range(draw.randrange(1, 9))
        ]
        if shingler.lowercase:
            documents = ["".join(draw.choice([c, c.upper()]) for c in text) for text in documents]
        length = draw.choice([1, 2, 3, 5, 8, 13, 21, 55])
        n_against = draw.choice([0, 0, draw.randrange(len(documents))])
        check(documents, length, partial(words_of, shingler=shingler), shingler, n_against)


@pytest.mark.parametrize(
    ("tokenizer", "error", "message"),
    [
        (lambda text: [text[:2].lower()], ValueError, "made 'ab' of 'AB c'.*must be pieces of it"),
        (lambda text: [b"AB"], TypeError, "tokens of passages must be str, .* got bytes"),
        (lambda text: [(0, 9)], ValueError, "bounds outside a text of 4 code points"),
        (lambda text: [(2, 3), (0, 1)], ValueError, "not in the order of the text"),
        (lambda text: [(0, 1), (1,)], TypeError, "must be pairs of int"),
        (
            lambda text, seen=[]: seen.append(0) or text.split()[: len(seen) % 2 + 1],
            ValueError, "other tokens when it was called again.* deterministic",
        ),
        (
            lambda text, seen=[]: seen.append(0) or text.split()[: 2 if len(seen) < 5 else 1],
            ValueError, "a tokenizer that is deterministic",
        ),
    ],
)  # fmt: skip
def test_tokenizers_that_cannot_be_used(tokenizer, error, message):
    shingler = Shingler("word", tokenizer=tokenizer)
    refuses(error, message, deduplicate_spans, ["AB c", "AB c"], 1, shingler=shingler)


@pytest.mark.filterwarnings("default")
def test_short_passages_of_words():
    texts = [f"{number} a" for number in range(10_000)]
    with pytest.warns(UserWarning, match=r"equal by accident.*min_length=6 or more"):
        deduplicate_spans(texts, 3, shingler=Shingler("word"))


def test_periodic_text_has_few_keys():
    text = "abc" * 10_000
    anchors = passages.anchors_of(as_texts([text]).spans(0, 1), 500)
    assert len(anchors.keys) < 200
    assert len(anchors.echoes) == 1
    rows = passages.repeated_passages(as_texts([text]), Shingler(), 500, 0, RunOptions.of(1))
    assert (rows[:, 2] - rows[:, 1]).sum() == len(text) - 501
