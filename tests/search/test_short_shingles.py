"""The warning of shingles that are too short for a collection's texts."""

import random
import warnings

import pytest

from fastlsh import RecallWarning, Shingler, deduplicate, near_duplicates
from fastlsh.search import advice
from files import put_rows as put

WORDS = [
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "with", "on", "by",
    "this", "be", "are", "from", "or", "at", "which",
]  # fmt: skip


def texts(count, words, seed=0):
    """Return texts of the same few words, in an order of their own."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=words)) for _ in range(count)]


@pytest.fixture(params=[near_duplicates, deduplicate])
def function(request):
    return request.param


def said(function, *args, **options):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        function(*args, **options)
    return [str(w.message) for w in shown if "shingles" in str(w.message)]


def test_one_line_with_figures_and_a_remedy(function):
    message = (
        r"shingles of 3 characters are short for these texts: by chance, half of all pairs have "
        r"a similarity of 0\.\d\d or more, and \d+\.\d% of such pairs are compared needlessly; "
        r"size=\d+ would be better$"
    )
    with pytest.warns(RecallWarning, match=message) as shown:
        function(texts(100, 400), shingler=Shingler(size=3))
    assert len(shown) == 1
    assert shown[0].filename == __file__


def test_the_size_that_it_names_is_enough(function):
    collection = texts(100, 400)
    (message,) = said(function, collection, shingler=Shingler(size=3))
    better = int(message.split("size=")[1].split()[0])
    assert better > 3
    assert said(function, collection, shingler=Shingler(size=better)) == []


def test_silence_where_texts_are_short(function):
    assert said(function, texts(100, 8), shingler=Shingler(size=5)) == []


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
    assert said(function, ["a", "aa"] * 50, shingler=Shingler(size=3)) == []
    long = ["".join(random.Random(n).choices("abcdefgh ", k=200)) for n in range(2)]
    assert said(function, long * 50, shingler=Shingler(size=5)) == []


@pytest.mark.parametrize(
    "shingler", [Shingler("word", 1), Shingler("byte", 2), Shingler(size=24)], ids=str
)
def test_silence_for_other_units_and_long_shingles(function, shingler):
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


def test_the_command_says_it_once(run):
    name = put("a.jsonl", *({"text": text} for text in texts(50, 300)))
    status, _, err = run("pairs", name, "--size", 3, "-q")
    assert (status, len(err)) == (0, 1)
    assert err[0].startswith("fastlsh: warning: shingles of 3 characters are short")
