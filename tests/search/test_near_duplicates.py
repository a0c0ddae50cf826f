"""near_duplicates against the oracle."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import LSHParams, Shingler, TooManyPairsError, near_duplicates
from strategies import (
    bandings,
    collections,
    few_letters,
    little_room,
    shinglers,
    thresholds,
    verifications,
    wide,
)

pytestmark = few_letters


def as_list(pairs):
    """Return [(left, right, similarity)]; NaN becomes None, which equals itself."""
    return [(a, b, None if math.isnan(s) else s) for a, b, s in pairs]


@given(collections(), thresholds, bandings, verifications, st.integers(1, 3))
def test_equal_to_the_oracle(texts, threshold, banding, verify, size):
    bands, rows = banding
    found = near_duplicates(
        texts, threshold, shingler=Shingler(size=size), num_perm=16, bands=bands, rows=rows,
        verify=verify,
    )  # fmt: skip
    truth = oracle.Oracle(texts, size=size, num_perm=16)
    expected = truth.near_duplicates(threshold, bands, rows, verify)
    assert as_list(found) == as_list(expected)
    assert found.documents == len(texts)
    assert found.empty == sum(not units for units in truth.units)
    assert found.params == LSHParams(bands, rows)


@given(collections(wide, 12), shinglers, st.integers(0, 5), st.sampled_from(["affine32", "fss"]))
def test_every_unit_seed_and_scheme(texts, options, seed, scheme):
    found = near_duplicates(
        texts, 0.5, shingler=Shingler(**options), num_perm=20, bands=10, rows=2, seed=seed,
        scheme=scheme,
    )  # fmt: skip
    truth = oracle.Oracle(texts, **options, num_perm=20, seed=seed, scheme=scheme)
    assert as_list(found) == truth.near_duplicates(0.5, 10, 2)


@given(collections(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 3, 50]))
def test_threads_and_room_are_irrelevant(texts, threads, room):
    options = {"shingler": Shingler(size=2), "num_perm": 16, "bands": 8, "rows": 2}
    expected = list(near_duplicates(texts, 0.4, **options, threads=1))
    with little_room(room):
        assert list(near_duplicates(texts, 0.4, **options, threads=threads)) == expected


def test_a_similarity_of_exactly_the_threshold_counts():
    texts = ["abcdefgh", "abcdxyzw"]  # single characters: 4 of 12
    options = {"shingler": Shingler(size=1), "bands": 128, "rows": 1}
    assert list(near_duplicates(texts, 4 / 12, **options)) == [(0, 1, 4 / 12)]
    assert list(near_duplicates(texts, math.nextafter(4 / 12, 1), **options)) == []


def test_recall_chooses_the_bands():
    assert near_duplicates([], 0.8).params == LSHParams(17, 7)
    assert near_duplicates([], 0.8, recall=0.5).params == LSHParams.for_threshold(0.8, recall=0.5)
    assert near_duplicates([], 0.9, num_perm=256).params == LSHParams.for_threshold(0.9, 256)


def test_ids_name_the_pairs():
    texts = ["one text is here", "another one", "one text is here"]
    found = near_duplicates(texts, ids=["x", 7, None])
    assert (found.left_id, found.right_id) == (["x"], [None])
    assert near_duplicates(texts).left_id == [0]
    for ids in (("a", "b", "c"), range(5, 8), np.array(["a", "b", "c"]), iter("abc")):
        assert len(near_duplicates(texts, ids=ids).right_id) == 1


def test_equal_text_in_any_disguise():
    texts = ["é plus more", "é plus more".encode(), b"plain ascii text", "plain ascii text"]
    assert list(near_duplicates(texts)) == [(0, 1, 1.0), (2, 3, 1.0)]
    byte = Shingler("byte")
    assert list(near_duplicates(texts, shingler=byte)) == [(0, 1, 1.0), (2, 3, 1.0)]
    lower = Shingler(lowercase=True)
    assert list(near_duplicates(["The SAME text", "the same TEXT"], shingler=lower)) == [(0, 1, 1)]


def test_structured_texts_are_told_apart():
    texts = [f"{i:08d}" for i in range(3000)] + ["\0" * i for i in range(1, 40)]
    texts += ["a" * i for i in range(1, 10)]
    # Equal sets: only runs of one character that are at least one shingle long.
    found = near_duplicates(texts, 0.99)
    zeros = range(3000 + 8, 3039)
    assert [(a, b) for a, b, _ in found] == [(a, b) for a in zeros for b in zeros if a < b]
    assert set(found.similarity.tolist()) == {1.0}


@given(collections(), st.integers(0, 60))
def test_more_pairs_than_allowed(texts, most):
    options = {"shingler": Shingler(size=2), "num_perm": 16, "bands": 8, "rows": 2}
    expected = list(near_duplicates(texts, 0.5, **options))
    truth = oracle.Oracle(texts, size=2, num_perm=16)
    candidates = len(oracle.candidate_pairs(truth.signatures, 8, 2))
    try:
        found = near_duplicates(texts, 0.5, **options, max_pairs=most)
    except TooManyPairsError:
        assert candidates > most
    else:
        assert len(found) <= most
        assert list(found) == expected


def test_the_largest_group_is_named():
    texts = ["some text or other"] * 500 + ["unique"]
    with pytest.raises(TooManyPairsError, match="500 documents are identical to document 0"):
        near_duplicates(texts, max_pairs=1000)
    template = "a long shared text that all of these have in common, and more of it; " * 3
    with pytest.raises(TooManyPairsError, match=r"\d+ documents share a bucket with document"):
        near_duplicates([f"{template}{i}" for i in range(500)], max_pairs=1000)
