"""The tables of the compatible MinHashLSH, against sets in dicts."""

import gc
import weakref
from functools import partial
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import covering, every, larger
from fastlsh._kernels.compat._compat import KeyBuckets
from refusals import refuses
from running import at_once, hasty_switching
from stand_ins import Model, Sketch, band_key, sketches

INSERTED, KNOWN, OTHER_KIND = 0, 1, 2
VALUES = np.zeros(4, np.uint32)


KINDS = {
    "uint32": lambda v: v.astype(np.uint32),
    "int32": lambda v: v.astype(np.int32),
    "uint64 narrow": lambda v: v.astype(np.uint64),
    "uint64 wide": lambda v: v.astype(np.uint64) << np.uint64(40),
    "int64 narrow": lambda v: v.astype(np.int64) - 2,
    "int64 wide": lambda v: v.astype(np.int64) - (2 << 40),
    "two columns": lambda v: np.stack([v, 3 - v], axis=1).astype(np.int64),
    "strided": lambda v: np.repeat(v, 3)[::3],
}
SIZES = [0, 1, 2, 13, 14, 15, 31, 32, 33, 64, 65, 300]
BANDINGS = cycle([(1, 1), (2, 3), (9, 3), (32, 1)])


@pytest.mark.parametrize(("kind", "size"), covering(KINDS, zip(SIZES, BANDINGS, strict=False)))
def test_finds_what_shares_a_band(kind, size):
    n, bands = size
    table, model = KeyBuckets(*bands), Model(*bands)
    rows, others = (
        [Sketch(KINDS[kind](s.hashvalues)) for s in sketches(count, seed=seed)]
        for count, seed in ((n, 0), (20, 1))
    )
    for key, sketch in enumerate(rows):
        assert table.insert(key, sketch.hashvalues) == INSERTED
        model.insert(key, sketch)
    for sketch in rows + others:
        found = table.query(sketch.hashvalues, bands[0])
        assert len(found) == len(set(found))
        assert set(found) == model.query(sketch)
    assert len(table) == n
    assert table.distinct_keys() == list(range(n))
    narrow = kind.startswith(("uint64", "int64", "two")) and "wide" not in kind
    assert n == 0 or table.kind()[3] == narrow


@pytest.mark.parametrize("signed", [False, True])
def test_a_value_of_64_bits_widens_what_was_kept_in_32(signed):
    table = KeyBuckets(2, 2)
    small = np.arange(4, dtype=np.int64 if signed else np.uint64)
    large = small.copy()
    large[0] += 1 << 32
    for key in range(40):
        table.insert(key, small + 4 * key)
    assert table.query(large, 2) == [0]  # by its second band; the first has equal low halves
    assert table.kind()[3]
    before = table.nbytes()
    table.insert("large", large)
    assert not table.kind()[3]
    assert table.nbytes() > before
    assert table.query(small, 1) == [0]
    assert table.query(large, 1) == ["large"]
    assert set(table.query(small, 2)) == {0, "large"}


def test_negative_values_stay_narrow_only_where_signed():
    table = KeyBuckets(2, 1)
    table.insert("a", np.array([-1, -(2**31)]))
    assert table.kind() == (8, True, 1, True)
    table = KeyBuckets(2, 1)
    table.insert("a", np.array([2**32 - 1, 2**31], np.uint64))
    assert table.kind() == (8, False, 1, True)
    assert table.query(np.array([-1, 0]), 2) == []
    assert table.query(np.array([2**32 - 1, 0]), 2) == ["a"]


def test_other_kinds_are_refused():
    table = KeyBuckets(2, 2)
    assert table.insert("a", np.zeros(4, np.float32)) == OTHER_KIND
    assert table.insert("a", np.zeros(4, np.uint16)) == OTHER_KIND
    assert table.insert("a", np.zeros(4, np.dtype(np.uint32).newbyteorder())) == OTHER_KIND
    assert table.insert("a", np.zeros((4, 0), np.uint32)) == OTHER_KIND
    assert len(table) == 0
    assert table.kind() is None
    assert table.insert("a", np.zeros(4, np.uint32)) == INSERTED
    assert table.insert("b", np.zeros(4, np.uint64)) == OTHER_KIND
    assert table.insert("b", np.zeros((4, 2), np.uint32)) == OTHER_KIND
    assert table.query(np.zeros(4, np.uint64), 2) == []
    assert table.distinct_keys() == ["a"]
    table.remove("a")
    assert table.insert("b", np.zeros(4, np.uint64)) == INSERTED  # an empty table takes any


