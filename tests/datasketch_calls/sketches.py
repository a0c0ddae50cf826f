"""Calls of LeanMinHash, bBitMinHash and WeightedMinHash."""

import math
import pickle

import numpy as np

from datasketch_calls.arguments import BUFFERS, COLLECTIONS, OTHERS, SCHEMES, sketch
from datasketch_calls.registry import calls, outcome

# ---- LeanMinHash


def lean(package, scheme="affine32"):
    return package.LeanMinHash(sketch(package, scheme=scheme))


@calls("LeanMinHash(minhash)", one=OTHERS, scheme=[None, "affine32", "other"])
def _(package, one, scheme):
    return package.LeanMinHash(one(package), scheme=scheme)


@calls(
    "LeanMinHash()", seed=[None, 1, "x"], values=[None, [1]], scheme=[None, "legacy", "x", ["x"]]
)
def _(package, seed, values, scheme):
    return package.LeanMinHash(seed=seed, hashvalues=values, scheme=scheme)


@calls("LeanMinHash: update", method=["update", "update_batch"], elements=COLLECTIONS)
def _(package, method, elements):
    return getattr(lean(package), method)(elements)


@calls("LeanMinHash: update_batch of an iterator", elements=[[], [b"a"]])
def _(package, elements):
    return lean(package).update_batch(iter(elements))


@calls("LeanMinHash.bulk", sets=[[], [[]], [[b"a"]]], given=["minhash", "num_perm", "nothing"])
def _(package, sets, given):
    how = {"minhash": {"minhash": sketch(package)}, "num_perm": {"num_perm": 4}, "nothing": {}}
    return package.LeanMinHash.bulk(sets, **how[given])


ORDERS = ["@", "=", "<", ">", "!", "?", "", "@@", None, 3, b"<"]


@calls("bytesize", scheme=SCHEMES, order=ORDERS)
def _(package, scheme, order):
    return lean(package, scheme).bytesize(order)


@calls("serialize", scheme=SCHEMES, order=ORDERS, size=[0, 11, 60], kind=[bytearray, bytes, str])
def _(package, scheme, order, size, kind):
    buffer = "x" * size if kind is str else kind(size)
    lean(package, scheme).serialize(buffer, order)
    return [buffer, package.LeanMinHash.deserialize(buffer, order)]


@calls("serialize to", buffer={**BUFFERS, "words": np.zeros(99, np.uint64), "long list": [0] * 99})
def _(package, buffer):
    return lean(package).serialize(buffer)


@calls("serialize, numbers", seed=[-1, 2**63 - 1, 2**63, 1.5, "x"], value=[1, 2**32 - 1, 2**40])
def _(package, seed, value):
    one = package.LeanMinHash(seed=seed, hashvalues=[value], scheme="legacy")
    buffer = bytearray(one.bytesize())
    one.serialize(buffer)
    return buffer


@calls("deserialize", buffer=BUFFERS)
def _(package, buffer):
    return package.LeanMinHash.deserialize(buffer)


@calls("deserialize, order", written=["@", "<", ">"], order=ORDERS, size=[0, 11, 12, 28, 60])
def _(package, written, order, size):
    one = lean(package)
    buffer = bytearray(60)
    one.serialize(buffer, written)
    return package.LeanMinHash.deserialize(buffer[:size], order)


@calls("__setstate__", kind=["LeanMinHash", "bBitMinHash"], buffer=BUFFERS)
def _(package, kind, buffer):
    result = object.__new__(getattr(package, kind))
    result.__setstate__(buffer)
    return result


# ---- bBitMinHash

BITS = [-1, 0, 1, 2, 3, 5, 31, 32, 33, 1.7, "2", "x", None, True, np.int64(3), [1]]


@calls("bBitMinHash(minhash)", one=OTHERS)
def _(package, one):
    return package.bBitMinHash(one(package), 2)


@calls("bBitMinHash(b)", scheme=SCHEMES, b=BITS)
def _(package, scheme, b):
    one = package.bBitMinHash(sketch(package, scheme=scheme), b)
    return [one, one.b, one.r]


@calls("bBitMinHash: ==", r=[0.0, 0.5, math.nan], other=[0.0, 0.5, math.nan])
def _(package, r, other):
    one = package.bBitMinHash(sketch(package), 4, r)
    return [one == one, one == package.bBitMinHash(sketch(package), 4, other)]


@calls("bBitMinHash: state", scheme=SCHEMES, b=BITS)
def _(package, scheme, b):
    one = package.bBitMinHash(sketch(package, scheme=scheme), b)
    return [one.bytesize(), one.__getstate__(), pickle.loads(pickle.dumps(one))]


