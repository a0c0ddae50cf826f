"""Runs of keys: whatever the ranges, the same rows as one sort of everything."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.files.disk import sorted_keys as disk_runs
from fastlsh.files.disk.sorted_keys import (
    KEY_BITS,
    LONGEST,
    PLACE_BITS,
    SortedRun,
    keep_first_bits,
    pieces_of_range,
    ranges,
)

TOP = 2**64 - 1
KEYS = st.one_of(
    st.integers(0, TOP),
    st.sampled_from([0, 1, LONGEST - 1, LONGEST, TOP, 1 << 63, (1 << 63) - 1, 7 << 60]),
)


def stored(keys, first):
    """Return a run of one band as it is written."""
    (row,) = kept = np.array([keys], np.uint64)
    keep_first_bits(kept)
    row[row != 0] |= np.arange(len(row), dtype=np.uint64)[row != 0]
    return SortedRun(first, np.sort(row)[None])


def rows_of_range(runs, *which):
    (all_at_once,) = pieces_of_range(runs, *which, TOP)
    return all_at_once


def prefix(key):
    return max(key >> PLACE_BITS, 1)


@given(st.lists(st.lists(KEYS, max_size=20), min_size=1, max_size=4), st.integers(0, 5))
def test_ranges_hold_every_document_in_order(collections, doublings):
    runs, expected, first = [], [], 0
    for keys in collections:
        runs.append(stored(keys, first))
        expected += [(prefix(key), first + i) for i, key in enumerate(keys) if key]
        first += len(keys)
    count = 1 << doublings
    bits = max(first - 1, 1).bit_length()
    while bits + KEY_BITS - doublings > 64:
        count, doublings = 2 * count, doublings + 1
    found = []
    for index in range(count):
        keys, numbers = rows_of_range(runs, 0, index, count, bits)
        found += zip(keys.tolist(), numbers.tolist(), strict=True)
    assert found == sorted(expected)


FEW_KEYS = st.sampled_from([0, 1, 5 << 60, (5 << 60) + (1 << 24), (5 << 60) + (1 << 24) + 1, TOP])


@given(
    st.lists(st.lists(FEW_KEYS, max_size=30), min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(0, 3),
)
def test_pieces_of_a_range_are_small_however_many_documents_have_one_key(
    collections, most, doublings
):
    runs, first = [], 0
    for keys in collections:
        runs.append(stored(keys, first))
        first += len(keys)
    count, bits = 1 << doublings, 8
    for index in range(count):
        pieces = list(pieces_of_range(runs, 0, index, count, bits, most))
        assert all(len(keys) <= most for keys, _ in pieces)
        whole = rows_of_range(runs, 0, index, count, bits)
        for found, expected in zip(zip(*pieces, strict=True), whole, strict=True):
            assert np.concatenate(found).tolist() == expected.tolist()


@pytest.mark.parametrize("documents", [1, 2, 100, 2**24, 2**24 + 1, 2**27, 2**31 - 1])
def test_key_and_number_fit_into_64_bits(documents):
    count = ranges(documents, 1 << 40)
    assert count & (count - 1) == 0
    bits = max(documents - 1, 1).bit_length()
    assert bits + KEY_BITS - (count.bit_length() - 1) <= 64
    assert ranges(documents, max(documents // 8, 1)) >= min(8, documents)


def test_large_numbers_come_back():
    runs = [stored([5 << 60, 9 << 40], 0), stored([5 << 60, TOP], 2**31 - 3)]
    bits, count = 31, ranges(2**31 - 1, 1 << 40)
    rows = [rows_of_range(runs, 0, index, count, bits) for index in range(count)]
    numbers = np.concatenate([row.numbers for row in rows]).tolist()
    assert numbers == [1, 0, 2**31 - 3, 2**31 - 2]


def test_a_key_that_begins_with_zeros_is_not_lost():
    keys = np.array([[3, 0]], np.uint64)
    keep_first_bits(keys)
    assert keys.tolist() == [[LONGEST, 0]]


@given(st.lists(st.lists(st.integers(0, TOP) | st.integers(0, 3), max_size=30), max_size=4))
def test_repetitions(collections):
    hashes = [np.sort(np.array(values, np.uint64)) for values in collections]
    counted = Counter(value for values in collections for value in values)
    expected = sum(counted.values()) - len(counted)
    for rows in (1, 3, 1000):
        assert disk_runs.repetitions(hashes, rows) == expected
