"""Similarities of given pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from fastlsh import MinHasher, Pairs, Shingler, estimate_jaccard, exact_jaccard, jaccard
from strategies import any_text, collections, little_room, shinglers


@given(any_text, any_text, shinglers)
def test_jaccard(a, b, options):
    expected = oracle.Oracle([a, b], **options, num_perm=1).similarity(0, 1)
    assert jaccard(a, b, Shingler(**options)) == expected


def test_known_similarities():
    one_word = Shingler("word", 1)
    king = "Who was the first king of Poland"
    assert jaccard(king, "Who was the first ruler of Poland", one_word) == 0.75
    assert jaccard(king, "Who was the last pharaoh of Egypt", one_word) == 0.4
    assert jaccard("Nadal", "Nadia", Shingler(size=2)) == pytest.approx(1 / 3)
    lorem = "Lorem Ipsum dolor sit amet", "Lorem Ipsum is how dummy text starts"
    assert 0 < jaccard(*lorem, Shingler(size=5)) < 0.5


@pytest.mark.parametrize("empty", ["", None, b""])
def test_an_empty_text_is_like_nothing(empty):
    assert jaccard(empty, empty) == 0.0
    assert jaccard(empty, "text") == 0.0
    assert jaccard(" ", " ", Shingler("word", 1)) == 0.0


@pytest.mark.parametrize("room", [2, 7, 50, 1 << 22])
@pytest.mark.parametrize("threads", [1, 3])
def test_in_little_room(room, threads):
    texts = ["", "abc", "abcd", "xabc", "abcabc", "bca", "zzzz", "abcabd"]
    left, right = (side.ravel() for side in np.mgrid[:8, :8])
    with little_room(2, room):
        found = exact_jaccard(texts, (left, right), Shingler(size=2), threads=threads)
    truth = oracle.Oracle(texts, size=2, num_perm=1)
    assert found.tolist() == [truth.similarity(a, b) for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("room", [20, 60, 200, 1 << 22])
@pytest.mark.parametrize("threads", [1, 3])
def test_pairs_of_more_documents_than_there_is_room_for(room, threads):
    draw = np.random.default_rng(room)
    texts = ["".join(draw.choice(list("abcd"), draw.integers(0, 40))) for _ in range(60)]
    left, right = draw.integers(0, 20, (2, 400)) + 20 * draw.integers(0, 3, 400)
    with little_room(7, room):
        found = exact_jaccard(texts, (left, right), Shingler(size=3), threads=threads)
    truth = oracle.Oracle(texts, size=3, num_perm=1)
    assert found.tolist() == [truth.similarity(a, b) for a, b in zip(left, right, strict=True)]


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
    with pytest.raises(error):
        exact_jaccard(["one", "two"], pairs)
    with pytest.raises(error):
        estimate_jaccard(np.zeros((2, 4), np.uint32), pairs)


def test_no_pairs():
    for none in ([], ([], []), np.empty((0, 2), int)):
        assert exact_jaccard(["one"], none).shape == (0,)
        assert estimate_jaccard(np.zeros((1, 4), np.uint32), none).shape == (0,)
