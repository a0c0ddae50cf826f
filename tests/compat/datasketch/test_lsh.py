"""MinHashLSH of fastlsh.compat.datasketch, against sets in dicts."""

import json
import pickle
from functools import partial
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import every, larger
from fastlsh.compat import datasketch
from fastlsh.compat.datasketch.index import Storages, Tables
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.params import optimal_containment_param, optimal_param
from fastlsh.compat.datasketch.storage import DictListStorage, DictSetStorage
from refusals import refuses
from running import at_once, hasty_switching
from stand_ins import Model, Sketch, Weighted, band_key, sketches
from strategies import by_text

FROZEN = json.loads((Path(__file__).parents[2] / "datasketch_params.json").read_text())


def short(data):
    """Shorten a band key, as users' hash functions do."""
    return data[-3:]


def filled(n=60, b=4, r=3, **options):
    """Return (index, model, sketches)."""
    rows = sketches(n, b * r + 1)
    index, model = MinHashLSH(num_perm=b * r + 1, params=(b, r), **options), Model(b, r)
    for i, sketch in enumerate(rows):
        index.insert(f"key {i}", sketch)
        model.insert(f"key {i}", sketch)
    return index, model, rows


def same_contents(index, model):
    """Assert that the storages are those of the model."""
    assert list(index.keys) == list(index.keys.keys()) == list(model.bands)
    assert len(index.keys) == index.keys.size() == len(model.bands)
    for key, rows in model.bands.items():
        assert key in index.keys
        assert key in index
        assert index.keys[key] == [band for row in rows for band in row]
    assert index.keys.itemcounts() == {
        key: index.b * len(rows) for key, rows in model.bands.items()
    }
    for band, table in enumerate(index.hashtables):
        buckets = model.buckets(band)
        assert set(table) == set(table.keys()) == set(buckets)
        assert len(table) == table.status()["keyspace_size"] == len(buckets)
        assert {key: table[key] for key in table} == buckets
        assert table.getmany(*buckets) == list(buckets.values())
        assert all(key in table for key in buckets)
        assert index.get_counts()[band] == {key: len(keys) for key, keys in buckets.items()}


class TestParameters:
    @pytest.mark.parametrize("step", larger(5, 1))
    def test_frozen_choices_of_datasketch(self, step):
        grid = FROZEN["lsh"]
        settings = [*product(grid["num_perm"], grid["threshold"], grid["weights"])]
        assert len(settings) == len(grid["chosen"]) >= 500
        chosen = [list(optimal_param(t, n, *weights)) for n, t, weights in settings[::step]]
        assert chosen == grid["chosen"][::step]

    def test_frozen_choices_for_long_sketches(self):
        large = FROZEN["large"]
        chosen = [list(optimal_param(t, n, *weights)) for n, t, weights in large["settings"]]
        assert chosen == large["chosen"]

    @pytest.mark.exhaustive
    def test_frozen_choices_by_containment(self):
        grid = FROZEN["ensemble"]
        settings = [*product(grid["num_perm"], grid["m"], grid["threshold"], grid["weights"])]
        ratios = np.exp(np.linspace(-5, 5, 10)).tolist()
        chosen = [
            [list(optimal_containment_param(t, n, m, ratio, *weights)) for ratio in ratios]
            for n, m, t, weights in settings[::5]
        ]
        assert chosen == grid["chosen"][::5]

    def test_attributes(self):
        index = MinHashLSH(threshold=0.8)
        assert (index.h, index.b, index.r) == (128, 9, 13)
        assert index.hashranges[:2] == [(0, 13), (13, 26)]
        assert len(index.hashtables) == 9
        assert index.prepickle is False
        assert index.hashfunc is None
        assert index.buffer_size == 50000
        index.buffer_size = 7
        assert index.buffer_size == index.keys.buffer_size == index.hashtables[8].buffer_size == 7
        assert index.is_empty()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"threshold": 1.1}, "threshold must be in"),
            ({"threshold": -0.1}, "threshold must be in"),
            ({"num_perm": 1}, "Too few permutation functions"),
            ({"weights": (1.1, -0.1)}, "Weight must be in"),
            ({"weights": (0.5, 0.4)}, "Weights must sum to 1.0"),
            ({"params": (20, 20)}, "20 \\* 20 = 400 -- it must be less than num_perm 128"),
            ({"params": (1, 20)}, "bands are too small"),
            ({"threshold": 1.0}, "bands are too small"),
            ({"storage_config": {"type": "paper"}}, "Unknown storage type: paper"),
        ],
    )
    def test_errors(self, arguments, message):
        refuses(ValueError, message, MinHashLSH, **arguments)

    def test_no_cassandra(self):
        config = {"type": "cassandra", "cassandra": {}}
        refuses(NotImplementedError, "no index in Cassandra", MinHashLSH, storage_config=config)

    @pytest.mark.parametrize("basename", ["x", None])
    def test_a_basename_that_is_no_bytes(self, basename):
        config, said = {"type": "dict", "basename": basename}, f"must be bytes, got {basename!r}"
        for more in ({}, {"hashfunc": short}):
            refuses(TypeError, f"basename {said}", MinHashLSH, storage_config=config, **more)
        assert MinHashLSH(storage_config={"type": "dict", "basename": b"x"}).is_empty()

    def test_storages_can_be_assigned(self):
        index, other = (MinHashLSH(num_perm=16, params=(4, 4)) for _ in range(2))
        sketch = datasketch.MinHash(16)
        index.insert("a", sketch)
        other.keys, other.hashtables = index.keys, index.hashtables
        assert other.query(sketch) == ["a"]
        assert "a" in other
        index.keys = index.keys
        assert list(index.keys) == index.query(sketch) == ["a"]


