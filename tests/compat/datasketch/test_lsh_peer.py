"""The indexes of fastlsh.compat.datasketch beside datasketch's own, where that is installed."""

import io
import pickle

import numpy as np
import pytest

from fastlsh.compat.datasketch import lsh, storage
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.lshensemble_partition import optimal_partitions

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
