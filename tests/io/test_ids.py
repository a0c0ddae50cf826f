"""Ids that are made when they are asked for: in every respect like a list of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.io import read
from fastlsh.io.ids import Ids
from files import put

pa = pytest.importorskip("pyarrow")

VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from(["a", "b", "x:1", 1.0, True]))
TYPED = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1).map(
        lambda values: pa.chunked_array([pa.array(values, pa.int64())])
    ),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1).map(
        lambda values: pa.chunked_array([values[:1], values[1:]], pa.string())
    ),
    st.lists(VALUES, min_size=1),
    st.integers(1, 4),
)
PIECES = st.lists(st.tuples(st.sampled_from("xy"), TYPED), max_size=5)


def built(pieces):
    """Return the ids, and the list that they stand for."""
    ids, expected, rows = Ids(), [], {"x": 0, "y": 0}
    for path, values in pieces:
        count = values if isinstance(values, int) else len(values)
        numbers = rows[path] + 1 + np.arange(count)
        rows[path] += count
        ids.add(path, None if isinstance(values, int) else values, numbers)
        listed = [None] * count if isinstance(values, int) else values
        listed = listed.to_pylist() if hasattr(listed, "to_pylist") else listed
        expected += [
            f"{path}:{row}" if value is None else value
            for value, row in zip(listed, numbers.tolist(), strict=True)
        ]
    return ids, expected


@given(pieces=PIECES, start=st.integers(-5, 20), stop=st.integers(-5, 20))
def test_like_a_list(pieces, start, stop):
    ids, expected = built(pieces)
    assert len(ids) == len(expected)
    assert ids == expected
    assert list(ids) == expected
    assert ids[start:stop] == expected[start:stop]
    assert ids[::-2] == expected[::-2]
    assert [ids[i] for i in range(-len(ids), len(ids))] == expected * 2
    with pytest.raises(IndexError):
        ids[len(ids)]
    assert ids.repeated() == len(expected) - len(set(expected))
    assert list(ids + ids) == expected + expected
    assert bool(ids) == bool(expected)


@given(pieces=PIECES, seed=st.integers(0, 2**32 - 1))
def test_some_of_them_in_any_order(pieces, seed):
    ids, expected = built(pieces)
    if not expected:
        return
    positions = np.random.default_rng(seed).integers(0, len(expected), 20)
    assert ids.take(positions) == [expected[i] for i in positions.tolist()]


def test_not_equal():
    ids, _ = built([("x", 2)])
    assert ids != ["x:1"]
    assert ids != ["x:1", "x:3"]
    assert ids != "x"


def test_the_same_file_twice(here):
    put("a.jsonl", '{"text": "a"}\n' * 3)
    assert read(["a.jsonl", "a.jsonl"]).repeated_ids == 3


def test_priority_that_is_no_number(here):
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"text": ["a", "b"], "q": [float("nan"), 2.0], "s": ["1", "x"]}), "a.parquet"
    )
    assert read("a.parquet", priority="q").missing_priorities == 1
    with pytest.raises(ValueError, match=r"row 2: 's' is 'x', neither a number nor a date"):
        read("a.parquet", priority="s")
    with pytest.raises(ValueError, match=r"no row has a priority: no column 'z' \(there is: 't"):
        read("a.parquet", priority="z")
    put("a.txt", "a")
    with pytest.raises(ValueError, match=r"plain text has no column 'q'"):
        read("a.txt", priority="q")