ENGINES = [{}, {"prepickle": True}, {"hashfunc": short}]


@pytest.mark.parametrize("options", ENGINES, ids=by_text)
class TestEveryEngine:
    @pytest.mark.parametrize("seed", every(3, range(6)))
    def test_any_sequence_of_calls(self, options, seed):
        draw, rows = Random(seed), sketches(60, 13)
        index, model = MinHashLSH(num_perm=13, params=(4, 3), **options), Model(4, 3)
        if "hashfunc" in options:
            model.cut = lambda sketch: [short(key) for key in Model.cut(model, sketch)]
        for step in range(150):
            what = draw.choice(["insert"] * 6 + ["again", "remove", "remove", "merge", "pickle"])
            known = draw.choice([*model.bands, None])
            if what == "insert" or (what == "again" and known is None):
                index.insert(("key", step), rows[step % 60])
                model.insert(("key", step), rows[step % 60])
            elif what == "again":  # it is found by both, and removed with both
                index.insert(known, rows[step % 60], check_duplication=False)
                model.insert(known, rows[step % 60])
            elif what == "remove" and known is not None:
                index.remove(known)
                del model.bands[known]
            elif what == "merge":
                other = MinHashLSH(num_perm=13, params=(4, 3), **options)
                for number in range(draw.randrange(4)):
                    other.insert(("more", step, number), rows[number])
                    model.insert(("more", step, number), rows[number])
                index.merge(other, check_overlap=draw.random() < 0.5)
            elif what == "pickle":
                again = pickle.loads(pickle.dumps(index))
                assert again.__dict__.keys() == index.__dict__.keys()
                index = again
            assert known in index if known in model.bands else known not in index
            found = index.query(rows[draw.randrange(60)])
            assert len(found) == len(set(found))
            assert len(index.keys) == len(model.bands)
        for sketch in rows + sketches(20, 13, seed=5):
            assert set(index.query(sketch)) == model.query(sketch)
        buckets = [model.buckets(band) for band in range(4)]
        counts = [sorted(map(len, each.values())) for each in buckets]
        assert [sorted(each.values()) for each in index.get_counts()] == counts
        for key in model.bands:
            index.remove(key)
        assert index.is_empty()
        assert [len(table) for table in index.hashtables] == [0] * 4

    def test_errors(self, options):
        index, _, rows = filled(**options)
        refuses(ValueError, "already exists", index.insert, "key 0", rows[0])
        refuses(ValueError, "does not exist", index.remove, "nobody")
        refuses(ValueError, "number of hash tables 4, got 5", index._query_b, rows[0], 5)
        for call in (index.query, index.add_to_query_buffer, lambda s: index.insert("x", s)):
            with pytest.raises(ValueError, match="Expecting minhash with length 13, got 12"):
                call(Sketch(rows[0].hashvalues[:12]))
            with pytest.raises(ValueError, match="scheme 'legacy' does not match scheme 'affine"):
                call(Sketch(rows[0].hashvalues, "legacy"))
        assert "x" not in index
        empty = MinHashLSH(num_perm=13, params=(4, 3), **options)
        empty.merge(index)
        for each in (empty, pickle.loads(pickle.dumps(index))):
            refuses(ValueError, "scheme", each.query, Sketch(rows[0].hashvalues, "legacy"))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_storages_look_like_datasketchs(dtype):
    index, model = MinHashLSH(num_perm=13, params=(4, 3)), Model(4, 3)
    assert list(index.keys) == list(index.hashtables[0]) == []
    assert index.get_counts() == [{}, {}, {}, {}]
    for i, sketch in enumerate(sketches(60, 13, dtype)):
        index.insert(i, sketch)
        model.insert(i, sketch)
    same_contents(index, model)
    width = 3 * np.dtype(dtype).itemsize
    assert {len(key) for table in index.hashtables for key in table} == {width}
    for table in index.hashtables:
        for nonsense in (b"", b"x", b"\xff" * width, bytes(range(1, width + 1)), "text", 7, None):
            assert nonsense not in table
            assert table[nonsense] == set()
    assert index.keys["nobody"] == []


