"""Passages of units of which a character may have several; against the definition in Python."""

import random
import re
import unicodedata
from functools import partial

import pytest

import oracle_passages
from combinations import every
from fastlsh import Shingler, deduplicate_spans
from hostile_texts import SPLITTING, alike_in_part, hostile_text

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones

LENGTHS = {"char": [5, 8], "byte": [9, 11, 18], "word": [1, 2, 3]}
"""No character has more units."""


def of_character(character, steps):
    """Return what becomes of a character, whatever is beside it."""
    form = steps.get("unicode_form", "NFD" if "strip_accents" in steps else None)
    text = unicodedata.normalize(form, character) if form else character
    if "lowercase" in steps:
        text = text.lower()
    if "strip_accents" in steps:
        text = "".join(c for c in text if not unicodedata.combining(c))
    return "".join(text.split()) if "remove_whitespace" in steps else text


def units_of(text, unit, steps):
    """Return what is compared of a text, and the places of the characters of each."""
    owned = [(c, place) for place, own in enumerate(text) for c in of_character(own, steps)]
    if unit == "char":
        return [(c, {place}) for c, place in owned]
    if unit == "byte":
        return [(byte, {place}) for c, place in owned for byte in c.encode()]
    places = re.finditer(r"\S+", "".join(c for c, _ in owned))
    return [(m[0], {place for _, place in owned[slice(*m.span())]}) for m in places]


def gone_of(result, first=0):
    rows = zip(result.document.tolist(), result.start.tolist(), result.end.tolist(), strict=True)
    gone = [(d + first, place) for d, begin, end in rows for place in range(begin, end)]
    assert len(gone) == len(set(gone))
    return set(gone)


def check(documents, length, unit, steps, n_against, keep_least):
    own, known = documents[n_against:], documents[:n_against]
    of = partial(units_of, unit=unit, steps=steps)
    result = deduplicate_spans(
        own, length, shingler=Shingler(unit, **steps), against=known, keep_least=keep_least,
        threads=1,
    )  # fmt: skip
    gone = gone_of(result, n_against)
    units = [of(text) for text in documents]
    compared = {(d, place) for d, each in enumerate(units) for _, own in each for place in own}
    expected = oracle_passages.removed_characters(documents, length, of, n_against)
    assert gone & compared == expected
    dropped = []
    for d, text in enumerate(own, n_against):
        left = [place for place in range(len(text)) if (d, place) not in gone]
        assert result.texts[d - n_against] == "".join(text[place] for place in left)
        n_left = sum(not places.isdisjoint(left) for _, places in units[d])
        if len(left) < len(text) and n_left < keep_least:
            dropped.append(d - n_against)
    assert result.dropped.tolist() == dropped
    for row in range(len(result)):
        there = result.kept_document[row] + n_against
        source = result.against_document[row] if there < n_against else there
        start, stop = result.kept_start[row], result.kept_end[row]
        assert not {(source, place) for place in range(start, stop)} & gone
        text = own[result.document[row]][result.start[row] : result.end[row]]
        removed, kept = ([u for u, _ in of(t)] for t in (text, documents[source][start:stop]))
        # The first character may stay in two places, of which the row names the last.
        beside = range(max(len(of(character)) for character in text + documents[source][start]))
        assert any(removed[n:] == kept[m:][: len(removed) - n] for n in beside for m in beside)
    return len(result)


MANY = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 40)]


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
            rows += check(documents, length, unit, steps, n_against, keep_least)
    assert rows > 40


@pytest.mark.parametrize("seed", [0, *MANY])
def test_bytes_of_hostile_collections(seed):
    draw = random.Random(seed)
    for _ in range(20):
        base = "".join(draw.choices("ab. \n é😀", k=200))
        documents = [hostile_text(draw, base) for _ in range(draw.randrange(1, 9))]
        check(documents, draw.choice([5, 13, 30]), "byte", {}, 0, draw.choice([0, 30]))


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
