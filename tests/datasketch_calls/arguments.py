"""What calls of several classes are made with."""

import math
import struct

import numpy as np

SCHEMES = ["affine32", "affine64", "legacy"]


def sketch(package, elements=(b"a", b"b", b"c"), **how):
    result = package.MinHash(**{"num_perm": 4, **how})
    for element in elements:
        result.update(element)
    return result


def weighted(package, vector=(1, 2, 0, 4), samples=4, seed=1):
    return package.WeightedMinHashGenerator(4, samples, seed).minhash(np.array(vector))


class OnlyScheme:
    scheme = "affine32"


class OnlySeed:
    seed = 1


OTHERS = {
    "None": lambda p: None,
    "3": lambda p: 3,
    "text": lambda p: "abcd",
    "list": lambda p: [1, 2, 3, 4],
    "only scheme": lambda p: OnlyScheme(),
    "only seed": lambda p: OnlySeed(),
    "MinHash": sketch,
    "different": lambda p: sketch(p, [b"a", b"x"]),
    "empty": lambda p: sketch(p, []),
    "other seed": lambda p: sketch(p, seed=2),
    "longer": lambda p: sketch(p, num_perm=5),
    "affine64": lambda p: sketch(p, scheme="affine64"),
    "legacy": lambda p: sketch(p, scheme="legacy"),
    "other seed, longer": lambda p: sketch(p, seed=2, num_perm=5),
    "other seed, scheme": lambda p: sketch(p, seed=2, scheme="legacy"),
    "LeanMinHash": lambda p: p.LeanMinHash(sketch(p)),
    "lean, longer": lambda p: p.LeanMinHash(sketch(p, num_perm=5)),
    "bBitMinHash": lambda p: p.bBitMinHash(sketch(p), 4),
    "b-bit, other b": lambda p: p.bBitMinHash(sketch(p), 1),
    "b-bit, legacy": lambda p: p.bBitMinHash(sketch(p, scheme="legacy"), 4),
    "b-bit, other seed": lambda p: p.bBitMinHash(sketch(p, seed=2), 4),
    "b-bit, longer": lambda p: p.bBitMinHash(sketch(p, num_perm=5), 4),
    "b-bit, r": lambda p: p.bBitMinHash(sketch(p), 4, 0.5),
    "WeightedMinHash": weighted,
    "weighted, different": lambda p: weighted(p, (0, 1, 5, 2)),
    "weighted, other seed": lambda p: weighted(p, seed=2),
    "weighted, longer": lambda p: weighted(p, samples=5),
}

COLLECTIONS = {
    "list": [b"a", b"b"], "tuple": (b"a", b"b"), "no elements": [], "None": None, "3": 3,
    "text": "ab", "bytes": b"ab", "dict": {b"a": 1}, "set": {b"a"}, "bytearrays": [bytearray(b"a")],
    "views": [memoryview(b"a")], "texts": ["a"], "numbers": [1, 2], "nested": [[b"a"], [b"b"]],
    "with None": [b"a", None], "array of bytes": np.array([b"a", b"b"]),
    "array of numbers": np.array([1, 2]), "no text": "", "no bytes": b"", "arrays": [np.arange(3)],
}  # fmt: skip

KEYS = {
    "known": "k0", "unknown": "x", "list": [1], "None": None, "number": 3, "nan": math.nan,
    "bytes": b"k0", "tuple": ("k0",), "array": np.array([1]), "dict": {},
}  # fmt: skip

BUFFERS = {
    "empty": b"", "short": b"123", "text": "abc", "None": None, "3": 3, "list": [1, 2],
    "zeros": bytes(12), "unknown code": struct.pack("<qiB20x", 1, -1, 9),
    "no code": struct.pack("<qi", 1, -1), "no values": struct.pack("<qi", 1, 2),
    "least count": struct.pack("<qiB20x", 1, -(2**31), 1), "array": np.zeros(20, np.uint8),
    "array of words": np.zeros(3, np.uint64), "strided": np.zeros(40, np.uint8)[::2],
}  # fmt: skip
