"""Items that are put into documents: what changes do to them, and what is measured."""

import random

import pytest

from fastlsh import Shingler, evaluate_decontamination
from fastlsh.evaluation.injection import WAYS, inject
from refusals import refuses

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


def test_documents_that_contain_items_are_counted_and_not_used():
    dirty = [f"{DOCUMENTS[0]} {ITEMS[0]['question']}", *DOCUMENTS]
    measured = evaluate_decontamination(dirty, ITEMS, trials=100)
    assert (measured.contaminated, measured.documents) == (1, 61)
    assert measured.hits_per_million == pytest.approx(1e6 / 61)


def test_what_is_measured_can_be_bad():
    strict, same, other = (
        evaluate_decontamination(DOCUMENTS, ITEMS, trials=100, min_share=0.9, seed=seed)
        for seed in (1, 1, 2)
    )
    assert strict.recall["verbatim"].value == 1.0
    assert strict.recall["10 % of words changed"].value < 0.2
    assert strict.recall == same.recall != other.recall
    exact = Shingler("word", 13)
    measured = evaluate_decontamination(DOCUMENTS, ITEMS, trials=100, shingler=exact)
    assert measured.recall["capitals"].value == 0.0
    assert measured.recall["rewrapped"].value == 1.0


@pytest.mark.exhaustive
def test_items_of_scripts_without_spaces_get_none_around_them():
    letters = [chr(code) for code in range(0x4E00, 0x5A00, 7)]
    items = ["".join(DRAW.choices(letters, k=40)) + "？" for _ in range(20)]
    hosts = ["".join(DRAW.choices(letters, k=120)) for _ in range(30)]
    measured = evaluate_decontamination(hosts + DOCUMENTS, items, trials=100)
    shares = {way: share.value for way, share in measured.recall.items()}
    assert all(value == 1.0 for way, value in shares.items() if "changed" not in way)
    assert shares["1 % of words changed"] > 0.9  # of letters
    assert shares["10 % of words changed"] < shares["1 % of words changed"]
    spaced = Shingler("word", 13, words="alphanumeric", lowercase=True)
    other = ["".join(DRAW.choices(letters, k=9)) for _ in range(13)]
    measured = evaluate_decontamination(hosts, ["，".join(other)], trials=100, shingler=spaced)
    assert measured.recall["verbatim"].value == 1.0
    assert measured.recall["embedded"].value < 0.2


@pytest.mark.parametrize(
    ("host", "text", "expected"),
    [
        ("one two", "山水天", {"山水天one two", "one 山水天two"}),
        ("山水", "天地人", {"天地人山水", "山天地人水"}),
        ("山水", "not so", {" not so 山水", "山 not so 水"}),
        ("one two", "not so", {" not so one two", "one  not so two"}),
        ("one", "GPT模型", {" GPT模型one"}),
    ],
)
def test_where_an_item_is_put(host, text, expected):
    rng = random.Random(1)
    assert {inject(host, text, "embedded", rng, []) for _ in range(60)} == expected


def test_bad_arguments():
    for change, message in [
        ({"items": ["short"]}, "no item can be searched"),
        ({"texts": [None, ITEMS[0]["question"]]}, "no document is clean"),
        ({"trials": 3}, "trials must be at least 100, got 3"),
    ]:
        given = {"texts": DOCUMENTS, "items": ITEMS, **change}
        refuses(ValueError, message, evaluate_decontamination, **given)
