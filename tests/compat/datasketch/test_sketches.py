"""Lean, b-bit and weighted MinHash, pickles, and what datasketch and fastlsh exchange."""

import io
import pickle
import struct

import numpy as np
import pytest

from fastlsh.compat import datasketch as ours
from fastlsh.compat.datasketch import (
    LeanMinHash,
    MinHash,
    WeightedMinHash,
    WeightedMinHashGenerator,
    bBitMinHash,
)
from fastlsh.compat.datasketch import state as pickles
from fastlsh.compat.datasketch.params import SCHEMES
from refusals import refuses

ORDERS = "@=<>!"


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("datasketch", "2.0")


def sketch_of(scheme, num_perm=10, seed=3, module=ours):
    result = module.MinHash(num_perm, seed, scheme=scheme)
    result.update_batch([b"%d" % i for i in range(20)])
    return result


def bytes_of(lean, order="@"):
    buf = bytearray(lean.bytesize(order))
    lean.serialize(buf, order)
    return bytes(buf)


# ---- lean


@pytest.mark.parametrize("order", ORDERS)
def test_lean_bytes(scheme, order):
    lean = LeanMinHash(sketch_of(scheme))
    values = lean.hashvalues.tolist()
    head = (3, 10) if scheme == "legacy" else (3, -10, {"affine32": 1, "affine64": 2}[scheme])
    layout = order + {"legacy": "qi10I", "affine32": "qiB10I", "affine64": "qiB10Q"}[scheme]
    assert bytes_of(lean, order) == struct.pack(layout, *head, *values)
    data = bytes_of(lean, order)
    buffers = [data, bytearray(data + b"more"), memoryview(data), np.frombuffer(data, np.uint8)]
    for buf in buffers:
        assert LeanMinHash.deserialize(buf, order) == lean
    refuses(ValueError, f"{len(data)} bytes", lean.serialize, bytearray(len(data) - 1), order)
    with pytest.raises(struct.error):
        LeanMinHash.deserialize(data[:-1], order)


def test_lean_arguments():
    sketch = MinHash(4)
    for how, message in [
        ({}, "minhash"),
        ({"seed": 1}, "None"),
        ({"seed": 1, "hashvalues": [1]}, "'legacy'"),
        ({"minhash": sketch, "scheme": "legacy"}, "legacy"),
        ({"seed": 1, "hashvalues": [], "scheme": "affine32"}, "empty"),
        ({"seed": 1, "hashvalues": [2**32], "scheme": "affine32"}, "between"),
        ({"seed": 1, "hashvalues": [1], "scheme": "other"}, "affine64"),
    ]:
        refuses(ValueError, message, LeanMinHash, **how)
    lean = LeanMinHash(sketch)
    refuses(TypeError, "cannot be updated", lean.update, b"a")
    refuses(AttributeError, "update a MinHash", lean.update_batch, [b"a"])
    empty = LeanMinHash(seed=1, hashvalues=[], scheme="legacy")
    assert LeanMinHash.deserialize(bytes_of(empty)).scheme == "legacy"
    refuses(ValueError, "99", LeanMinHash.deserialize, struct.pack("<qiB2I", 1, -2, 99, 5, 6), "<")


# ---- b-bit


@pytest.mark.parametrize("b", [0, 1, 2, 3, 4, 5, 8, 9, 16, 27, 32])
@pytest.mark.parametrize("num_perm", [1, 2, 63, 64, 65])
def test_b_bit_state(scheme, b, num_perm):
    sketch = sketch_of(scheme, num_perm)
    small = bBitMinHash(sketch, b, 0.25)
    assert small.hashvalues.tolist() == [h % 2**b for h in sketch.hashvalues.tolist()]
    state = small.__getstate__()
    assert len(state) == small.bytesize()
    assert pickle.loads(pickle.dumps(small)) == small
    # By hand: slots of a power of two, the first value highest.
    slot = {0: 4, 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 16, 16: 16, 27: 32, 32: 32}[b]
    n = 64 // slot
    values = small.hashvalues.tolist()
    blocks = [
        sum(h << slot * (n - 1 - i) for i, h in enumerate(values[start : start + n]))
        for start in range(0, num_perm, n)
    ]
    code = {"legacy": b"", "affine32": b"\1", "affine64": b"\2"}[scheme]
    head = struct.pack("<qBdi", 3, b, 0.25, -num_perm if code else num_perm)
    assert bytes(state) == head + code + struct.pack(f"<{len(blocks)}Q", *blocks)


def test_b_bit_jaccard_and_errors():
    first, second = MinHash(256), MinHash(256)
    first.update_batch([b"%d" % i for i in range(100)])
    second.update_batch([b"%d" % i for i in range(20, 100)])
    for b in (2, 4, 8):
        for r in (0.0, 0.01):
            small = bBitMinHash(first, b, r)
            assert abs(small.jaccard(bBitMinHash(second, b, r)) - 0.8) < 0.2
    for other, what in [
        (bBitMinHash(first, 2), "b: 1, 2"),
        (bBitMinHash(MinHash(256, 2)), "seeds"),
        (bBitMinHash(MinHash(256, scheme="legacy")), "schemes"),
    ]:
        refuses(ValueError, what, bBitMinHash(first).jaccard, other)
    for how in ({"b": 33}, {"b": -1}, {"r": 1.5}):
        refuses(ValueError, "must be", bBitMinHash, first, **how)


# ---- weighted


