"""Sets of families, numbered and made in parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from combinations import covering
from fastlsh import Shingler
from fastlsh.sets import ShingleSets
from fastlsh.texts import as_texts
from strategies import little_room

SHINGLER = Shingler(size=3)


def shingle_sets(texts, families, threads=1):
    documents = np.arange(len(texts))
    lengths = np.array([len(text) for text in texts])
    return ShingleSets(as_texts(texts), SHINGLER, documents, np.array(families), lengths, threads)


def some_texts(seed, n=60, most=40):
    draw = np.random.default_rng(seed)
    return ["".join(draw.choice(list("abcd"), draw.integers(0, most))) for _ in range(n)]


@pytest.mark.parametrize(
    ("room", "batch", "threads"),
    covering([20, 60, 200, 2000, 1 << 22], [1, 7, 100, 1000], [1, 3]),
)
def test_families_of_any_size_in_any_room(room, batch, threads):
    # Five families, of which pairs are asked for in turns, in several calls.
    texts = some_texts(room)
    families = [0, 2, 22, 42, 57]
    size = np.diff([*families, len(texts)])
    draw = np.random.default_rng(room + batch)
    truth = oracle.Oracle(texts, size=3, num_perm=1)
    with little_room(batch, room):
        sets = shingle_sets(texts, families, threads)
        for _ in range(6):
            chosen = draw.integers(0, len(families), 80)
            left, right = draw.integers(0, size[chosen], (2, 80)) + np.array(families)[chosen]
            found = sets.similarities(left, right, 0.3)
            exact = [truth.similarity(a, b) for a, b in zip(left, right, strict=True)]
            assert found.tolist() == [s if s >= 0.3 else -1.0 for s in exact]


@given(st.lists(st.text("ab", max_size=12), min_size=2, max_size=12), st.integers(2, 60))
def test_one_family(texts, room):
    left, right = (side.ravel() for side in np.mgrid[: len(texts), : len(texts)])
    truth = oracle.Oracle(texts, size=3, num_perm=1)
    with little_room(2, room):
        found = shingle_sets(texts, [0]).similarities(left, right, 0.0)
    assert found.tolist() == [truth.similarity(a, b) for a, b in zip(left, right, strict=True)]


def test_numbers_are_kept_from_part_to_part():
    # A family that is asked for piece by piece: nothing is made twice.
    texts = some_texts(1)
    made = []
    with little_room(10, 1 << 22):
        sets = shingle_sets(texts, [0])
        make = sets._make

        def recorded(places, numbers):
            made.extend(places.tolist())
            return make(places, numbers)

        sets._make = recorded
        for last in (10, 35, 60):
            sets.ensure(np.arange(last - 10, last))
        sets.ensure(np.arange(60))
    assert sorted(made) == list(range(60))
