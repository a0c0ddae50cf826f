"""docs/systems/lecture.md: the worked tables of the textbook method."""

import importlib.util
from itertools import permutations

import pytest

from fastlsh import textbook

SETS = [{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]


def test_page_runs(page):
    assert page.ran == 22 - 2 * (importlib.util.find_spec("matplotlib") is None)


def test_all_permutations_give_the_similarity(page):
    every = textbook.signatures_by_permutation(page.names["matrix"], permutations(range(5)))
    for a in range(4):
        for b in range(4):
            expected = textbook.jaccard(SETS[a], SETS[b])
            assert textbook.agreement(every[a], every[b]) == pytest.approx(expected)


def test_both_verifications(page):
    found = page.names["found"]
    pairs = {k: set(zip(p.left.tolist(), p.right.tolist(), strict=True)) for k, p in found.items()}
    assert pairs["exact"] <= pairs["none"]
    assert pairs["signature"] <= pairs["none"]
    assert min(found["exact"].similarity) >= 0.8


def test_signatures_first_and_then_the_documents(page):
    assert set(page.names["verified"]) <= set(page.names["similar"])
    found = page.names["found"]["signature"]
    assert page.names["similar"] == list(
        zip(found.left.tolist(), found.right.tolist(), strict=True)
    )