def test_weighted():
    generator = WeightedMinHashGenerator(4, 64, 1)
    weights = np.array([1, 0, 3, 2.5], np.float32)
    kept = weights.copy()
    one = generator.minhash(weights)
    assert (weights == kept).all()
    assert one == generator.minhash([1, 0, 3, 2.5])
    assert one.hashvalues.shape == (64, 2)
    assert one.hashvalues.dtype == int
    assert 1 not in one.hashvalues[:, 0]
    assert one.jaccard(generator.minhash([0, 5, 0, 0])) == 0.0
    first, none, same = generator.minhash_many(np.array([[1, 0, 3, 2], [0, 0, 0, 0], [1, 0, 3, 2]]))
    assert none is None
    assert first == same
    for work, error, message in [
        (lambda: generator.minhash(3), TypeError, "sized"),
        (lambda: generator.minhash([1, 2]), ValueError, "dimension 4"),
        (lambda: generator.minhash([0] * 4), ValueError, "weight"),
        (lambda: generator.minhash_many([[1, 2, 3, 4]]), TypeError, "sparse"),
        (lambda: generator.minhash_many(np.ones(4)), ValueError, "two dimensions"),
        (lambda: generator.minhash_many(np.ones((1, 3))), ValueError, "dimension 4"),
        (lambda: one.jaccard(WeightedMinHash(2, one.hashvalues)), ValueError, "seeds"),
        (lambda: one.jaccard(WeightedMinHash(1, one.hashvalues[:2])), ValueError, "numbers"),
    ]:
        refuses(error, message, work)


# ---- what is not here


def test_what_stays_out():
    counters = ("HyperLogLog", "HyperLogLogPlusPlus")
    for name in (*counters, "HNSW", "MinHashLSHBloom", "AsyncMinHashLSH"):
        assert not hasattr(ours, name)
        refuses(AttributeError, f"no {name}: it .* datasketch itself", getattr, ours, name)
        refuses(ImportError, name, exec, f"from fastlsh.compat.datasketch import {name}")
    with pytest.raises(AttributeError, match="nothing"):
        ours.nothing  # noqa: B018
    assert not hasattr(ours, "__wrapped__")


# ---- with datasketch itself


def test_objects_pass_both_ways(theirs, scheme):
    mine, other = sketch_of(scheme), sketch_of(scheme, module=theirs)
    assert mine.jaccard(other) == other.jaccard(mine) == 1.0
    assert theirs.MinHash.union(other, mine).jaccard(mine) == 1.0
    assert MinHash.union(mine, other).count() == other.count()
    assert bytes_of(LeanMinHash(other)) == bytes_of(theirs.LeanMinHash(mine))
    for order in ORDERS:
        data = bytes_of(theirs.LeanMinHash(other), order)
        assert LeanMinHash.deserialize(data, order) == LeanMinHash(mine)
    taken = MinHash(
        seed=3, hashvalues=other.hashvalues, permutations=other.permutations, scheme=scheme
    )
    taken.update_batch([b"x"])
    other.update(b"x")
    assert (taken.hashvalues == other.hashvalues).all()
    for b in (1, 3, 8, 32):
        for r in (0.0, 0.3):
            small, smaller = bBitMinHash(mine, b, r), theirs.bBitMinHash(mine, b, r)
            assert small.__getstate__() == smaller.__getstate__()
            different = sketch_of(scheme, seed=3)
            different.update(b"more")
            assert small.jaccard(bBitMinHash(different, b, r)) == smaller.jaccard(
                theirs.bBitMinHash(different, b, r)
            )


def test_pickles_pass_both_ways(theirs, scheme):
    mine, other = sketch_of(scheme), sketch_of(scheme, module=theirs)
    make = [lambda m, s: s, lambda m, s: m.LeanMinHash(s), lambda m, s: m.bBitMinHash(s, 3)]
    for protocol in range(2, 6):
        for kind in make:
            read = pickles.loads(pickle.dumps(kind(theirs, other), protocol))
            assert type(read).__module__.startswith("fastlsh.")
            assert read == kind(ours, mine)
            written = pickles.dumps([kind(ours, mine)], protocol)
            assert b"fastlsh" not in written
            (back,) = pickle.loads(written)
            assert type(back).__module__.startswith("datasketch.")
            assert back == kind(theirs, other)


def test_pickles_that_name_datasketch_are_read_without_it(scheme):
    mine = sketch_of(scheme)
    file = io.BytesIO()
    pickles.dump({"sketch": mine, "others": [LeanMinHash(mine)]}, file)
    file.seek(0)
    back = pickles.load(file)["sketch"]
    assert type(back) is MinHash
    assert back == mine
    assert back.hashfunc is mine.hashfunc
    back.update(b"x")
    back.update_batch([b"y"])


def test_weighted_equals_theirs(theirs):
    sparse = pytest.importorskip("scipy.sparse")
    numbers = np.random.default_rng(0)
    for dim, samples, seed in ((1, 3, 1), (5, 16, 2), (100, 128, 7)):
        mine = WeightedMinHashGenerator(dim, samples, seed)
        other = theirs.WeightedMinHashGenerator(dim, samples, seed)
        many = numbers.random((30, dim)) * (numbers.random((30, dim)) < 0.5) * 10
        for row in many:
            if row.any():
                assert (mine.minhash(row).hashvalues == other.minhash(row).hashvalues).all()
        expected = other.minhash_many(many)
        for form in (many, sparse.csr_matrix(many), sparse.coo_matrix(many)):
            for a, b in zip(mine.minhash_many(form), expected, strict=True):
                assert (a is None) == (b is None)
                assert a is None or (a.hashvalues == b.hashvalues).all()
