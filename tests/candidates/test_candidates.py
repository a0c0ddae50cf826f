"""Band keys, candidate pairs, and rows that are sorted in parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import LSHParams, TooManyPairsError, band_keys, candidate_pairs
from fastlsh.candidates import RowBlocks, candidate_blocks, find_families
from fastlsh.candidates import keys as sorting
from refusals import refuses

ONES = 2**32 - 1

# Rows over very few values: most documents meet somewhere.
signature_lists = st.integers(1, 8).flatmap(
    lambda k: st.lists(
        st.one_of(
            st.just([ONES] * k),
            st.lists(st.sampled_from([0, 1, ONES]), min_size=k, max_size=k),
        ),
        max_size=20,
    ).map(lambda rows: np.array(rows, np.uint32).reshape(-1, k))
)


@st.composite
def banded(draw):
    signatures = draw(signature_lists)
    rows = draw(st.integers(1, signatures.shape[1]))
    return signatures, LSHParams(draw(st.integers(1, signatures.shape[1] // rows)), rows)


@given(banded())
def test_keys(case):
    signatures, params = case
    found = band_keys(signatures, params)
    assert found.dtype == np.uint64
    assert found.shape == (params.bands, len(signatures))
    assert found.tolist() == oracle.band_keys(signatures.tolist(), params.bands, params.rows)


@given(banded())
def test_candidates(case):
    signatures, params = case
    found = candidate_pairs(signatures, params)
    expected = oracle.candidate_pairs(signatures.tolist(), params.bands, params.rows)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected
    assert np.isnan(found.similarity).all()
    assert found.documents == len(signatures)


@given(banded(), st.integers(1, 5), st.data())
def test_blocks_of_any_size(case, room, data):
    signatures, params = case
    order = np.array(data.draw(st.permutations(range(len(signatures)))), np.int64)
    order = order[: data.draw(st.integers(0, len(order)))]
    place = np.zeros(len(signatures), np.int64)
    place[order] = np.arange(len(order))
    near = find_families(signatures, params, order)
    found = []
    for left, right in candidate_blocks(signatures, params, near, room=room):
        assert len(left) == len(right) <= room
        assert (left < right).all()
        a, b = near.documents[left], near.documents[right]
        assert (place[a] < place[b]).all()
        found += zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True)
    expected = oracle.candidate_pairs(signatures.tolist(), params.bands, params.rows)
    chosen = set(order.tolist())
    assert sorted(found) == [pair for pair in expected if chosen.issuperset(pair)]
    assert set(near.documents.tolist()) == {d for pair in found for d in pair}


@given(banded(), st.integers(0, 40))
def test_more_pairs_than_allowed(case, most):
    signatures, params = case
    expected = oracle.candidate_pairs(signatures.tolist(), params.bands, params.rows)
    near = find_families(signatures, params)
    blocks = candidate_blocks(signatures, params, near, max_pairs=most)
    if len(expected) > most:
        refuses(TooManyPairsError, "deduplicate", list, blocks)
    else:
        assert sum(len(left) for left, _ in blocks) == len(expected)


def test_columns_beyond_the_bands_are_not_used():
    signatures = np.array([[1, 2, 3], [1, 2, 4], [5, 6, 3]], np.uint32)
    (pair,) = candidate_pairs(signatures, LSHParams(1, 2))
    assert pair[:2] == (0, 1)


def test_other_memory_orders():
    values = np.random.default_rng(0).integers(0, 3, (20, 12), np.uint32)
    params = LSHParams(3, 4)
    expected = band_keys(values, params)
    misaligned = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:].view(np.uint32)
    readonly = values.copy()
    readonly.flags.writeable = False
    twice = np.repeat(values, 2, axis=0)[::2]
    for form in (np.asfortranarray(values), misaligned.reshape(20, 12), readonly, twice):
        assert np.array_equal(band_keys(form, params), expected)
        assert len(candidate_pairs(form, params)) == len(candidate_pairs(values, params))


@pytest.mark.parametrize("function", [band_keys, candidate_pairs])
@pytest.mark.parametrize(
    ("signatures", "error"),
    [
        ([[1, 2]], TypeError),
        (np.zeros((2, 4), np.uint64), TypeError),
        (np.zeros((2, 4), np.int32), TypeError),
        (np.zeros(4, np.uint32), ValueError),
        (np.zeros((2, 0), np.uint32), ValueError),
        (np.zeros((2, 3), np.uint32), ValueError),
        (np.zeros((2, 4, 1), np.uint32), ValueError),
    ],
)
def test_bad_signatures(function, signatures, error):
    refuses(error, "signatures", function, signatures, LSHParams(2, 2))


@pytest.mark.parametrize("function", [band_keys, candidate_pairs])
@pytest.mark.parametrize("params", [None, (2, 2), 4, "2x2"])
def test_params_of_another_type(function, params):
    with pytest.raises(TypeError, match=r"params must be LSHParams\(bands, rows\), got"):
        function(np.zeros((2, 4), np.uint32), params)


def test_no_documents():
    none = np.empty((0, 8), np.uint32)
    assert band_keys(none, LSHParams(2, 4)).shape == (2, 0)
    assert len(candidate_pairs(none, LSHParams(2, 4))) == 0


# ---- sorting


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