def test_arguments():
    refuses(ValueError, "0 bands of 3 rows", KeyBuckets, 0, 3)
    refuses(ValueError, "at most", KeyBuckets, 1 << 20, 1 << 20)
    table = KeyBuckets(2, 2)
    refuses(ValueError, "3 values, expected 4", table.insert, "a", np.zeros(3, np.uint32))
    refuses(ValueError, "3 values, expected 4", table.query, np.zeros(3, np.uint32), 2)
    refuses(ValueError, "3 bands asked for, there are 2", table.query, np.zeros(4, np.uint32), 3)
    refuses(TypeError, "unhashable", table.insert, [], np.zeros(4, np.uint32))
    refuses(AttributeError, "tobytes", table.insert, "a", [0, 0, 0, 0])


def test_sizes_are_not_believed():
    class Liar:
        """Says it has more values than it gives."""

        dtype = np.dtype(np.uint32)

        def __len__(self):
            return 1000

        def tobytes(self):
            return b"12345678"

    table = KeyBuckets(10, 10)
    table.insert("a", np.zeros(100, np.uint32))
    assert table.insert("b", Liar()) == OTHER_KIND
    assert table.query(Liar(), 10) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["insert", "again", "remove", "query"]),
            st.integers(0, 12),
            st.lists(st.integers(0, 2), min_size=4, max_size=4),
        ),
        max_size=200,
    )
)
def test_any_order_of_calls(calls):
    table, model = KeyBuckets(2, 2), Model(2, 2)
    for name, key, values in calls:
        sketch = Sketch(np.array(values, np.uint32))
        if name == "remove":
            assert table.remove(key) == (model.bands.pop(key, None) is not None)
        elif name == "query":
            found = table.query(sketch.hashvalues, 2)
            assert len(found) == len(set(found))
            assert set(found) == model.query(sketch)
        else:
            known = key in model.bands
            answer = table.insert(key, sketch.hashvalues, name == "insert")
            assert answer == (KNOWN if known and name == "insert" else INSERTED)
            if answer == INSERTED:
                model.insert(key, sketch)
        assert len(table) == len(model.bands)
        assert (key in table) == (key in model.bands)
    assert set(table.distinct_keys()) == set(model.bands)
    keys, words, kind = table.contents()
    rows = np.frombuffer(words, np.uint32).reshape(-1, 2, 2)
    assert kind == ((4, False, 1, False) if keys or kind else None)
    found = {}
    for key, bands in zip(keys, rows, strict=True):
        found.setdefault(key, []).append([band_key(band) for band in bands])
    assert found == model.bands


def test_removing_gives_memory_back_and_keeps_the_order():
    table = KeyBuckets(3, 2)
    rows = sketches(2000, 6)
    for key, sketch in enumerate(rows):
        table.insert(key, sketch.hashvalues)
    full = table.nbytes()
    for key in range(0, 2000, 2):
        assert table.remove(key)
    for key in range(1, 1900, 2):
        assert table.remove(key)
    assert table.nbytes() < full / 4
    assert table.distinct_keys() == list(range(1901, 2000, 2))
    for key in range(1901, 2000, 2):
        assert key in table.query(rows[key].hashvalues, 3)
    for key in range(1000):  # and again
        table.insert(key, rows[key].hashvalues)
        table.remove(key)
    assert table.nbytes() < full / 4


def test_a_closed_table_refuses_changes():
    table = KeyBuckets(2, 2)
    table.insert("a", VALUES)
    before = table.contents()
    table.close()
    assert table.insert("b", VALUES) == OTHER_KIND
    assert table.insert("a", VALUES) == OTHER_KIND
    assert table.remove("a") is None
    assert table.remove("b") is None
    assert table.contents() == before
    assert table.query(VALUES, 2) == ["a"]
    assert "a" in table


def test_keys_are_compared_as_in_a_dict():
    table = KeyBuckets(1, 1)
    values = np.zeros(1, np.uint32)
    nan = float("nan")
    for key in (1, "1", (1,), nan, None):
        assert table.insert(key, values) == INSERTED
    assert table.insert(1.0, values) == KNOWN
    assert True in table
    assert nan in table
    assert float("nan") not in table
    assert table.remove(1.0)
    assert 1 not in table


class Meddler:
    """Acts when it is compared, and equals what the act says, or itself."""

    def __init__(self, act=None):
        self.act = act

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return self.act(self) or self is other


