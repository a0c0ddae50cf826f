"""Band keys, candidate pairs, the links and families that make them, and rows sorted in parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from fastlsh import LSHParams, TooManyPairsError, band_keys, candidate_pairs
from fastlsh._kernels.candidates import _candidates
from fastlsh.candidates import Linker, RowBlocks, candidate_blocks, find_families, link_bands
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
def test_keys_and_candidates(case):
    """Columns beyond the bands are not used."""
    signatures, params = case
    rows, banding = signatures.tolist(), (params.bands, params.rows)
    keys = band_keys(signatures, params)
    assert keys.dtype == np.uint64
    assert keys.shape == (params.bands, len(signatures))
    assert keys.tolist() == oracle.band_keys(rows, *banding)
    found = candidate_pairs(signatures, params)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == oracle.candidate_pairs(rows, *banding)
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
    message = r"params must be LSHParams\(bands, rows\), got"
    for params in (None, (2, 2), 4, "2x2"):
        refuses(TypeError, message, function, np.zeros((2, 4), np.uint32), params)


# ---- links and families, against dictionaries

# Few keys, so that many are equal; the largest shares its counter and its slot with others.
some_keys = st.lists(
    st.sampled_from([0, 1, 2**32, 2**32 + 1, 2**63, 2**64 - 2, 2**64 - 1]), max_size=60
).map(lambda keys: np.array(keys, np.uint64))


def links_of(keys):
    """Return [(later, earlier)] by a dictionary."""
    latest, found = {}, []
    for i, key in enumerate(keys.tolist()):
        if key and key in latest:
            found.append((i, latest[key]))
        latest[key] = i
    return found


def pairs_of(links):
    return list(zip(*(side.tolist() for side in links), strict=True))


@given(some_keys)
def test_links(keys):
    linker = Linker(len(keys))
    for _ in range(2):  # the memory is used again
        links, empty = linker.link(keys)
        assert pairs_of(links) == links_of(keys)
        assert empty == keys.tolist().count(0)
    linker.link(np.full(len(keys), 7, np.uint64))
    assert pairs_of(links) == links_of(keys)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 31, 32, 33, 1000, 70_000])
@pytest.mark.parametrize("different", [1, 10, 10**9])
def test_links_of_many(n, different):
    draw = np.random.default_rng(n)
    keys = draw.integers(0, 2**64, min(n, different), np.uint64)[draw.integers(0, different, n) % n]
    keys = keys if different > 1 else np.full(n, 7, np.uint64)
    assert pairs_of(Linker(n).link(keys)[0]) == links_of(keys)


@given(st.integers(1, 30), st.data())
def test_families(n, data):
    person = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(person, person), max_size=40))
    family = np.arange(n, dtype=np.int32)
    left, right = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    _candidates.unite(family, left, right)
    _candidates.families(family)
    first = list(range(n))
    for a, b in pairs * n:
        first[a] = first[b] = min(first[a], first[b])
    assert family.tolist() == first


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("made", [0, 1, 2, 5, 6, 9])
def test_keys_that_were_made_already(made, threads, monkeypatch):
    monkeypatch.setattr("fastlsh.candidates.links.FEW", 0)
    signatures = np.random.default_rng(0).integers(0, 3, (300, 24), np.uint32)
    signatures[7] = 2**32 - 1
    params = LSHParams(6, 4)
    keys = band_keys(signatures, LSHParams(min(made, 6), 4)) if made else None
    if made > 6:  # of more bands than are linked
        keys = np.vstack([keys, keys[:3]])
    for order in (None, np.random.default_rng(1).permutation(300)[:250]):
        expected = find_families(signatures, params, order)
        found = find_families(signatures, params, order, keys=keys, threads=threads)
        assert np.array_equal(found.documents, expected.documents)
        assert np.array_equal(found.previous, expected.previous)
        chosen = range(300) if order is None else order.tolist()
        assert found.empty == expected.empty == (7 in chosen)


def test_keys_that_are_given_are_used():
    signatures = np.arange(40, dtype=np.uint32).reshape(10, 4)  # nothing is alike
    keys = np.ones((2, 10), np.uint64)
    found = {}
    link_bands(signatures, LSHParams(4, 1), found.__setitem__, keys=keys)
    chain = [(i + 1, i) for i in range(9)]
    assert [pairs_of(found[band]) for band in range(4)] == [chain, chain, [], []]


def test_a_call_that_finds_nothing_new_returns():
    signatures = np.zeros((400, 64), np.uint32)  # each pair is found in the first band
    families = find_families(signatures, LSHParams(64, 1))
    left, right = np.empty(1 << 20, np.int32), np.empty(1 << 20, np.int32)
    at = np.array([0, 0, -1])
    calls = 0
    while at[0] < 400:
        _candidates.emit_pairs(
            signatures, 1, families.documents, families.previous, at, 400, left, right, 0, 10_000
        )
        calls += 1
    visited = 400 * 399 // 2 * 64 * 65 // 2
    assert 0.9 * visited / 10_000 < calls < 1.1 * visited / 10_000


@pytest.mark.parametrize(
    ("previous", "found"),
    [
        ([], (0, 1, -1)), ([-1], (0, 1, -1)), ([-1, -1], (0, 1, -1)), ([-1, 0], (1, 2, 1)),
        ([-1, 0, -1, 2], (2, 2, 1)), ([-1, 0, 1, -1], (3, 3, 2)),
    ],
)  # fmt: skip
def test_the_largest_bucket(previous, found):
    totals = np.empty(3, np.int64)
    _candidates.chain_depths(np.array(previous, np.int32), totals)
    assert tuple(totals.tolist()) == found


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
