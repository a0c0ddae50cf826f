"""Decisions on the families of one block, by several threads."""

import numpy as np
import pytest

import fastlsh
from fastlsh.stages import decisions


@pytest.fixture(scope="module")
def texts():
    """Return 600 texts of families of 1 to 40 members, in a random order."""
    rng = np.random.default_rng(7)
    found = []
    while len(found) < 600:
        words = rng.integers(0, 10_000, 30).astype(str).tolist()
        for _ in range(int(rng.choice([1, 2, 3, 40], p=[0.4, 0.4, 0.15, 0.05]))):
            some = words.copy()
            for place in rng.integers(0, 30, int(rng.integers(0, 5))).tolist():
                some[place] = str(rng.integers(10_000))
            found.append(" ".join(some))
    return [found[i] for i in rng.permutation(600).tolist()]


@pytest.mark.parametrize("verify", ["exact", "signature"])
@pytest.mark.parametrize("block", [64, 4096])
def test_threads_and_groups_of_families_change_nothing(texts, verify, block, monkeypatch):
    found = []
    for threads, settled, prepared in ((1, 32, 1024), (4, 1, 1), (3, 7, 5)):
        monkeypatch.setattr(decisions, "BLOCK", block)
        monkeypatch.setattr(decisions, "SETTLED", settled)
        monkeypatch.setattr(decisions, "FAMILIES", prepared)
        result = fastlsh.deduplicate(texts, 0.6, verify=verify, threads=threads)
        found.append((result.kept_index.tolist(), result.similarity.tolist()))
    assert found[0] == found[1] == found[2]
    assert 100 < len(set(found[0][0])) < 500
