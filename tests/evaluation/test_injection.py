"""Items that are put into documents: what changes do to them, and what is measured."""

import random

import pytest

from fastlsh import Shingler, evaluate_decontamination
from fastlsh.evaluation.injection import WAYS

DRAW = random.Random(1)
VOCABULARY = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in ("", "n", "st", "rk")]


def text(n):
    return " ".join(DRAW.choices(VOCABULARY, k=n))


DOCUMENTS = [text(80) for _ in range(60)]
ITEMS = [{"question": text(40), "passage": text(20)} for _ in range(30)]


def test_what_leaves_the_words_alone_is_always_found():
    measured = evaluate_decontamination(DOCUMENTS, [*ITEMS, "too short"], trials=100)
    shares = {way: share.value for way, share in measured.recall.items()}
    assert list(shares) == list(WAYS)
    for way in ("verbatim", "rewrapped", "capitals", "punctuation", "embedded"):
        assert shares[way] == 1.0, way
    assert shares["2 % of words changed"] > 0.95
    assert measured.recall["verbatim"].total == 100
    assert (measured.documents, measured.contaminated, measured.items) == (60, 0, 31)
    assert measured.not_searched == [(30, "short")]
    assert measured.hits_per_million == 0.0
    assert str(measured).splitlines()[1].split()[:3] == ["verbatim", "100", "100"]


def test_a_stricter_rule_finds_less():
    strict = evaluate_decontamination(DOCUMENTS, ITEMS, trials=100, min_share=0.9)
    assert strict.recall["verbatim"].value == 1.0
    assert strict.recall["10 % of words changed"].value < 0.2


def test_what_is_measured_can_be_bad():
    exact = Shingler("word", 13)
    measured = evaluate_decontamination(DOCUMENTS, ITEMS, trials=100, shingler=exact)
    assert measured.recall["capitals"].value == 0.0
    assert measured.recall["rewrapped"].value == 1.0


def test_documents_that_contain_items_are_counted_and_not_used():
    dirty = [f"{DOCUMENTS[0]} {ITEMS[0]['question']}", *DOCUMENTS]
    measured = evaluate_decontamination(dirty, ITEMS, trials=100)
    assert (measured.contaminated, measured.documents) == (1, 61)
    assert measured.hits_per_million == pytest.approx(1e6 / 61)


def test_the_same_seed_gives_the_same_numbers():
    one, other, third = (
        evaluate_decontamination(DOCUMENTS, ITEMS, trials=100, seed=seed, min_share=0.5)
        for seed in (1, 1, 2)
    )
    assert one.recall == other.recall != third.recall


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": ["short"]}, "no item can be searched"),
        ({"texts": [None, ITEMS[0]["question"]]}, "no document is clean"),
        ({"trials": 3}, "trials must be at least 100, got 3"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        evaluate_decontamination(**{"texts": DOCUMENTS, "items": ITEMS, **change})
