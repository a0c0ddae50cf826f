"""Calls of MinHash."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np

from datasketch_calls.arguments import COLLECTIONS, OTHERS, SCHEMES, sketch
from datasketch_calls.registry import calls

# Numbers that numpy converts differently on different processors are left out: negative
# floating-point ones, and those too large for the type.
HASHES = {
    "text": "12", "no text": "", "bytes": b"12", "float": 3.7, "inf": math.inf, "nan": math.nan,
    "negative": -1, "very negative": -(2**63) - 1, "0": 0, "2**32 - 1": 2**32 - 1, "2**32": 2**32,
    "2**63": 2**63, "2**64 - 1": 2**64 - 1, "2**64": 2**64, "None": None, "True": True,
    "list": [1, 2], "list of one": [7], "tuple of one": (7,), "set": frozenset([1]), "complex": 1j,
    "Fraction": Fraction(7, 2), "Decimal": Decimal("3.5"), "class": object, "int8": np.int8(5),
    "negative int8": np.int8(-5), "uint32": np.uint32(7), "uint64": np.uint64(2**63 + 5),
    "int64": np.int64(2**40), "negative int64": np.int64(-2), "float32": np.float32(2.5),
    "float64": np.float64(2.5), "bool_": np.bool_(True), "str_": np.str_("7"),
    "array": np.array(6), "array of one": np.array([6]), "array of two": np.array([6, 7]),
}  # fmt: skip

READY = {
    "uint32": np.array([1, 2], np.uint32), "int64": np.array([1, 2], np.int64),
    "uint64": np.array([2**40, 3], np.uint64), "negative": np.array([-1, 5], np.int64),
    "large": np.array([2**63, 1], np.uint64), "bool": np.array([True]),
    "float": np.array([1.5, 2.5]), "object": np.array([1, 2], object), "text": np.array(["1", "2"]),
    "two dimensions": np.array([[1, 2], [3, 4]], np.int64), "no dimension": np.array(5),
    "empty": np.array([], np.int64), "other byte order": np.array([1, 2], ">u4"),
    "strided": np.arange(10, dtype=np.int64)[::3], "list": [1, 2], "large list": [2**32],
    "list of arrays": [np.array([1]), np.array([2])], "ragged": [1, [2]], "range": range(4),
    "floats": [1.0, 2.0], "float after": [1, 2.5], "texts": ["1", "2"], "text after": [1, "2"],
    "None after": [1, None], "negative after": [1, -1], "large after": [1, 2**64],
    "float, large": [1.5, 2**63], "uint64 and int": [np.uint64(2**63), 5],
    "uint64 and negative": [np.uint64(2**63), -5], "bools": [True, False], "bytes": [b"1"],
    "bytes after": [1, b"2"], "tuples": [(1,), (2,)], "lists of two": [[1, 2], [3, 4]], "set": {3},
}  # fmt: skip

HASH_VALUES = {
    "list": [1, 2, 3, 4], "tuple": (1, 2, 3, 4), "negative": [-1, 2, 3, 4], "2**32": [2**32, 1],
    "2**64": [2**64, 1, 1, 1], "floats": [1.5, 2, 3, 4], "inf": [math.inf, 1, 2, 3],
    "texts": ["1"] * 4, "text": "1234", "None": None, "Nones": [None] * 4, "empty": [], "3": 3,
    "nested": [[1, 2], [3, 4]], "int8": np.array([1, -2, 3, 4], np.int8),
    "int64": np.array([1, 2, 3, 2**40], np.int64), "negative int64": np.array([1, -4], np.int64),
    "uint32": np.arange(4, dtype=np.uint32), "float64": np.array([1.5, 2, 3, 4]),
    "bool": np.ones(4, bool), "object": np.array([1, 2, 3, 2**40], object),
    "large object": np.array([2**70, 1], object), "array of texts": np.array(["1", "2"]),
    "no dimension": np.array(3), "two dimensions": np.ones((4, 2), np.uint32), "range": range(4),
    "dict": {1: 2, 3: 4}, "set": {1, 2}, "bytes": b"1234", "strided": np.arange(8)[::2],
}  # fmt: skip

A, B = [1, 3, 5, 7], [1, 2, 3, 4]
PERMUTATIONS = {
    "lists": (A, B), "list": [A, B], "even": ([1, 2, 5, 7], B), "shorter": ([1, 3], [1, 2]),
    "ragged": (A, [1]), "one": (A,), "three": (A, B, B), "3": 3, "empty": ([], []), "none": (),
    "negative": ([1, -3, 5, 7], B), "2**64": ([2**64 + 1, 3, 5, 7], B), "text": "ab",
    "2**40": ([2**40 + 1, 3, 5, 7], B), "texts": (["1"] * 4, ["2"] * 4), "floats": ([1.0] * 4, B),
    "int64": np.array([A, B], np.int64), "uint32": np.array([A, B], np.uint32),
    "uint64": np.array([A, B], np.uint64), "three uint32": np.ones((3, 4), np.uint32),
    "three uint64": np.ones((3, 4), np.uint64), "flat": np.ones(8, np.uint32),
    "arrays": (np.array(A), np.array(B)), "deep": np.ones((2, 4, 1), np.uint32),
    "bool": np.ones((2, 4), bool),
}  # fmt: skip


def identity(x):
    return x


def called(x):
    return x + 0 if isinstance(x, int) else x


# ---- made


def made(package, scheme, **how):
    result = package.MinHash(**{"num_perm": 4, "scheme": scheme, **how})
    return [result, result.num_perm, result.permutations]


sizes = [0, -1, 1, 3, 2**32 + 1, 2.5, 3.0, "3", None, True, [4], np.int64(4), np.float64(4)]
seeds = [0, 1, 2**32 - 1, 2**32, -1, 1.5, "x", True, np.int64(3), [1, 2], np.array(3), 2.0]
schemes = [*SCHEMES, "other", 3, None, "", b"legacy", ["legacy"], True]
calls("MinHash(num_perm)", scheme=SCHEMES, num_perm=sizes)(made)
calls("MinHash(seed)", scheme=SCHEMES, seed=seeds)(made)
calls("MinHash(gpu_mode)", scheme=SCHEMES, gpu_mode=["disable", "detect", "always", "x", None])(
    made
)
calls("MinHash(hashfunc)", scheme=SCHEMES, hashfunc={"3": 3, "text": "x", "len": len})(made)
calls("MinHash(hashobj)", scheme=SCHEMES, hashobj=[3, None])(made)
calls("MinHash(unknown)", scheme=SCHEMES, unknown=[1])(made)
calls("MinHash(scheme)", scheme=schemes)(made)


@calls("MinHash(hashvalues)", scheme=[*SCHEMES, None], values=HASH_VALUES)
def _(package, scheme, values):
    return package.MinHash(hashvalues=values, scheme=scheme)


@calls("LeanMinHash(hashvalues)", scheme=[*SCHEMES, None], values=HASH_VALUES)
def _(package, scheme, values):
    return package.LeanMinHash(seed=1, hashvalues=values, scheme=scheme)


@calls("MinHash(permutations)", scheme=[*SCHEMES, None], values=PERMUTATIONS)
def _(package, scheme, values):
    return package.MinHash(num_perm=4, permutations=values, scheme=scheme)


@calls("MinHash(permutations), updated", scheme=SCHEMES[:2], values=PERMUTATIONS)
def _(package, scheme, values):
    result = package.MinHash(num_perm=4, permutations=values, scheme=scheme)
    result.update(b"a")
    result.update_batch([b"b", b"c"])
    return result


# ---- updated


def hashing(package, scheme, value, **how):
    """Return a MinHash that hashes b"?" to the value."""
    return package.MinHash(
        4, hashfunc=lambda one: value if one == b"?" else len(one), scheme=scheme, **how
    )


@calls("update: hash", scheme=SCHEMES, value=HASHES)
def _(package, scheme, value):
    result = hashing(package, scheme, value)
    result.update(b"?")
    return result


@calls("update: ready", scheme=SCHEMES, value=HASHES)
def _(package, scheme, value):
    result = package.MinHash(4, hashfunc=lambda x: x, scheme=scheme)
    result.update(value)
    return result


@calls("update_batch: hash", scheme=SCHEMES, elements=["?", "a?", "?a", "??"], value=HASHES)
def _(package, scheme, elements, value):
    result = hashing(package, scheme, value)
    result.update_batch([one.encode() for one in elements])
    return result


@calls("bulk: hash", scheme=SCHEMES, value=HASHES)
def _(package, scheme, value):
    how = {"num_perm": 4, "scheme": scheme, "hashfunc": hashing(package, scheme, value).hashfunc}
    return package.MinHash.bulk([[b"a"], [b"ab", b"?"], []], **how)


@calls("update_batch: ready", scheme=SCHEMES, hashfunc=[identity, called], hashes=READY)
def _(package, scheme, hashfunc, hashes):
    result = package.MinHash(4, scheme=scheme, hashfunc=hashfunc)
    result.update_batch(hashes)
    return result


@calls("bulk: ready", scheme=SCHEMES, hashfunc=[identity, called], hashes=READY)
def _(package, scheme, hashfunc, hashes):
    return package.MinHash.bulk([hashes, hashes], num_perm=4, scheme=scheme, hashfunc=hashfunc)


@calls("bulk of: ready", scheme=SCHEMES, hashfunc=[identity, called], hashes=READY)
def _(package, scheme, hashfunc, hashes):
    return package.MinHash.bulk(hashes, num_perm=4, scheme=scheme, hashfunc=hashfunc)


@calls("update", scheme=SCHEMES, element=COLLECTIONS)
def _(package, scheme, element):
    return [result := package.MinHash(4, scheme=scheme), result.update(element)]


@calls("update_batch", scheme=SCHEMES, elements=COLLECTIONS)
def _(package, scheme, elements):
    return [result := package.MinHash(4, scheme=scheme), result.update_batch(elements)]


@calls("bulk", scheme=SCHEMES, sets=COLLECTIONS)
def _(package, scheme, sets):
    return package.MinHash.bulk(sets, num_perm=4, scheme=scheme)


@calls("generator", scheme=SCHEMES, elements=COLLECTIONS)
def _(package, scheme, elements):
    return package.MinHash.generator([elements], num_perm=4, scheme=scheme)


@calls("bulk(unknown)", method=["bulk", "generator"], unknown=[1])
def _(package, method, unknown):
    return getattr(package.MinHash, method)([], unknown=unknown)


@calls("gpu_mode always", elements=["", "a", "?"], value={"1": 1, "negative": -1, "text": "x"})
def _(package, elements, value):
    result = hashing(package, "affine32", value, gpu_mode="always")
    result.update_batch([one.encode() for one in elements])
    return result


@calls("gpu_mode always, bulk", sets=[[], [[]], [[b"a"]]])
def _(package, sets):
    return package.MinHash.bulk(sets, num_perm=4, gpu_mode="always")


# ---- compared and united

KINDS = {
    kind: OTHERS[kind] for kind in ("MinHash", "LeanMinHash", "bBitMinHash", "WeightedMinHash")
}


@calls("jaccard", one=KINDS, other=OTHERS)
def _(package, one, other):
    return one(package).jaccard(other(package))


@calls("==", one=KINDS, other=OTHERS)
def _(package, one, other):
    return [one(package) == other(package), one(package) != other(package)]


@calls("merge", one=KINDS, other=OTHERS)
def _(package, one, other):
    result = one(package)
    return [result.merge(other(package)), result]


@calls("union", kind=["MinHash", "LeanMinHash", "bBitMinHash"], one=KINDS, other=OTHERS)
def _(package, kind, one, other):
    return getattr(package, kind).union(one(package), other(package))


@calls("union, the other way round", kind=["MinHash", "LeanMinHash"], one=KINDS, other=OTHERS)
def _(package, kind, one, other):
    return getattr(package, kind).union(other(package), one(package))


@calls("union of one", kind=["MinHash", "LeanMinHash"], one=OTHERS)
def _(package, kind, one):
    return getattr(package, kind).union(one(package))


@calls("union of none", kind=["MinHash", "LeanMinHash"])
def _(package, kind):
    return getattr(package, kind).union()


# ---- asked

SKETCHES = {kind: OTHERS[kind] for kind in (*KINDS, "empty", "affine64", "legacy")}
METHODS = ["count", "digest", "is_empty", "copy", "clear", "bytesize", "__len__"]
ATTRIBUTES = ["num_perm", "permutations", "hashfunc", "seed", "scheme", "unknown", "_gpu_mode"]


@calls("methods", one=SKETCHES, method=METHODS)
def _(package, one, method):
    return getattr(one(package), method)()


@calls("attributes", one=SKETCHES, attribute=ATTRIBUTES)
def _(package, one, attribute):
    value = getattr(one(package), attribute)
    return value.__name__ if callable(value) else value


@calls("hash", one=SKETCHES)
def _(package, one):
    return hash(one(package)) == hash(one(package))


@calls("cleared", one=SKETCHES)
def _(package, one):
    result = one(package)
    return [result.clear(), result, result.is_empty(), result.count()]


@calls("pickled", one=SKETCHES)
def _(package, one):
    return pickle.loads(pickle.dumps(one(package)))


@calls("hash functions", function=["sha1_hash32", "sha1_hash64"], data={**COLLECTIONS, **HASHES})
def _(package, function, data):
    return getattr(package, function)(data)


@calls("a hashfunc that is sha1_hash32", scheme=SCHEMES, elements=COLLECTIONS)
def _(package, scheme, elements):
    result = sketch(package, [], scheme=scheme, hashfunc=package.sha1_hash32)
    result.update_batch(elements)
    return result
