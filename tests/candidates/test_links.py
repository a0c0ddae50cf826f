"""Links, families and pairs: the kernels against dictionaries, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import LSHParams, band_keys
from fastlsh._kernels.candidates import _candidates
from fastlsh._kernels.minhash import _signatures
from fastlsh.candidates import Linker, find_families, link_bands
from refusals import refuses

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
    link_bands(
        signatures,
        LSHParams(4, 1),
        lambda band, links: found.update({band: pairs_of(links)}),
        keys=keys,
    )
    chain = [(i + 1, i) for i in range(9)]
    assert found == {0: chain, 1: chain, 2: [], 3: []}


def test_keys_into_a_part_of_an_array():
    signatures = np.random.default_rng(0).integers(0, 9, (20, 12), np.uint32)
    whole = np.zeros((3, 40), np.uint64)
    _signatures.band_keys(signatures, 0, 4, whole[:, 7:27])
    assert np.array_equal(whole[:, 7:27], band_keys(signatures, LSHParams(3, 4)))
    assert not whole[:, :7].any()
    assert not whole[:, 27:].any()
    refuses(ValueError, "side by side", _signatures.band_keys, signatures, 0, 4, whole[:, ::2])
    with pytest.raises(ValueError, match="side by side"):
        _signatures.band_keys(signatures, 0, 4, np.zeros((20, 3), np.uint64).T)


def int32(*values):
    return np.array(values, np.int32)


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
    _candidates.chain_depths(int32(*previous), totals)
    assert tuple(totals.tolist()) == found