def test_a_comparison_that_changes_the_table():
    table = KeyBuckets(2, 2)
    left = [300]

    def act(_):
        if left[0]:
            left[0] -= 1
            table.insert(("more", left[0]), VALUES)
            table.remove(("more", left[0] + 2))

    first = Meddler(act)
    table.insert(first, VALUES)
    table.insert(Meddler(act), VALUES)
    assert first in table
    assert table.remove(first)
    assert first not in table


def test_a_key_that_its_comparison_removes_is_not_there():
    table, model = KeyBuckets(2, 2), {}

    def vanish(key):
        return table.remove(key) or True

    table.insert(Meddler(vanish), VALUES)
    model[Meddler(lambda key: model.pop(key) is None or True)] = None
    assert Meddler() not in model
    assert Meddler() not in table
    assert len(table) == 0
    table.insert(Meddler(vanish), VALUES)
    assert table.insert(Meddler(), VALUES) == INSERTED
    assert len(table) == 1


def test_a_comparison_that_raises():
    def fail(_):
        raise RuntimeError("no")

    table = KeyBuckets(2, 2)
    table.insert(Meddler(fail), VALUES)
    refuses(RuntimeError, "no", table.insert, Meddler(fail), VALUES)
    refuses(RuntimeError, "no", table.remove, Meddler(fail))
    assert len(table) == 1


def test_keys_are_released():
    class Key:
        """One that can be referred to weakly."""

    table = KeyBuckets(2, 2)
    keys = [Key() for _ in range(100)]
    alive = weakref.WeakSet(keys)
    for key in keys:
        table.insert(key, VALUES)
    for key in keys[:50]:
        table.remove(key)
    del key, keys[:50]
    assert len(alive) == 50
    del keys, table
    assert not alive


@pytest.mark.parametrize("allocations", every(3, range(1, 7)))
def test_whoever_inserts_while_the_table_is_compacted(allocations):
    """A `__del__` that any new list may run, up to Python 3.11."""
    table = KeyBuckets(1, 1)
    n, more = 7100, 1200  # 7/8 of 2^13 slots, and more than are free then
    rows = {name: np.array([name], np.uint32) for name in range(2 * n + more)}
    names = [*range(2 * n, 2 * n + more)]
    inserted = []

    class Inserting:
        def __init__(self):
            self.me = self

        def __del__(self):
            for name in names:
                table.insert(name, rows[name])
            inserted.extend(names)

    for name in range(2 * n):
        table.insert(name, rows[name])
    for name in range(n):
        table.remove(name)
    before = gc.get_threshold()
    gc.collect()
    Inserting()
    gc.set_threshold(allocations)
    try:
        table.remove(n)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert inserted == names
    left = [*range(n + 1, 2 * n), *names]
    assert len(table) == len(left)
    for name in left:
        assert table.query(rows[name], 1) == [name]


@pytest.mark.parametrize("n", [100, 1000, 5000, 7200])
def test_memory_is_what_the_notes_say(n):
    b, r = 9, 13
    table = KeyBuckets(b, r)
    for key, sketch in enumerate(sketches(n, b * r, values=2**32)):
        table.insert(key, sketch.hashvalues)
    row = 4 * (b * (r + 1) + 2) + 8
    slot = 5 * (b + 1)
    block = 32 * (row + 8)  # rows come by 32, pointers to them by doubling
    assert n * (row + 1.14 * slot) <= table.nbytes() <= n * (row + 2.29 * slot + 1) + block


@pytest.mark.parametrize("n", larger(200, 800))
def test_threads(n):
    table, rows = KeyBuckets(4, 2), sketches(n, 8)

    def work(begin):
        for key in range(begin, n, 4):
            table.insert(key, rows[key].hashvalues)
            assert key in table.query(rows[key].hashvalues, 4)
            assert key % 3 or table.remove(key)
            assert len(table) <= n
            assert table.insert(key + 1000, rows[key].hashvalues, True) == INSERTED
            table.remove(key + 1000)

    with hasty_switching():
        at_once(*(partial(work, begin) for begin in range(4)))
    assert set(table.distinct_keys()) == {key for key in range(n) if key % 3}
    model = Model(4, 2)
    for key in table.distinct_keys():
        model.insert(key, rows[key])
    for sketch in rows:
        assert set(table.query(sketch.hashvalues, 4)) == model.query(sketch)
