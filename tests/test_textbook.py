"""fastlsh.textbook: it agrees with fastlsh, and says what it does not take."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import LSHParams, Shingler, candidate_pairs, jaccard, textbook
from refusals import refuses

texts = st.text(st.sampled_from("ab c\nß€😀"), min_size=3, max_size=40)


@given(texts, texts, st.integers(1, 3))
def test_jaccard_of_shingles(a, b, size):
    sets = [textbook.shingles(text, size) for text in (a, b)]
    assert textbook.jaccard(*sets) == jaccard(a, b, Shingler(size=size))


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), max_size=12))
def test_candidates(signatures):
    for bands, rows in [(1, 6), (2, 3), (3, 2), (4, 1), (6, 1)]:
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


@given(st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=5), st.integers(0, 99))
def test_row_by_row_ends_with_the_minima(sets, seed):
    matrix = [[int(x in one) for one in sets] for x in range(10)]
    functions = textbook.affine_functions(4, seed)
    tables = list(textbook.signatures_row_by_row(matrix, functions))
    assert len(tables) == 10
    for rows, table in enumerate(tables, 1):
        read = [{x for x in one if x < rows} for one in sets]
        minima = [[min(map(f, one), default=math.inf) for f in functions] for one in read]
        assert table == minima


@given(st.text(st.sampled_from("ab ß😀"), max_size=12), st.integers(1, 4))
def test_the_signature_of_riskiq_is_the_least_of_each_function(document, k):
    windows = Shingler(size=k).shingles(document) or [document]
    functions = textbook.HashCollection(5, 7).functions
    least = textbook.signatures_by_hashing([set(map(textbook.djb2a, windows))], functions)[0]
    assert textbook.MinHash(seed=7, k=k, n=5).hash(document) == least


def test_known_values():
    (function,) = textbook.HashCollection(1).functions
    assert str(function) == "-1460590454*X + 747279288 % 999999999989"
    generator = textbook.JavaRandom(42)
    assert [generator.next_int() for _ in range(3)] == [-1170105035, 234785527, -1360544799]
    assert textbook.djb2a("é") == 5381 * 33 ^ (0xE9 - 256) == -177588
    assert textbook.djb2a("ā") == textbook.djb2a("\x01")
    assert textbook.djb2a("😀") == textbook.djb2a("\x3d\x00")


@given(st.integers(), st.integers(-(2**31), 2**31 - 1))
def test_int32(wraps, fits):
    assert -(2**31) <= textbook.int32(wraps) < 2**31
    assert (textbook.int32(wraps) - wraps) % 2**32 == 0
    assert textbook.int32(fits) == fits


@given(st.text(max_size=20))
def test_djb2a_takes_the_low_byte_of_each_utf16_unit(text):
    units = np.frombuffer(text.encode("utf-16-le"), "<u2")
    h = 5381
    for unit in units.tolist():
        byte = unit % 256
        h = (h * 33 ^ (byte - 256 if byte >= 128 else byte)) % 2**32
    assert textbook.djb2a(text) == textbook.int32(h)


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000))
def test_remainder_has_the_sign_of_the_number(number, divisor):
    found = textbook.remainder(number, divisor)
    assert found == math.fmod(number, divisor)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.integers(1, 30))
def test_buckets_leave_out_the_rest(signature, bands):
    if bands > len(signature):
        with pytest.raises(ValueError, match=f"{len(signature)} entries cannot be cut"):
            textbook.get_buckets(signature, bands)
        return
    rows = len(signature) // bands
    buckets = textbook.get_buckets(signature, bands)
    assert len(buckets) == bands
    assert buckets == textbook.get_buckets(signature[: rows * bands], bands)
    last = ".".join(map(str, signature[rows * (bands - 1) : rows * bands]))
    assert buckets[-1] == textbook.djb2a(last)


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), max_size=8))
def test_candidates_by_agreement(signatures):
    array = np.array(signatures).reshape(-1, 5)
    for share in (0.2, 0.6, 1.0):
        found = textbook.candidates_by_agreement(signatures, share)
        for i in range(len(signatures)):
            for j in range(i + 1, len(signatures)):
                assert ((i, j) in found) == ((array[i] == array[j]).sum() >= 5 * share)


@given(st.floats(0.01, 1.0), st.integers(1, 300))
def test_bands_of_the_two_rules(threshold, num_perm):
    exact = textbook.solve_bands(threshold, num_perm)
    bands, goal = textbook.pick_bands(threshold, num_perm), -num_perm * math.log(threshold)
    assert bands in (int(exact), int(exact) + 1)
    assert bands * math.log(bands) >= goal
    assert bands == 1 or (bands - 1) * math.log(bands - 1) < goal
    assert (1 / exact) ** (exact / num_perm) == pytest.approx(threshold)


def test_what_it_does_not_take():
    for bands in (7, 0, -2, 12):
        for cut in (textbook.candidates, lambda lists, bands: textbook.get_buckets(*lists, bands)):
            with pytest.raises(ValueError, match=f"6 entries cannot be cut into {bands} bands"):
                cut([[1] * 6], bands)
    for share in (0.0, 1.1, float("nan")):
        message = "share must be above 0 and at most 1"
        refuses(ValueError, message, textbook.candidates_by_agreement, [[1], [1]], share)
    for a, b in [([1, 2], [1]), ([1], [1, 2]), ([], [1])]:
        refuses(ValueError, "same number of buckets", textbook.is_pair_candidate_match, a, b)
    refuses(ValueError, "size must be at least 1, got 0", textbook.shingles, "abc", 0)
    for rule in (textbook.pick_bands, textbook.solve_bands):
        for threshold in (0.0, 1.1, float("nan")):
            refuses(ValueError, "threshold must be above 0 and at most 1", rule, threshold, 100)
        refuses(ValueError, "num_perm must be at least 1, got 0", rule, 0.5, 0)
    assert textbook.jaccard(set(), set()) == 0.0
    assert textbook.candidates([], 3) == set()
    assert textbook.signatures_by_permutation([], [[]]) == []
