"""Forest and ensemble of fastlsh.compat.datasketch."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.lshensemble_partition import optimal_partitions
from fastlsh.compat.datasketch.lshforest import MinHashLSHForest
from refusals import refuses
from stand_ins import Sketch, Weighted, band_key, sketches


class TestForest:
    def filled(self, n=100):
        forest = MinHashLSHForest(num_perm=33, l=4)
        rows = sketches(n, 33)
        for i, sketch in enumerate(rows):
            forest.add(i, sketch)
        assert forest.is_empty()
        forest.index()
        return forest, rows

    def test_longest_common_prefixes_first(self):
        forest, rows = self.filled()

        def depth(a, b):
            parts = a.hashvalues[:32].reshape(4, 8) == b.hashvalues[:32].reshape(4, 8)
            return int(np.cumprod(parts, axis=1).sum(axis=1).max())

        for sketch in rows[:20] + sketches(20, 33, seed=9):
            depths = [depth(sketch, row) for row in rows]
            for k in (1, 3, 10, 1000):
                found = forest.query(sketch, k)
                assert len(found) == len(set(found)) == min(k, sum(d > 0 for d in depths))
                left = set(range(len(rows))) - set(found)
                least = min((depths[i] for i in found), default=0)
                assert least >= max((depths[i] for i in left), default=0)

    def test_attributes(self):
        forest, rows = self.filled(10)
        assert (forest.l, forest.k) == (4, 8)
        assert forest.hashranges == [(0, 8), (8, 16), (16, 24), (24, 32)]
        for key in forest.keys:
            for i, part in enumerate(forest.keys[key]):
                assert part == band_key(rows[key].hashvalues[8 * i : 8 * i + 8])
                assert key in forest.hashtables[i][part]
        assert forest.sorted_hashtables == [sorted(table) for table in forest.hashtables]
        again = pickle.loads(pickle.dumps(forest))
        assert again.__dict__ == forest.__dict__
        assert 3 in again
        assert 10 not in again

    @pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
    def test_hashvalues(self, dtype):
        forest = MinHashLSHForest(num_perm=8, l=2)
        forest.add("a", Sketch(np.arange(8, dtype=dtype)))
        values = forest.get_minhash_hashvalues("a")
        assert values.dtype == dtype
        assert values.tolist() == list(range(8))
        refuses(KeyError, "does not exist", forest.get_minhash_hashvalues, "b")
        forest.add("w", Weighted(np.zeros((8, 2))))
        refuses(ValueError, "are not 4 values", forest.get_minhash_hashvalues, "w")

    def test_errors(self):
        for arguments in ((0, 1), (8, 0), (8, 9)):
            refuses(ValueError, "l", MinHashLSHForest, *arguments)
        forest, rows = self.filled(3)
        refuses(ValueError, "already been added", forest.add, 0, rows[0])
        refuses(ValueError, "31, at least 32", forest.add, "short", Sketch(rows[0].hashvalues[:31]))
        refuses(ValueError, "out of range", forest.query, Sketch(rows[0].hashvalues[:31]), 1)
        refuses(ValueError, "k must be positive", forest.query, rows[0], 0)
        refuses(ValueError, "scheme", forest.query, Sketch(rows[0].hashvalues, "legacy"), 1)
        refuses(ValueError, "outside range", list, forest._query(rows[0], 9, 1))


OPTIONS = {"threshold": 0.5, "num_perm": 16, "num_part": 3, "m": 4}


class TestEnsemble:
    def entries(self, n=40):
        sizes = np.random.default_rng(1).integers(1, 60, n)
        rows = zip(sketches(n, 16), sizes, strict=True)
        return [(i, sketch, int(size)) for i, (sketch, size) in enumerate(rows)]

    def test_queries_the_index_that_suits_each_part(self):
        ensemble, entries = MinHashLSHEnsemble(**OPTIONS), self.entries()
        assert ensemble.is_empty()
        ensemble.index(iter(entries))
        assert not ensemble.is_empty()
        assert all(key in ensemble for key, _, _ in entries)
        assert "nobody" not in ensemble
        sizes = {size for _, _, size in entries}
        assert (ensemble.lowers[0], ensemble.uppers[-1]) == (min(sizes), max(sizes))
        for _, sketch, size in entries:
            expected = set()
            for lower, upper in zip(ensemble.lowers, ensemble.uppers, strict=True):
                place = np.searchsorted(ensemble.xqs, upper / size)
                b, r = ensemble.params[min(place, 9)]
                cut = sketch.hashvalues[: b * r].reshape(b, r)
                expected |= {
                    key
                    for key, other, other_size in entries
                    if lower <= other_size <= upper
                    and (cut == other.hashvalues[: b * r].reshape(b, r)).all(axis=1).any()
                }
            for each in (ensemble, pickle.loads(pickle.dumps(ensemble))):
                found = list(each.query(sketch, size))
                assert len(found) == len(set(found))
                assert set(found) == expected

    def test_fewer_sizes_than_parts(self):
        ensemble = MinHashLSHEnsemble(**OPTIONS)
        sketch = Sketch(np.zeros(16, np.uint32))
        ensemble.index([("a", sketch, 3), ("b", sketch, 5)])
        assert ensemble.uppers == [3, 5, None]
        assert set(ensemble.query(sketch, 4)) == {"a", "b"}

    def test_errors(self):
        for change, message in (
            ({"threshold": 2}, "threshold"),
            ({"num_perm": 1}, "Too few"),
            ({"num_part": 0}, "num_part must be at least 1"),
            ({"m": 1}, "m must be in the range"),
            ({"m": 17}, "m must be in the range"),
            ({"weights": (0.9, 0.2)}, "sum to 1.0"),
        ):
            refuses(ValueError, message, MinHashLSHEnsemble, **{**OPTIONS, **change})
        ensemble, entries = MinHashLSHEnsemble(**OPTIONS), self.entries()
        refuses(ValueError, "entries is empty", ensemble.index, [])
        for size in (0, -1):
            with pytest.raises(ValueError, match="must be positive"):
                ensemble.index(iter([("a", entries[0][1], size)]))
        assert ensemble.is_empty()
        ensemble.index(entries)
        refuses(ValueError, "non-empty", ensemble.index, entries)


@given(
    st.dictionaries(st.integers(1, 100), st.integers(1, 20), min_size=1, max_size=9),
    st.integers(1, 4),
)
def test_partitions(sizes_and_counts, num_part):
    sizes = np.array(sorted(sizes_and_counts))
    counts = np.array([sizes_and_counts[size] for size in sizes])
    found = optimal_partitions(sizes, counts, num_part)

    def wrong(partition):
        return sum(
            (upper - size) / upper * count
            for lower, upper in partition
            for size, count in zip(sizes, counts, strict=True)
            if lower <= size <= upper
        )

    assert len(found) == min(num_part, len(sizes))
    assert found[0][0] == sizes[0]
    assert found[-1][1] == sizes[-1]
    inside = [size for lower, upper in found for size in sizes if lower <= size <= upper]
    assert inside == sizes.tolist()
    if num_part <= 2:  # with more, datasketch does not find the optimum always
        cuts = combinations(range(1, len(sizes)), len(found) - 1)
        every = [
            [(sizes[i], sizes[j - 1]) for i, j in zip((0, *cut), (*cut, len(sizes)), strict=True)]
            for cut in cuts
        ]
        assert wrong(found) <= min(map(wrong, every)) * (1 + 1e-12)
