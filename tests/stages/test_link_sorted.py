"""Sorted batches of a band against buckets in a dict."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.stages import LinkState, link_sorted
from refusals import refuses
from running import peak_memory

keys_of_rows = st.lists(st.sampled_from([0, 0, 1, 2, 3, 2**63 - 1, 2**63, 2**64 - 1]))


def linked(keys, numbers, borders=()):
    """Return the links of all batches as pairs of integers."""
    state, found = None, []
    for start, stop in zip([0, *borders], [*borders, len(keys)], strict=True):
        before = state
        links, state = link_sorted(keys[start:stop], numbers[start:stop], state)
        again, same = link_sorted(keys[start:stop], numbers[start:stop], before)
        assert (same, again.later.tolist()) == (state, links.later.tolist())
        state = pickle.loads(pickle.dumps(state))
        assert links.later.dtype == links.earlier.dtype == np.int64
        found += zip(links.later.tolist(), links.earlier.tolist(), strict=True)
    assert state.rows == len(keys)
    return found


@given(keys_of_rows, st.lists(st.integers(0, 60), max_size=4), st.booleans(), st.booleans())
def test_equal_to_buckets(keys, borders, signed, far):
    keys = np.array(keys, np.uint64)
    numbers = np.arange(len(keys)) * (2**40 if far else 1)
    buckets, expected = {}, set()
    for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
        if key and key in buckets:
            expected.add((number, buckets[key]))
        buckets[key] = number
    keys = keys.view(np.int64) if signed else keys
    order = np.lexsort((numbers, keys))
    borders = sorted(min(border, len(keys)) for border in borders)
    found = linked(keys[order], numbers[order], borders)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_arrow_columns():
    pa = pytest.importorskip("pyarrow")
    keys = pa.chunked_array([pa.array([4, 4], pa.uint64()), pa.array([2**64 - 1], pa.uint64())])
    links, state = link_sorted(keys, pa.array([1, 2**62, 0]))
    assert (links.later.tolist(), links.earlier.tolist()) == ([2**62], [1])
    assert state == LinkState(3, 2**64 - 1, 0, "<u8")
    refuses(TypeError, "without nulls", link_sorted, keys, pa.array([1, None, 3]))


@pytest.mark.parametrize(
    ("keys", "numbers", "row"),
    [
        ([5, 4], [0, 1], "row 1 has (4, 1) after (5, 0)"),
        ([5, 5], [3, 2], "row 1 has (5, 2) after (5, 3)"),
        ([5, 5], [3, 3], "row 1 has (5, 3) after (5, 3)"),
        ([0, 0], [3, 2], "row 1"),
        ([1, 2, 3, 3, 2], [9, 8, 7, 8, 9], "row 4"),
    ],
)
def test_broken_order_is_refused_within_batches_and_between_them(keys, numbers, row):
    for border in range(len(keys)):
        with pytest.raises(ValueError, match="sorted by key") as raised:
            linked(np.array(keys), np.array(numbers), [border])
        assert row in str(raised.value)


@pytest.mark.parametrize(
    ("keys", "numbers", "error", "message"),
    [
        ([1, 2], [1], ValueError, "numbers has 1 elements, expected 2"),
        ([1, 2], [1, -2], ValueError, "got -2 in row 1"),
        ([1.0], [1], TypeError, "keys must be a column of integers"),
        ([[1]], [1], TypeError, "2 dimensions"),
        (["1"], [1], TypeError, "keys"),
        ([2**70], [1], TypeError, "keys"),
        (5, 5, TypeError, "0 dimensions"),
    ],
)
def test_refused(keys, numbers, error, message):
    refuses(error, message, link_sorted, keys, numbers)


def test_keys_stay_of_one_type():
    _, state = link_sorted(np.array([1], np.uint64), [0])
    with pytest.raises(ValueError, match="keys were uint64 so far, got int64"):
        link_sorted(np.array([1], np.int64), [1], state)
    assert link_sorted([], [], state)[1] == state
    assert link_sorted(np.array([1], ">u8"), [1], state)[0].earlier.tolist() == [0]


def test_memory_is_that_of_the_batch():
    n = 100_000
    keys, numbers = np.repeat(np.arange(1, n // 2 + 1, dtype=np.uint64), 2), np.arange(n)
    _, state = link_sorted([1], [0])
    keys += np.uint64(1)
    state = state._replace(dtype=keys.dtype.str)
    peak = peak_memory(lambda: link_sorted(keys, numbers, state))
    assert 16 * n < peak < 60 * n + 10_000