def test_weighted_sketches():
    index, model = MinHashLSH(num_perm=8, params=(4, 2)), Model(4, 2)
    rng = np.random.default_rng(0)
    rows = [Weighted(rng.integers(-1, 2, (8, 2))) for _ in range(50)]
    for i, sketch in enumerate(rows):
        index.insert(i, sketch)
        model.insert(i, sketch)
    same_contents(index, model)
    for sketch in rows:
        assert set(index.query(sketch)) == model.query(sketch)
    again = pickle.loads(pickle.dumps(index))
    same_contents(again, model)
    empty = MinHashLSH(num_perm=8, params=(4, 2))
    empty.merge(index)
    same_contents(empty, model)


def looks(index):
    """Look at an index without its buckets."""
    assert len(index.keys) == index.keys.size() == 60
    assert list(index.keys)[:2] == ["key 0", "key 1"]
    assert "key 1" in index.keys
    assert index.keys.status() == {"keyspace_size": 60}
    assert index.keys.buffer_size == 50000
    index.keys.empty_buffer()
    with index.deletion_session():
        pass
    pickle.dumps(index)
    index.collect_query_buffer()


def test_an_index_is_compact_until_somebody_looks_into_its_buckets():
    index, model, rows = filled()
    looks(index)
    assert isinstance(index._engine, Tables)
    keys = index.keys
    same_contents(index, model)
    assert isinstance(index._engine, Storages)
    looks(index)
    index.insert("new", rows[0])
    model.insert("new", rows[0])
    same_contents(index, model)
    assert list(keys) == [*model.bands]
    assert len(keys) == len(model.bands)
    assert "new" in keys
    assert keys["new"] is index.keys["new"]


def test_storages_in_memory_can_be_changed():
    index, _, rows = filled(5)
    held = index.keys
    (first, *_) = held["key 1"]
    index.hashtables[0].insert(first, "other")
    assert "other" in index.query(rows[1])
    index.hashtables[0].remove_val(first, "key 1")
    held.insert("added", b"a", b"b")
    assert index.keys["added"] == [b"a", b"b"]
    held.buffer_size = 7
    assert index.keys.buffer_size == 7
    held.add_to_select_buffer(["added"])
    assert index.keys.collect_select_buffer() == [[b"a", b"b"]]
    del held["added"]
    assert "added" not in index


def test_keys_that_are_inserted_while_somebody_looks():
    rows = sketches(3000, 13)
    index = MinHashLSH(num_perm=13, params=(4, 3))

    def work(first):
        for i in range(first, len(rows), 2):
            index.insert(i, rows[i])
            if i % 3 == 0:
                index.remove(i)

    def look():
        while len(index.keys) < 500:
            pass
        index.get_counts()

    with hasty_switching():
        at_once(partial(work, 0), partial(work, 1), look)
    assert set(index.keys) == {i for i in range(len(rows)) if i % 3}
    assert all(i in index.query(rows[i]) for i in range(len(rows)) if i % 3)


class Looker:
    """A key that looks into the index when it is hashed."""

    def __init__(self, index):
        self.index = index

    def __hash__(self):
        return len(self.index.hashtables)


@pytest.mark.parametrize("call", ["insert", "remove"])
def test_a_key_whose_hash_looks_into_the_index(call):
    index, _, rows = filled(5)
    key = Looker(index)
    if call == "insert":
        index.insert(key, rows[0])
        assert key in index.query(rows[0])
    else:
        refuses(ValueError, "does not exist", index.remove, key)
    assert list(index.keys)[:5] == [f"key {i}" for i in range(5)]


