"""Warnings of searches whose comparisons are mostly in vain, and of shingles that are too short."""

import random
import re
import warnings

import numpy as np
import pytest

from fastlsh import (
    MinHasher,
    RecallWarning,
    Shingler,
    candidate_pairs,
    deduplicate,
    exact_jaccard,
    near_duplicates,
)
from fastlsh.search import advice
from files import put_rows as put

ONE_WORD = Shingler("word", 1)
WORDS = [
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "with", "on", "by",
    "this", "be", "are", "from", "or", "at", "which",
]  # fmt: skip


def numbers(count, vocabulary):
    """Return texts of 40 words out of so many, which are alike by chance."""
    draw = random.Random(0)
    return [" ".join(str(draw.randrange(vocabulary)) for _ in range(40)) for _ in range(count)]


def texts(count, words, seed=0):
    """Return texts of the same few words, in an order of their own."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=words)) for _ in range(count)]


@pytest.fixture(params=[near_duplicates, deduplicate])
def function(request):
    return request.param


def said(function, *args, shingler=ONE_WORD, **options):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        function(*args, shingler=shingler, **options)
    assert {w.category for w in shown} <= {RecallWarning}
    assert {w.filename for w in shown} <= {__file__}
    return [str(w.message) for w in shown]


# ---- needless comparisons


def test_the_number_is_that_of_the_comparisons(function):
    collection = numbers(1500, 300)  # alike by about 0.07
    (message,) = said(function, collection, 0.3)
    each = int(re.match(r"about ([\d,]+) comparisons per document", message)[1].replace(",", ""))
    signatures = MinHasher(shingler=ONE_WORD).signatures(collection)
    pairs = candidate_pairs(signatures, near_duplicates([], 0.3).params)
    needless = (exact_jaccard(collection, pairs, ONE_WORD) < 0.15).sum() / len(collection)
    assert each > advice.MANY
    assert 0.8 * needless < each < 1.25 * needless
    share = 2 * each / (len(collection) - 1)
    assert f"{share:.1%}"[:-2] in message
    assert "less than half as similar as the threshold 0.3 (42 bands of 2 rows)" in message
    better = int(message.split("num_perm=")[1].split()[0])
    assert better > 128
    assert said(function, collection, 0.3, num_perm=better) == []


def test_silence_where_nothing_is_lost(function):
    """The same parameters, where unrelated texts have nothing in common; or where few are read."""
    assert said(function, numbers(1500, 100_000), 0.3) == []
    assert said(function, numbers(1500, 100_000), 0.5) == []
    assert said(function, numbers(2 * advice.MANY, 300), 0.3) == []
    assert said(function, [""] * 1500, 0.3) == []
    assert said(function, numbers(10, 300) * 30, 0.3) == []  # which are alike
    assert said(function, numbers(1500, 300), 0.3, bands=64, rows=2) == []  # as the caller chose


def test_a_threshold_for_which_no_signature_is_long_enough(function):
    (message,) = said(function, numbers(1500, 300), 0.05)
    assert re.search(r"num_perm=\d+ would be better|no signature can be that long; ex", message)


def test_the_estimate_of_small_chances_has_no_bias():
    draw = np.random.RandomState(0)
    for similarity in (0.02, 0.1, 0.4):
        equal = draw.binomial(128, similarity, 200_000).astype(float)
        expected = 1 - (1 - similarity**3) ** 30
        assert advice._found(equal, 128, 30, 3).mean() == pytest.approx(expected, rel=0.1)


# ---- short shingles


def test_one_line_with_figures_and_a_remedy(function):
    message = (
        r"shingles of 3 characters are short for these texts: by chance, half of all pairs have "
        r"a similarity of 0\.\d\d or more, and \d+\.\d% of such pairs are compared needlessly; "
        r"size=\d+ would be better$"
    )
    collection = texts(100, 400)
    (told,) = said(function, collection, shingler=Shingler(size=3))
    assert re.match(message, told)
    better = int(told.split("size=")[1].split()[0])
    assert better > 3
    assert said(function, collection, shingler=Shingler(size=better)) == []


@pytest.mark.parametrize("copies", [1.0, 0.9])
def test_copies_are_no_chance(function, copies):
    """A collection of variants of one text is alike at any size of the shingles."""
    draw = random.Random(1)
    words = [f"{draw.getrandbits(30):x}" for _ in range(200)]
    collection = [
        " ".join(word if draw.random() < copies else f"{draw.getrandbits(30):x}" for word in words)
        for _ in range(100)
    ]
    assert said(function, collection, shingler=Shingler(size=5)) == []


def test_copies_of_few_different_texts_are_no_chance(function):
    """Half of the pairs are equal, and half have nothing in common."""
    (message,) = said(function, ["a", "aa"] * 50, shingler=Shingler(size=3))
    assert message.startswith("100 of 100 documents are shorter than 3 characters")
    long = ["".join(random.Random(n).choices("abcdefgh ", k=200)) for n in range(2)]
    assert said(function, long * 50, shingler=Shingler(size=5)) == []


def test_silence_for_short_texts_other_units_and_long_shingles(function):
    assert said(function, texts(100, 8), shingler=Shingler(size=5)) == []
    for shingler in (Shingler("word", 1), Shingler("byte", 2), Shingler(size=24)):
        assert said(function, texts(100, 400), shingler=shingler) == []


def test_few_or_empty_documents(function):
    options = {"shingler": Shingler(size=2)}
    assert said(function, texts(advice.FEWEST - 1, 400), **options) == []
    assert said(function, texts(advice.FEWEST, 400), **options) != []
    assert said(function, [""] * 1000, **options) == []
    assert said(function, texts(200, 400) + [None] * 200, **options) != []


def test_of_normalised_texts(function):
    """Case is no difference when it is normalised away."""
    draw = random.Random(2)
    collection = [
        "".join(draw.choice((c, c.upper())) for c in text) for text in texts(60, 300, seed=3)
    ]
    plain = said(function, collection, shingler=Shingler(size=3))
    lower = said(function, collection, shingler=Shingler(size=3, lowercase=True))
    assert plain != lower
    assert lower == said(function, texts(60, 300, seed=3), shingler=Shingler(size=3))


def test_the_same_for_any_threads_and_form(function):
    collection = texts(100, 400)
    options = {"shingler": Shingler(size=3)}
    first = said(function, collection, threads=1, **options)
    assert first == said(function, [t.encode() for t in collection], threads=3, **options)


NEEDLESS = ["--threshold", 0.3, "--unit", "word", "--size", 1]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_command_says_it_once(run, engine):
    for collection, options, message in (
        (numbers(1500, 300), NEEDLESS, r"needless.*; --num-perm=\d+ would be better$"),
        (texts(50, 300), ["--size", 3], "warning: shingles of 3 characters are short"),
    ):
        name = put("a.jsonl", *({"text": text} for text in collection))
        (line,) = run.done("pairs", name, *options, "-q", "--engine", engine, "-o", "pairs.tsv")[1]
        assert re.search(message, line)
