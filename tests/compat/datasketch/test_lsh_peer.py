"""The indexes of fastlsh.compat.datasketch beside datasketch's own, where that is installed."""

import io
import pickle

import numpy as np
import pytest

from fastlsh.compat.datasketch import lsh, storage
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.lshensemble_partition import optimal_partitions
from fastlsh.compat.datasketch.lshforest import MinHashLSHForest

datasketch = pytest.importorskip("datasketch", minversion="2.0")


@pytest.fixture(scope="module", params=["affine32", "affine64", "legacy"])
def minhashes(request):
    """Sketches of 300 small sets in families of alike ones."""
    rng = np.random.default_rng(0)
    sets = []
    for _ in range(60):
        base = rng.integers(0, 10**6, 40)
        sets += [
            [b"%d" % e for e in rng.permutation(base)[: rng.integers(20, 40)]] for _ in range(5)
        ]
    return datasketch.MinHash.bulk(sets, num_perm=64, scheme=request.param)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
def test_lsh(minhashes, threshold):
    ours, theirs = (
        kind(threshold=threshold, num_perm=64) for kind in (MinHashLSH, datasketch.MinHashLSH)
    )
    assert (ours.b, ours.r, ours.hashranges) == (theirs.b, theirs.r, theirs.hashranges)
    for index in (ours, theirs):
        for i, minhash in enumerate(minhashes[:250]):
            index.insert(i, minhash)
        for i in range(0, 250, 7):
            index.remove(i)
    for minhash in minhashes:
        assert set(ours.query(minhash)) == set(theirs.query(minhash))
    assert list(ours.keys) == list(theirs.keys)
    assert ours.get_counts() == theirs.get_counts()
    assert ours.get_subset_counts(1, 2, 3, 999) == theirs.get_subset_counts(1, 2, 3, 999)
    assert [dict(zip(t, map(t.get, t), strict=True)) for t in ours.hashtables] == [
        dict(zip(t, map(t.get, t), strict=True)) for t in theirs.hashtables
    ]


class Renamed(pickle.Unpickler):
    def find_class(self, module, name):
        here = {"datasketch.lsh": lsh, "datasketch.storage": storage}
        return getattr(here[module], name) if module in here else super().find_class(module, name)


def test_datasketchs_pickles(minhashes):
    theirs = datasketch.MinHashLSH(threshold=0.5, num_perm=64)
    for i, minhash in enumerate(minhashes):
        theirs.insert(i, minhash)
    ours = Renamed(io.BytesIO(pickle.dumps(theirs))).load()
    assert type(ours) is MinHashLSH
    for minhash in minhashes:
        assert set(ours.query(minhash)) == set(theirs.query(minhash))
    assert ours._minhash_scheme == minhashes[0].scheme


def test_forest(minhashes):
    ours, theirs = (
        kind(num_perm=64, l=6) for kind in (MinHashLSHForest, datasketch.MinHashLSHForest)
    )
    for forest in (ours, theirs):
        for i, minhash in enumerate(minhashes):
            forest.add(i, minhash)
        forest.index()
    assert ours.hashtables == theirs.hashtables
    assert ours.keys == theirs.keys
    for minhash in minhashes[::3]:
        for k in (1, 4, 20):
            assert set(ours.query(minhash, k)) == set(theirs.query(minhash, k))
    for key in (0, 7):
        a, b = ours.get_minhash_hashvalues(key), theirs.get_minhash_hashvalues(key)
        assert a.dtype == b.dtype
        assert (a == b).all()


def test_ensemble(minhashes):
    options = {"threshold": 0.7, "num_perm": 64, "num_part": 5, "m": 4}
    ours, theirs = MinHashLSHEnsemble(**options), datasketch.MinHashLSHEnsemble(**options)
    assert (ours.params == theirs.params).all()
    sizes = np.random.default_rng(1).integers(20, 40, len(minhashes)).tolist()
    entries = list(zip(range(len(minhashes)), minhashes, sizes, strict=True))
    for index in (ours, theirs):
        index.index(list(entries))
    assert (ours.lowers, ours.uppers) == (theirs.lowers, theirs.uppers)
    for _, minhash, size in entries[::2]:
        assert set(ours.query(minhash, size)) == set(theirs.query(minhash, size))


def test_partitions():
    from datasketch.lshensemble_partition import optimal_partitions as theirs

    rng = np.random.default_rng(2)
    for _ in range(60):
        sizes = np.unique(rng.integers(1, 200, rng.integers(1, 60)))
        counts = rng.integers(1, rng.choice([2, 50]), len(sizes), endpoint=True)
        for num_part in (1, 2, 3, 4, 7, 16):
            found = optimal_partitions(sizes, counts, num_part)
            assert found == theirs(sizes, counts, num_part)