def test_sketches_of_different_kinds_beside_each_other():
    index, model = MinHashLSH(num_perm=8, params=(4, 2)), Model(4, 2)
    rows = [
        Sketch(np.arange(8, dtype=np.uint32), None),
        Sketch(np.arange(8, dtype=np.uint64), None),
        Weighted(np.zeros((8, 2))),
        Sketch(np.arange(8, dtype=np.uint16), None),
    ]
    for i, sketch in enumerate(rows):
        index.insert(i, sketch)
        model.insert(i, sketch)
    same = {key: [band for row in cuts for band in row] for key, cuts in model.bands.items()}
    assert {key: index.keys[key] for key in index.keys} == same
    for i, sketch in enumerate(rows):
        assert index.query(sketch) == [i]
    empty = MinHashLSH(num_perm=8, params=(4, 2))
    empty.merge(index)
    for i, sketch in enumerate(rows):
        assert empty.query(sketch) == [i]


def test_legacy_minima_are_found_by_legacy_minima():
    index = MinHashLSH(num_perm=8, params=(4, 2))
    row = np.array([0, 1, 2**32 - 1, 2**31, 5, 6, 7, 8], np.uint64)
    index.insert("a", Sketch(row, "legacy"))
    assert index.hashtables[1][band_key(row[2:4])] == {"a"}
    assert index.query(Sketch(row, "legacy")) == ["a"]
    assert index.query(Sketch(row + np.uint64(1 << 32), "legacy")) == []


@given(st.data())
def test_many_hashable_keys(data):
    key = st.one_of(st.text(), st.integers(), st.binary(), st.tuples(st.integers(), st.text()))
    keys = data.draw(st.lists(key, unique=True))
    index = MinHashLSH(num_perm=2, params=(2, 1), prepickle=data.draw(st.booleans()))
    sketch = Sketch(np.zeros(2, np.uint32))
    for one in keys:
        index.insert(one, sketch)
    assert set(index.query(sketch)) == set(keys)
    assert all(one in index for one in keys)
    for one in keys:
        index.remove(one)
    assert index.is_empty()


def test_what_does_not_merge():
    index, same = (MinHashLSH(num_perm=4, params=(4, 1)) for _ in range(2))
    index.insert("legacy", Sketch(np.zeros(4, np.uint64), "legacy"))
    same.insert("affine64", Sketch(np.zeros(4, np.uint64), "affine64"))
    for other, said in (
        (MinHashLSH(num_perm=4, params=(2, 2)), "different initialization parameters"),
        (MinHashLSH(num_perm=5, params=(4, 1)), "different initialization parameters"),
        (3, "type MinHashLSH and type int"),
        (same, "'affine64' into one indexed with scheme 'legacy'"),
    ):
        refuses(ValueError, said, index.merge, other)
    again = pickle.loads(pickle.dumps(index))
    refuses(ValueError, "overlapping", index.merge, again, check_overlap=True)
    index.merge(again)
    assert len(index.keys) == 1


def datasketchs_state(index):
    """Return what datasketch's MinHashLSH has in its `__dict__`."""
    keys, tables = DictListStorage(), [DictSetStorage() for _ in range(index.b)]
    for key in index.keys:
        keys.insert(key, *index.keys[key])
        for table, band in zip(tables, index.keys[key], strict=True):
            table.insert(band, key)
    return {
        "_buffer_size": 50000,
        "h": index.h,
        "b": index.b,
        "r": index.r,
        "prepickle": index.prepickle,
        "_require_bytes_keys": False,
        "hashfunc": index.hashfunc,
        "_H": index._byteswap,
        "hashtables": tables,
        "hashranges": index.hashranges,
        "keys": keys,
    }


@pytest.mark.parametrize("options", [{}, {"hashfunc": short}], ids=by_text)
def test_state_of_datasketchs_pickles(options):
    index, _, rows = filled(**options)
    again = MinHashLSH.__new__(MinHashLSH)
    again.__setstate__(datasketchs_state(index))  # without a scheme, as before datasketch 2.0
    assert list(again.keys) == list(index.keys)
    assert again.get_counts() == index.get_counts()
    for sketch in rows:
        assert set(again.query(sketch)) == set(index.query(sketch))
    again.insert("more", rows[0])
    assert "more" in again.query(rows[0])
