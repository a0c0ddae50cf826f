"""docs/systems/lecture.md: the worked tables of the textbook method."""

import importlib.util
from itertools import permutations

import pytest

from fastlsh import LSHParams, MinHasher, Shingler, jaccard, textbook
from pages import run_here

SETS = [{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return run_here("docs/systems/lecture.md", tmp_path_factory.mktemp("lecture"))


def test_page_runs(page):
    assert page.ran == 12 - (importlib.util.find_spec("matplotlib") is None)


def test_shingles():
    assert set(Shingler(size=2).shingles("abcab")) == {"ab", "bc", "ca"}
    rose = "a rose is a rose is a rose"
    assert len(set(Shingler(unit="word", size=4).shingles(rose))) == 3
    assert len(textbook.shingles(rose.split(), 4)) == 3
    two = Shingler(size=2)
    shared, all_of_them = (
        operation(set(two.shingles("Nadal")), set(two.shingles("Nadia")))
        for operation in (set.intersection, set.union)
    )
    assert (len(shared), len(all_of_them)) == (2, 6)
    assert jaccard("Nadal", "Nadia", two) == 1 / 3


def test_min_hash_by_rows():
    functions = [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5]
    signatures = textbook.signatures_by_hashing(SETS, functions)
    assert [s[0] for s in signatures] == [1, 3, 0, 1]
    assert [s[1] for s in signatures] == [0, 2, 0, 0]


def test_all_permutations_give_the_similarity(page):
    every = textbook.signatures_by_permutation(page.names["matrix"], permutations(range(5)))
    for a in range(4):
        for b in range(4):
            expected = textbook.jaccard(SETS[a], SETS[b])
            assert textbook.agreement(every[a], every[b]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("similarity", "probability", "digits"),
    [(0.2, 0.006, 3), (0.3, 0.047, 3), (0.4, 0.186, 3), (0.5, 0.470, 3), (0.6, 0.802, 3),
     (0.7, 0.975, 3), (0.8, 0.9996, 4)],
)  # fmt: skip
def test_curve(similarity, probability, digits):
    assert round(LSHParams(20, 5).probability(similarity), digits) == probability


def test_one_pair_in_2800_is_missed():
    assert 2800 <= 1 / (1 - LSHParams(20, 5).probability(0.8)) < 2850


def test_memory():
    assert MinHasher(100).signatures(["text"] * 1000).nbytes * 100 == 40_000_000


def test_both_verifications(page):
    found = page.names["found"]
    pairs = {k: set(zip(p.left.tolist(), p.right.tolist(), strict=True)) for k, p in found.items()}
    assert pairs["exact"] <= pairs["none"]
    assert pairs["signature"] <= pairs["none"]
    assert min(found["exact"].similarity) >= 0.8