@calls("bBitMinHash(r)", b=[0, 1, 4, 32], r=[-1, -0.5, 0, 0.3, 1, 1.1, math.nan, "0.5", "x", None])
def _(package, b, r):
    one = package.bBitMinHash(sketch(package), b, r)
    return [one.r, one.jaccard(package.bBitMinHash(sketch(package, [b"a"]), b, 0.25))]


# ---- WeightedMinHash

VECTORS = {
    "list": [1, 2, 0, 4], "integers": np.array([1, 2, 0, 4]),
    "float32": np.array([1, 2, 0, 4], np.float32), "uint64": np.array([2**63, 1, 0, 2], np.uint64),
    "bools": np.array([True, False, True, True]), "objects": np.array([1, 2, 0, 4], object),
    "texts": ["1", "2", "0", "4"], "column": np.ones((4, 1)),
    "two dimensions": np.array([[1, 2, 0, 4]] * 4), "no dimension": np.array(3.0),
    "largest": [3.4e38, 2, 0, 4], "least": [1e-40, 2, 0, 4], "negative zero": [-0.0, 2, 0, 4],
    "zeros": [0, 0, 0, 0], "short": [1, 2], "empty": [], "range": range(4), "None": None, "3": 3,
    "set": {1, 2, 3, 4}, "dict": {0: 1, 1: 2, 2: 0, 3: 4},
}  # fmt: skip
ODD_VECTORS = {
    "inf": [1, math.inf, 0, 4], "infs": [math.inf, math.inf, 0, 4],
    "inf in float32": np.array([np.inf, 2, 0, 4], np.float32), "beyond float32": [1e39, 2, 0, 4],
    "all beyond float32": [1e39] * 4, "beyond float32 in float64": np.array([1e39, 2, 0, 4]),
    "integer beyond float32": [10**39, 1, 1, 1], "integer beyond float64": [10**400, 1, 1, 1],
    "below float32": [1e-60, 2, 0, 4], "all below float32": [1e-60] * 4,
    "-inf": [1, -math.inf, 0, 4], "nan": [1, math.nan, 0, 4], "nans": [math.nan] * 4,
    "nan and zeros": [math.nan, 0, 0, 0], "inf and nan": [math.nan, math.inf, 0, 0],
    "negative": [-1, 2, 0, 4], "negatives": [-1, -2, -3, -4],
    "inf and negative": [-1, math.inf, 0, 0], "complex": np.array([1, 2j, 0, 4]),
    "Nones": [None] * 4, "nested": [[1, 2, 0, 4]] * 4, "ragged": [1, [2], 3, 4],
    "durations": np.array([1, 2, 0, 4], "m8[s]"),
}  # fmt: skip


@calls("WeightedMinHash: minhash", vector={**VECTORS, **ODD_VECTORS})
def _(package, vector):
    return package.WeightedMinHashGenerator(4, 8).minhash(vector)


@calls("WeightedMinHash: minhash_many", rows=VECTORS)
def _(package, rows):
    return package.WeightedMinHashGenerator(4, 8).minhash_many(rows)


@calls("WeightedMinHash: minhash_many, a matrix", row=["list", "float32", "short"])
def _(package, row):
    return package.WeightedMinHashGenerator(4, 8).minhash_many(np.asmatrix(VECTORS[row]))


@calls(
    "WeightedMinHash: minhash_many, two", row=["list", "float32", "zeros", "least", "negative zero"]
)
def _(package, row):
    rows = np.array([VECTORS[row], [1, 2, 3, 4]], np.float32)
    return package.WeightedMinHashGenerator(4, 8).minhash_many(rows)


@calls(
    "WeightedMinHashGenerator()",
    dim=[4, 0, -1, 2.0, "4", None, True],
    samples=[4, 0, -1, True],
    seed=[1, -1, 2**32, "x", 1.5, [1, 2], True],
)
def _(package, dim, samples, seed):
    one = package.WeightedMinHashGenerator(dim, samples, seed)
    return [one.dim, one.sample_size, one.seed, one.rs.shape, one.minhash([1] * dim)]


@calls(
    "WeightedMinHash()",
    values={"None": None, "3": 3, "list": [1, 2], "lists": [[1, 2], [3, 4]], "text": "ab",
            "array": np.array([[1, 2], [3, 4]]), "no rows": np.zeros((0, 2))},
)  # fmt: skip
def _(package, values):
    one = package.WeightedMinHash(1, values)
    asked = (len, one.jaccard, lambda m: m.digest(), lambda m: m.copy(), lambda m: m == m.copy())
    return [outcome(lambda _, ask=ask: ask(one), package) for ask in asked]
