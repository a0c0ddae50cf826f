"""The exact join, against all pairs of sets of substrings."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import Shingler, TooManyPairsError, exact_pairs
from fastlsh._kernels.sets._sets import numbers_of
from strategies import any_text, collections, shinglers

# Quotients of small numbers, and their neighbours: where a rounding would show.
thresholds = st.one_of(
    st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda ab: min(ab) / max(ab)),
    st.sampled_from([1 / 3, 2 / 3, 0.8]).map(lambda t: np.nextafter(t, 0)),
    st.sampled_from([1 / 3, 2 / 3, 0.8]).map(lambda t: np.nextafter(t, 1)),
    st.floats(0.01, 1.0),
)


def all_pairs(sets, threshold):
    return [
        (a, b, oracle.jaccard(sets[a], sets[b]))
        for a, b in combinations(range(len(sets)), 2)
        if sets[a] and sets[b] and oracle.jaccard(sets[a], sets[b]) >= threshold
    ]


def sets_of(texts, unit="char", size=9):
    return [set(oracle.windows(oracle.units_of(text, unit), size)) for text in texts]


@given(collections(any_text), shinglers, thresholds, st.integers(1, 3))
def test_all_pairs(texts, how, threshold, threads):
    expected = all_pairs(sets_of(texts, **how), threshold)
    found = exact_pairs(texts, threshold, shingler=Shingler(**how), threads=threads)
    assert list(found) == expected
    assert (found.documents, found.params) == (len(texts), None)
    assert found.empty == sum(not units for units in sets_of(texts, **how))


@given(st.lists(st.sets(st.integers(0, 40), max_size=30), max_size=30), thresholds)
def test_sets_of_all_sizes(sets, threshold):
    texts = [" ".join(map(str, sorted(numbers))) for numbers in sets]
    found = exact_pairs(texts, threshold, shingler=Shingler("word", 1))
    assert list(found) == all_pairs(sets, threshold)


def test_many_sets_of_few_elements(monkeypatch):
    # Long lists, several batches on several threads, more pairs than a batch has room for.
    monkeypatch.setattr("fastlsh.search.exact_join.ROOM", 1)
    rng = np.random.default_rng(0)
    sets = [set(rng.integers(0, 60, size).tolist()) for size in rng.integers(1, 12, 300)]
    texts = [" ".join(map(str, numbers)) for numbers in sets]
    for threshold in (0.2, 0.5, 0.75, 1.0):
        expected = all_pairs(sets, threshold)
        for threads in (1, 2):
            found = exact_pairs(texts, threshold, shingler=Shingler("word", 1), threads=threads)
            assert list(found) == expected


def test_progress():
    told = []
    exact_pairs(["abcde"] * 3 + ["vwxyz"], 0.5, progress=lambda *line: told.append(line))
    assert told == [("sets", 4, 4), ("joined", 2, 2)]


@pytest.mark.parametrize("texts", [[], [""], [None, ""], ["one"]])
def test_nothing_to_find(texts):
    found = exact_pairs(texts, 0.5)
    assert (len(found), found.documents) == (0, len(texts))
    assert found.similarity.dtype == np.float64


def test_too_many_pairs():
    alike = [f"{'a long beginning of all texts ' * 3}{i:03}" for i in range(40)]
    assert len(exact_pairs(alike, 0.5, max_pairs=780)) == 780
    with pytest.raises(TooManyPairsError, match=r"max_pairs=779 pairs reach the threshold 0\.5"):
        exact_pairs(alike, 0.5, max_pairs=779)
    with pytest.raises(TooManyPairsError, match="identical, of which document 0 is the first"):
        exact_pairs(["one and the same"] * 40, 0.5, max_pairs=779)


# ---- the kernels


def test_numbers_of_hashes():
    rng = np.random.default_rng(0)
    for m in (0, 1, 2, 15, 16, 17, 1000):
        known = np.unique(rng.integers(0, 2**64, m, np.uint64))
        number = rng.permutation(len(known)).astype(np.uint32)
        ends = np.array([0, 2**64 - 1], np.uint64)
        asked = np.concatenate([known, rng.integers(0, 2**64, 5, np.uint64), ends])
        expected = dict(zip(known.tolist(), number.tolist(), strict=True))
        for bits in (1, 5, 10):
            leading = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
            directory = np.append(np.searchsorted(known, leading), len(known))
            out = np.empty(len(asked), np.uint32)
            numbers_of(known, number, directory, asked, out)
            assert out.tolist() == [expected.get(h, 2**32 - 1) for h in asked.tolist()]
