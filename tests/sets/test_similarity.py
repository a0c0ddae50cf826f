"""Similarities of given pairs, and the sets that they are computed from."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from combinations import covering
from fastlsh import (
    MinHasher,
    Pairs,
    Shingler,
    TokenIds,
    containment,
    estimate_jaccard,
    exact_jaccard,
    jaccard,
)
from fastlsh.parallel import RunOptions
from fastlsh.sets import ShingleSets, set_sizes
from fastlsh.texts import as_texts
from refusals import refuses
from strategies import any_text, collections, little_room, shinglers


@given(any_text, any_text, shinglers)
def test_jaccard(a, b, options):
    expected = oracle.Oracle([a, b], **options, num_perm=1).similarity(0, 1)
    assert jaccard(a, b, Shingler(**options)) == expected


@pytest.mark.parametrize("function", [exact_jaccard, containment])
@pytest.mark.parametrize(("room", "threads"), covering([20, 60, 200, 1 << 22], [1, 3]))
def test_pairs_of_more_documents_than_there_is_room_for(room, threads, function):
    draw = np.random.default_rng(room)
    texts = some_texts(room)
    left, right = draw.integers(0, 20, (2, 400)) + 20 * draw.integers(0, 3, 400)
    with little_room(7, room):
        found = function(texts, (left, right), Shingler(size=3), threads=threads)
    sets = oracle.Oracle(texts, size=3, num_perm=1).sets
    expected = oracle.jaccard if function is exact_jaccard else oracle.containment
    assert found.tolist() == [expected(sets[a], sets[b]) for a, b in zip(left, right, strict=True)]


@given(collections(), st.randoms(use_true_random=False))
def test_pairs_in_any_order_and_form(texts, draw):
    pairs = [(draw.randrange(len(texts)), draw.randrange(len(texts))) for _ in texts]
    shingler = Shingler(size=2)
    truth = oracle.Oracle(texts, size=2, num_perm=1)
    expected = [truth.similarity(a, b) for a, b in pairs]
    assert exact_jaccard(texts, pairs, shingler).tolist() == expected
    table = np.array(pairs, np.uint16).reshape(-1, 2)
    assert exact_jaccard(texts, table, shingler).tolist() == expected
    assert exact_jaccard(iter(texts), (table[:, 0], table[:, 1]), shingler).tolist() == expected


def test_pairs_of_a_result():
    texts = ["abcabcabcd", "abcabcabce", "abcabcabcd"]
    pairs = fastlsh.near_duplicates(texts, 0.5, shingler=Shingler(size=3), num_perm=256)
    assert exact_jaccard(texts, pairs, Shingler(size=3)).tolist() == pairs.similarity.tolist()


@given(collections())
def test_estimates_are_the_share_of_equal_minima(texts):
    hasher = MinHasher(30, shingler=Shingler(size=2))
    truth = oracle.Oracle(texts, size=2, num_perm=30)
    pairs = [(a, b) for a in range(len(texts)) for b in range(len(texts))][:50]
    found = estimate_jaccard(hasher.signatures(texts), pairs)
    expected = [truth.similarity(a, b, "signature") if truth.sets[a] else 0.0 for a, b in pairs]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ([(0, 2)], IndexError),
        ([(-1, 0)], IndexError),
        (([0], [0, 1]), ValueError),
        ([0, 1], ValueError),
        ([(0, 1, 1)], ValueError),
        (np.array([[0.0, 1.0]]), TypeError),
        ((np.zeros((1, 1), int), [0]), TypeError),
        (Pairs(np.array([0]), np.array([5]), np.array([np.nan])), IndexError),
    ],
)
def test_bad_pairs(pairs, error):
    refuses(error, None, exact_jaccard, ["one", "two"], pairs)
    refuses(error, None, estimate_jaccard, np.zeros((2, 4), np.uint32), pairs)


def test_no_pairs():
    for none in ([], ([], []), np.empty((0, 2), int)):
        assert exact_jaccard(["one"], none).shape == (0,)
        assert estimate_jaccard(np.zeros((1, 4), np.uint32), none).shape == (0,)


# ---- two columns, and containment


@given(collections(), collections(), shinglers)
def test_two_columns(left, right, options):
    n = min(len(left), len(right))
    left, right = left[:n], right[:n]
    shingler = Shingler(**options)
    sets = oracle.Oracle([*left, *right], **options, num_perm=1).sets
    both = [(sets[i], sets[n + i]) for i in range(n)]
    assert exact_jaccard(left, right, shingler).tolist() == [oracle.jaccard(*two) for two in both]
    shares = [oracle.containment(*two) for two in both]
    assert containment(left, right, shingler).tolist() == shares


def test_shares_of_large_sets_are_exact():
    n = 300_000
    numbers = np.arange(n, dtype=np.uint32)
    whole, part = (
        TokenIds(numbers, np.array([0, n])),
        TokenIds(numbers[: n - 7], np.array([0, n - 7])),
    )
    shingler = Shingler("token", 1)
    assert containment(whole, part, shingler).tolist() == [(n - 7) / n]
    assert containment(part, whole, shingler).tolist() == [1.0]


def test_what_is_a_column():
    left, right, size = ["abcdef"] * 3, ["abcdef", None, "abcdeg"], Shingler(size=2)
    encoded, strings = [b"abcdef", None, b"abcdeg"], np.array(["abcdef", "", "abcdeg"])
    for form in (right, tuple(right), iter(right), encoded, strings, np.array(right, object)):
        assert exact_jaccard(left, form, size).tolist() == [1.0, 0.0, 4 / 6], type(form)
    assert exact_jaccard(left, [None, None, None], size).tolist() == [0.0] * 3


def test_columns_of_arrow_and_of_tables():
    pa = pytest.importorskip("pyarrow")
    column = pa.array(["abcdef", None, "abcdeg"])
    assert containment(column, column, Shingler(size=2)).tolist() == [1.0, 0.0, 1.0]
    assert exact_jaccard(column, pa.table({"text": column}), Shingler(size=2)).tolist() == [1, 0, 1]
    pd = pytest.importorskip("pandas")
    pairs = pd.DataFrame({"left": [0, 2], "right": [2, 2]})
    assert exact_jaccard(column, pairs, Shingler(size=2)).tolist() == [4 / 6, 1.0]


@pytest.mark.parametrize("function", [exact_jaccard, containment])
def test_columns_of_unequal_lengths(function):
    refuses(ValueError, "left has 2 documents, and right has 1", function, ["one", "two"], ["one"])


def test_sets_with_empty_words():
    # n separators make n + 1 words: of all texts of up to four characters, and of longer ones.
    texts = ["".join(letters) for n in range(5) for letters in itertools.product("a,b", repeat=n)]
    texts += ["a,,b;;c", "a,,b;;d", "," * 600, "a" + "," * 600, "a,,b,,,c," * 100, ",a,,b,,c" * 100]
    for size in (1, 2, 5):
        shingler = Shingler("word", size, words="ascii_alphanumeric", empty_words=True)
        words = [tuple(re.split("[^a-z]", text)) if text else () for text in texts]
        sets = [set(oracle.windows(each, size)) for each in words]
        left, right = (side.ravel() for side in np.mgrid[: len(texts), : len(texts)])
        expected = [oracle.jaccard(sets[a], sets[b]) for a, b in zip(left, right, strict=True)]
        assert exact_jaccard(texts, (left, right), shingler).tolist() == expected
        found = ShingleSets(
            as_texts(texts), shingler, np.arange(len(texts)), np.zeros(1, np.int64),
            np.array(list(map(len, texts))), 1,
        ).similarities(left, right, 0.0)  # fmt: skip
        assert found.tolist() == expected
        sizes = set_sizes(as_texts(texts), shingler, RunOptions.of(1))
        assert sizes.tolist() == [len(each) for each in sets]
        pairs = zip(left.tolist(), right.tolist(), expected, strict=True)
        similar = [(a, b, s) for a, b, s in pairs if a < b and s >= 0.5]
        assert list(fastlsh.exact_pairs(texts, 0.5, shingler=shingler)) == similar


def test_a_tokenizer_that_returns_something_else_each_time_is_refused():
    counts = itertools.count(1)
    shingler = Shingler("word", 1, tokenizer=lambda _: list("abcdefgh"[: next(counts)]))
    with pytest.raises(ValueError, match="document 0 of the batch has more shingles than its"):
        exact_jaccard(["a text", "another text"], [(0, 1)], shingler)


# ---- sets of families, numbered and made in parts

SHINGLER = Shingler(size=3)


def shingle_sets(texts, families, threads=1):
    documents = np.arange(len(texts))
    lengths = np.array([len(text) for text in texts])
    return ShingleSets(as_texts(texts), SHINGLER, documents, np.array(families), lengths, threads)


def some_texts(seed, n=60, most=40):
    draw = np.random.default_rng(seed)
    return ["".join(draw.choice(list("abcd"), draw.integers(0, most))) for _ in range(n)]


@pytest.mark.parametrize(
    ("room", "batch", "threads"),
    covering([20, 60, 200, 2000, 1 << 22], [1, 7, 100, 1000], [1, 3]),
)
def test_families_of_any_size_in_any_room(room, batch, threads):
    # Five families, of which pairs are asked for in turns, in several calls.
    texts = some_texts(room)
    families = [0, 2, 22, 42, 57]
    size = np.diff([*families, len(texts)])
    draw = np.random.default_rng(room + batch)
    truth = oracle.Oracle(texts, size=3, num_perm=1)
    with little_room(batch, room):
        sets = shingle_sets(texts, families, threads)
        for _ in range(6):
            chosen = draw.integers(0, len(families), 80)
            left, right = draw.integers(0, size[chosen], (2, 80)) + np.array(families)[chosen]
            found = sets.similarities(left, right, 0.3)
            exact = [truth.similarity(a, b) for a, b in zip(left, right, strict=True)]
            assert found.tolist() == [s if s >= 0.3 else -1.0 for s in exact]


def test_numbers_are_kept_from_part_to_part():
    # A family that is asked for piece by piece: nothing is made twice.
    texts = some_texts(1)
    made = []
    with little_room(10, 1 << 22):
        sets = shingle_sets(texts, [0])
        make = sets._make

        def recorded(places, numbers):
            made.extend(places.tolist())
            return make(places, numbers)

        sets._make = recorded
        for last in (10, 35, 60):
            sets.ensure(np.arange(last - 10, last))
        sets.ensure(np.arange(60))
    assert sorted(made) == list(range(60))
