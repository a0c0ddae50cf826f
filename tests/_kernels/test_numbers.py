"""Hashes as dense numbers, sets of them as words, and their similarity."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import oracle
from fastlsh._kernels.sets._sets import Numbers, pack_numbers

hashes = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 20),  # crowded in the same slots
    st.sampled_from([0, 2**32, 2**63, 2**64 - 1]),
)


def joined(lists, gap=0):
    """Return lists side by side, with gaps between them, where they begin and how long they are."""
    count = np.array([len(one) for one in lists], np.int64)
    start = np.cumsum(count + gap) - count
    values = np.full(int(count.sum()) + gap * len(lists), 77, np.uint64)
    for one, first in zip(lists, start.tolist(), strict=True):
        values[first : first + len(one)] = one
    return values, start, count


def packed(lists):
    """Return sets of numbers as the kernels take them: words, start and count."""
    values, start, count = joined(lists)
    words = np.empty(len(lists) + 2 * len(values), np.uint64)
    place, size = np.empty_like(count), np.empty_like(count)
    end = pack_numbers(values, start, count, words, place, size)
    return words[:end], place, size


DRAWN = np.random.default_rng(0).integers(0, 2**64, 200_000, np.uint64)
MANY = np.split(np.concatenate([DRAWN, DRAWN[::-1]]), 10)
"""Beyond the first room, several times over."""


@example(batches=[[batch.tolist()] for batch in MANY], gap=0)
@given(st.lists(st.lists(st.lists(hashes), max_size=5), max_size=5), st.integers(0, 2))
def test_numbers_are_dense_and_by_first_occurrence(batches, gap):
    numbers = Numbers()
    expected = {}
    for lists in batches:
        values, start, count = joined(lists, gap)
        numbers.replace(values, start, count)
        wanted = [[expected.setdefault(h, len(expected) + 1) for h in one] for one in lists]
        assert values.tolist() == joined(wanted, gap)[0].tolist()
        assert len(numbers) == len(expected)
    numbers.clear()
    assert len(numbers) == 0
    again = np.array([5, 7, 5], np.uint64)
    numbers.replace(again, np.array([0]), np.array([3]))
    assert again.tolist() == [1, 2, 1]


@given(st.lists(st.lists(st.lists(hashes, max_size=30), max_size=4), min_size=1, max_size=5))
def test_each_family_has_its_own_numbers(families):
    lists = [one for family in families for one in family]
    values, start, count = joined(lists, 0)
    numbers = Numbers()
    bounds = np.cumsum([0, *map(len, families)])
    numbers.replace(values, start, count, bounds)
    wanted = []
    for family in families:
        expected = {}
        wanted += [[expected.setdefault(h, len(expected) + 1) for h in one] for one in family]
    assert values.tolist() == joined(wanted, 0)[0].tolist()


def test_numbers_given_on_threads():
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 3000, 5000).astype(np.uint64) << 40 for _ in range(16)]
    numbers = Numbers()

    def replaced(batch):
        values = batch.copy()
        numbers.replace(values, np.array([0]), np.array([len(values)]))
        return values

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(replaced, batches))
    pairs = {
        pair
        for batch, values in zip(batches, found, strict=True)
        for pair in zip(batch.tolist(), values.tolist(), strict=True)
    }
    assert len(pairs) == len({h for h, _ in pairs}) == len({n for _, n in pairs}) == len(numbers)
    assert max(n for _, n in pairs) == len(numbers)


near = st.integers(0, 200)
far = st.sampled_from([4095, 4096, 262_143, 262_144, 600_000])


@given(st.lists(st.lists(st.one_of(near, near, far), max_size=150), max_size=5))
def test_packed_sets(lists):
    words, place, size = packed(lists)
    at = 0
    for one, first, members in zip(lists, place.tolist(), size.tolist(), strict=True):
        assert first == at
        assert members == len(set(one))
        entries = words[at + 1 : at + 1 + 2 * int(words[at])].tolist()
        at += 1 + len(entries)
        assert entries[::2] == sorted({n // 64 for n in one})
        found = {
            64 * word + bit
            for word, bits in zip(entries[::2], entries[1::2], strict=True)
            for bit in range(64)
            if bits >> bit & 1
        }
        assert found == set(one)
    assert at == len(words)


def awkward_sets():
    """Return sets of numbers of every size around words and steps, of every overlap."""
    draw = random.Random(0)
    sets = [set(), {1}, {1}, {700_000}, set(range(1, 5000)), set(range(64, 128))]
    for n in [1, 2, 63, 64, 65, 1000, 3000]:
        for overlap in sorted({0, 1, n // 2, n * 4 // 5, n - 1, n}):
            sets += [set(range(n)), set(range(overlap)) | set(range(5000, 5000 + n - overlap))]
        sets.append(set(draw.sample(range(4 * n), n)))
        sets.append({64 * i + draw.randrange(64) for i in range(n)})  # one in a word
        sets.append({100_000 + i for i in range(n)})
    return sets


def test_similarity_of_awkward_sets(isa):
    sets = awkward_sets()
    words, start, count = packed([sorted(s) for s in sets])
    left, right = (side.ravel().copy() for side in np.mgrid[: len(sets), : len(sets)])
    exact = [oracle.jaccard(sets[a], sets[b]) for a, b in zip(left, right, strict=True)]
    out = np.empty(len(left))
    some = sorted(set(exact))[1:]
    for threshold in [0.0, 1e-9, 0.5, 0.8, 1.0, *some[:: len(some) // 10 + 1]]:
        isa.number_jaccard(words, start, count, left, right, threshold, out)
        assert out.tolist() == [j if j >= threshold else -1.0 for j in exact]
