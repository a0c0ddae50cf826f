"""Sorting in parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.candidates import RowBlocks
from fastlsh.candidates import keys as sorting


@given(
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40), max_size=8),
    st.integers(1, 30),
    st.integers(1, 9),
)
def test_sorting_in_parts(blocks, part, chunk):
    keys = [np.array(block, np.int64) for block in blocks]
    found = RowBlocks(np.int64, np.float64, np.bool_)
    for block in keys:
        found.append(block, block / 2, block % 2 == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "PART", part)
        patch.setattr(sorting, "CHUNK", chunk)
        patch.setattr(sorting, "SAMPLE", 7)
        key, half, even = found.take_sorted()
    expected = np.sort(np.concatenate([np.empty(0, np.int64), *keys]))
    assert [len(column) for column in found.take_sorted()] == [0, 0, 0]
    assert key.dtype == np.int64
    assert np.array_equal(key, expected)
    assert np.array_equal(half, expected / 2)
    assert np.array_equal(even, expected % 2 == 0)


def test_no_part_is_much_larger_than_others(monkeypatch):
    sizes = []

    def recorded(columns):
        sizes.append(len(columns[0]))
        return columns

    monkeypatch.setattr(sorting, "PART", 1000)
    monkeypatch.setattr(sorting, "_sorted", recorded)
    codes = np.random.default_rng(0).permutation(100_000) ** 3
    found = RowBlocks(np.int64)
    for block in np.array_split(codes, 7):
        found.append(block)
    found.take_sorted()
    assert sum(sizes) == 100_000
    assert max(sizes) < 1500
