"""fastlsh.textbook: it agrees with fastlsh, and says what it does not take."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import LSHParams, Shingler, candidate_pairs, jaccard, textbook

texts = st.text(st.sampled_from("ab c\nß€😀"), min_size=3, max_size=40)


@given(texts, texts, st.integers(1, 3))
def test_jaccard_of_shingles(a, b, size):
    sets = [textbook.shingles(text, size) for text in (a, b)]
    assert textbook.jaccard(*sets) == jaccard(a, b, Shingler(size=size))


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), max_size=12))
def test_candidates(signatures):
    for bands, rows in [(1, 6), (2, 3), (3, 2), (6, 1)]:
        array = np.array(signatures, np.uint32).reshape(-1, 6)
        found = {(a, b) for a, b, _ in candidate_pairs(array, LSHParams(bands, rows))}
        assert textbook.candidates(signatures, bands) == found


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=5), st.integers(0, 99))
def test_permuting_is_hashing_with_a_permutation(sets, seed):
    matrix = [[int(x in one) for one in sets] for x in range(10)]
    (order,) = textbook.permutations(10, 1, seed)
    assert sorted(order) == list(range(10))
    found = [s[0] for s in textbook.signatures_by_permutation(matrix, [order])]
    assert found == [min(map(order.index, one), default=10) for one in sets]


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=5))
def test_characteristic_matrix(sets):
    elements, matrix = textbook.characteristic_matrix(sets)
    assert sorted(elements) == sorted(set().union(*sets))
    for column, one in enumerate(sets):
        assert {e for e, row in zip(elements, matrix, strict=True) if row[column]} == one


def test_java_generator():
    generator = textbook.JavaRandom(42)
    assert [generator.next_int() for _ in range(3)] == [-1170105035, 234785527, -1360544799]


@given(st.integers(), st.integers(-(2**31), 2**31 - 1))
def test_int32(wraps, fits):
    assert -(2**31) <= textbook.int32(wraps) < 2**31
    assert (textbook.int32(wraps) - wraps) % 2**32 == 0
    assert textbook.int32(fits) == fits


@given(st.binary(max_size=20))
def test_djb2a_wraps_once_or_always(data):
    h = 5381
    for byte in data:
        h = (h * 33 % 2**32) ^ byte
    assert textbook.djb2a(data) == textbook.int32(h)


@given(st.floats(0.01, 1.0), st.integers(1, 300))
def test_bands_of_the_two_rules(threshold, num_perm):
    exact = textbook.solve_bands(threshold, num_perm)
    bands, goal = textbook.pick_bands(threshold, num_perm), -num_perm * math.log(threshold)
    assert bands in (int(exact), int(exact) + 1)
    assert bands * math.log(bands) >= goal
    assert bands == 1 or (bands - 1) * math.log(bands - 1) < goal
    assert (1 / exact) ** (exact / num_perm) == pytest.approx(threshold)


def test_what_it_does_not_take():
    for bands in (4, 0, -2, 12):
        with pytest.raises(ValueError, match=f"6 entries cannot be cut into {bands} bands"):
            textbook.candidates([[1] * 6], bands)
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        textbook.shingles("abc", 0)
    for rule in (textbook.pick_bands, textbook.solve_bands):
        for threshold in (0.0, 1.1, float("nan")):
            with pytest.raises(ValueError, match="threshold must be above 0 and at most 1"):
                rule(threshold, 100)
        with pytest.raises(ValueError, match="num_perm must be at least 1, got 0"):
            rule(0.5, 0)
    assert textbook.jaccard(set(), set()) == 0.0
    assert textbook.candidates([], 3) == set()
    assert textbook.signatures_by_permutation([], [[]]) == []
