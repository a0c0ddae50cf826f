"""Links of sorted batches, and the families that they make, against sets in plain Python."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.stages import LinkState, UnionFind, link_sorted
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


# ---- families, from links in any order, by several workers

FAR = 2**63 - 1


def expected_families(links):
    """Return {document: smallest of its family} of those with company."""
    family = {}
    for a, b in links:
        if a != b:
            joined = family.get(a, {a}) | family.get(b, {b})
            family.update(dict.fromkeys(joined, joined))
    return {document: min(members) for document, members in family.items()}


def found_families(union):
    number, family = union.families()
    assert number.dtype == family.dtype == np.int64
    assert (np.diff(number) > 0).all()
    return dict(zip(number.tolist(), family.tolist(), strict=True))


near = st.integers(0, 19)
far = st.sampled_from([0, 1, 7, 2**31, 2**32, 2**62, FAR - 1, FAR])
links_and_size = st.one_of(
    st.tuples(st.lists(st.tuples(near, near), max_size=30), st.just(20) | st.none()),
    st.tuples(st.lists(st.tuples(far, far), max_size=30), st.none()),
)


@given(links_and_size, st.lists(st.integers(0, 2), min_size=30, max_size=30), st.booleans())
def test_equal_to_sets(case, worker, at_once):
    links, documents = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastlsh.stages.linking.PENDING", 2)
        unions = [UnionFind(documents), UnionFind(documents), UnionFind()]
        for which in range(3):
            ours = [link for link, by in zip(links, worker, strict=False) if by == which]
            for some in [ours] if at_once else [[link] for link in ours]:
                later, earlier = np.array(some, np.int64).reshape(-1, 2).T
                unions[which].unite(later, earlier)
        for order in ([0, 1, 2], [2, 1, 0]):
            first = pickle.loads(pickle.dumps(unions[order[0]]))
            for other in order[1:]:
                first.merge(unions[other])
            assert found_families(first) == expected_families(links)
            assert found_families(first) == expected_families(links)  # asking changes nothing
            again = UnionFind(documents)
            again.unite(*first.families())
            assert found_families(again) == expected_families(links)


@pytest.mark.parametrize("documents", [200_000, None])
def test_a_chain_and_a_star(documents):
    n = 200_000
    mixed = np.random.default_rng(0).permutation(n - 1)
    chain = UnionFind(documents)
    for part in np.array_split(mixed, 50):
        chain.unite(part, part + 1)
    assert (chain.families().family == 0).all()
    star = UnionFind(documents)
    star.unite(mixed, np.full(n - 1, n - 1))
    number, family = star.families()
    assert len(number) == n
    assert (family == 0).all()


def test_the_caller_may_use_his_arrays_again():
    union = UnionFind()
    later, earlier = np.array([5, 6]), np.array([1, 2])
    union.unite(later, earlier)
    later[:] = earlier[:] = 0
    assert found_families(union) == {1: 1, 2: 2, 5: 1, 6: 2}
    union.families().family[:] = 0
    assert found_families(union) == {1: 1, 2: 2, 5: 1, 6: 2}


def test_families_of_arrow_columns():
    pa = pytest.importorskip("pyarrow")
    union = UnionFind()
    union.unite(pa.chunked_array([[2**40], [7]]), pa.array([7, 3]))
    assert found_families(union) == {3: 3, 7: 3, 2**40: 3}


@pytest.mark.parametrize("documents", [5, None])
def test_nothing_is_united_by_a_refused_call(documents):
    union = UnionFind(documents)
    refused = [([1, 2], [0]), ([1, -1], [0, 0]), (np.array([1, 2**63], np.uint64), [0, 0])]
    refused += [([1, 5], [0, 0]), ([0, 1], [2, 2**40])] if documents else []
    for later, earlier in refused:
        refuses(ValueError, r"elements|2.63|outside of documents=5", union.unite, later, earlier)
    refuses(TypeError, "earlier", union.unite, [1], [0.5])
    assert len(union.families().number) == 0


@pytest.mark.parametrize("documents", [-1, 2**31])
def test_sizes_are_refused_before_they_take_memory(documents):
    refuses(ValueError, "documents must be between 0 and 2,147,483,647", UnionFind, documents)
    refuses(TypeError, r"documents must be an integer, got 2\.5", UnionFind, 2.5)


def traced(documents, numbers):
    """Return (bytes when empty, most bytes while numbers are united in pairs, bytes at the end)."""
    tracemalloc.start()
    union = UnionFind(documents)
    empty = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for part in np.array_split(numbers.reshape(-1, 2), 20):
        union.unite(part[:, 0], part[:, 1])
    most = tracemalloc.get_traced_memory()[1]
    union.merge(UnionFind())
    assert len(union.families().number) == len(numbers)
    end = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return empty, most, end


def test_memory_of_families():
    company = 300_000
    numbers = np.random.default_rng(0).permutation(company)
    empty, most, _ = traced(500_000, numbers)
    assert 2_000_000 <= empty < 2_100_000
    assert most < 2_000_000 + 4 * company  # a twentieth of the links at a time
    empty, most, end = traced(None, numbers)
    assert empty < 10_000
    assert most < 116 * company
    assert end < 16 * company + 10_000
