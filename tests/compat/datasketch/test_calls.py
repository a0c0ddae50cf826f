"""Thousands of calls, most of them with odd arguments, answered as datasketch answers them."""

import importlib
import io
import json
import pickle
import sys

import numpy as np
import pytest

from datasketch_calls import CALLS, RECORDED, digest, outcome
from fastlsh.compat import datasketch as ours
from fastlsh.compat.datasketch import lsh, storage
from fastlsh.compat.datasketch.lshensemble_partition import optimal_partitions

with_numpy_2 = pytest.mark.skipif(
    np.__version__ < "2" or sys.byteorder != "little",
    reason="recorded with numpy 2, whose conversions raise more, on little-endian machines",
)


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("datasketch", "2.0")


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_call_is_recorded(recorded):
    assert {name: set(of_name) for name, of_name in CALLS.items()} == {
        name: set(of_name) for name, of_name in recorded.items()
    }


@with_numpy_2
@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_recorded(recorded, name):
    found = {label: digest(outcome(call, ours)) for label, call in CALLS[name].items()}
    assert found == recorded[name]


@with_numpy_2
@pytest.mark.parametrize("name", CALLS)
def test_answers_are_datasketchs(name, theirs):
    for label, call in CALLS[name].items():
        assert outcome(call, ours) == outcome(call, theirs), label


ALWAYS_RAISE = {
    "ensemble: index again", "MinHash(unknown)", "bulk(unknown)", "union of one", "union of none",
}  # fmt: skip
"""Calls none of whose arguments is right."""


def test_most_calls_have_answers(recorded):
    raising = {
        name
        for name, answers in recorded.items()
        if len(answers) > 1 and not any(one.startswith("=") for one in answers.values())
    }
    assert raising == ALWAYS_RAISE


# ---- larger collections, beside datasketch itself


@pytest.fixture(scope="module", params=["affine32", "affine64", "legacy"])
def minhashes(request, theirs):
    """Sketches of 300 small sets in families of alike ones."""
    rng = np.random.default_rng(0)
    sets = []
    for _ in range(60):
        base = rng.integers(0, 10**6, 40)
        sets += [
            [b"%d" % e for e in rng.permutation(base)[: rng.integers(20, 40)]] for _ in range(5)
        ]
    return theirs.MinHash.bulk(sets, num_perm=64, scheme=request.param)


class Renamed(pickle.Unpickler):
    def find_class(self, module, name):
        here = {"datasketch.lsh": lsh, "datasketch.storage": storage}
        return getattr(here[module], name) if module in here else super().find_class(module, name)


def test_datasketchs_pickles(minhashes, theirs):
    index = theirs.MinHashLSH(threshold=0.5, num_perm=64)
    for i, minhash in enumerate(minhashes):
        index.insert(i, minhash)
    again = Renamed(io.BytesIO(pickle.dumps(index))).load()
    assert type(again) is ours.MinHashLSH
    for minhash in minhashes:
        assert set(again.query(minhash)) == set(index.query(minhash))
    assert again._minhash_scheme == minhashes[0].scheme


def test_ensemble(minhashes, theirs):
    options = {"threshold": 0.7, "num_perm": 64, "num_part": 5, "m": 4}
    mine, other = (package.MinHashLSHEnsemble(**options) for package in (ours, theirs))
    assert (mine.params == other.params).all()
    sizes = np.random.default_rng(1).integers(20, 40, len(minhashes)).tolist()
    entries = list(zip(range(len(minhashes)), minhashes, sizes, strict=True))
    for index in (mine, other):
        index.index(list(entries))
    assert (mine.lowers, mine.uppers) == (other.lowers, other.uppers)
    for _, minhash, size in entries[::2]:
        assert set(mine.query(minhash, size)) == set(other.query(minhash, size))


def test_partitions(theirs):
    other = importlib.import_module(f"{theirs.__name__}.lshensemble_partition")
    rng = np.random.default_rng(2)
    for _ in range(60):
        sizes = np.unique(rng.integers(1, 200, rng.integers(1, 60)))
        counts = rng.integers(1, rng.choice([2, 50]), len(sizes), endpoint=True)
        for num_part in (1, 2, 3, 4, 7, 16):
            found = optimal_partitions(sizes, counts, num_part)
            assert found == other.optimal_partitions(sizes, counts, num_part)
