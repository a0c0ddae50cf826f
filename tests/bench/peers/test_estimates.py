"""The sets of which similarities are estimated, and how estimates are judged."""

import math

import numpy as np
import pytest

from bench.peers import estimates


def jaccard(left, right):
    left, right = set(left.split()), set(right.split())
    return len(left & right) / len(left | right)


@pytest.mark.parametrize("size", [1, 20, 100])
@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.8])
def test_the_sets_have_the_stated_size_and_similarity(size, similarity):
    made = list(estimates.blocks(size, similarity, 30, seed=0))
    assert sum(len(block.left) for block in made) == 30
    for block in made:
        for left, right in zip(block.left, block.right, strict=True):
            assert len(set(left.split())) == len(set(right.split())) == size
            assert jaccard(left, right) == pytest.approx(block.similarity)
    assert abs(made[0].similarity - similarity) <= 1 / size


def test_the_sets_come_in_blocks_that_fit(monkeypatch):
    whole = next(estimates.blocks(20, 0.5, 7, seed=3))
    monkeypatch.setattr(estimates, "BLOCK", 60)
    parts = list(estimates.blocks(20, 0.5, 7, seed=3))
    assert [len(part.left) for part in parts] == [3, 3, 1]
    assert parts[0].similarity == whole.similarity


def test_ideal_estimates_have_ratio_one_and_no_bias():
    rng = np.random.default_rng(0)
    cells = {j: rng.binomial(128, j, 20_000) / 128 - j for j in (0.2, 0.5, 0.8)}
    found = estimates.accuracy(cells)
    assert found["pairs"] == 60_000
    assert abs(found["RMSE / ideal"] - 1) < 5 * found["standard error"]
    assert abs(found["z farthest from 0"]) < 4.2


def test_a_bias_and_a_larger_error_are_seen():
    rng = np.random.default_rng(1)
    biased = rng.binomial(128, 0.5, 5_000) / 128 - 0.5 + 0.01
    assert estimates.accuracy({0.5: biased})["z farthest from 0"] > 10
    few = rng.binomial(64, 0.5, 5_000) / 64 - 0.5
    assert estimates.accuracy({0.5: few})["RMSE / ideal"] == pytest.approx(math.sqrt(2), rel=0.05)


def test_exact_estimates_have_no_error():
    assert estimates.bias_z(np.zeros(3)) == 0
