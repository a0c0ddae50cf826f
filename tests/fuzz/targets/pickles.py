"""Serialised sketches, and the states of pickled ones: refused, or objects that answer.

A pickle itself may call anything, so only the states inside one are made here.
"""

import struct

import numpy as np
from chosen import Chosen

from fastlsh.compat.datasketch import LeanMinHash, MinHash, MinHashLSH, bBitMinHash

REFUSED = (ValueError, TypeError, KeyError, AttributeError, IndexError, struct.error,
           OverflowError, MemoryError, ZeroDivisionError)  # fmt: skip
SOUND = MinHash(num_perm=8)
SOUND.update(b"one")


def one_input(data):
    given = Chosen(data)
    kind = given.number(4)
    try:
        if kind == 0:
            byteorder = given.one("@=<>!")
            lean = LeanMinHash.deserialize(given.rest(), byteorder)
            buf = bytearray(lean.bytesize(byteorder))
            lean.serialize(buf, byteorder)
            again = LeanMinHash.deserialize(buf, byteorder)
            assert again == lean
            lean.jaccard(lean)
        elif kind == 1:
            bbit = object.__new__(bBitMinHash)
            bbit.__setstate__(given.rest())
            bbit.jaccard(bbit)
            bbit.__getstate__()
        elif kind == 2:
            minhash = object.__new__(MinHash)
            minhash.__setstate__(state(given))
            minhash.update(b"two")
            minhash.jaccard(SOUND)
            minhash.merge(SOUND)
            MinHashLSH(num_perm=8, params=(2, 4)).insert("a", minhash)
        else:
            index = MinHashLSH(num_perm=8, params=(2, 4))
            index.insert("a", SOUND)
            inside = dict(index.__getstate__())
            for _ in range(1 + given.number(3)):
                inside[given.one(sorted(inside))] = value(given)
            other = object.__new__(MinHashLSH)
            other.__setstate__(inside)
            other.query(SOUND)
            other.insert("b", SOUND)
    except REFUSED:
        pass


def state(given):
    inside = dict(SOUND.__getstate__())
    for _ in range(1 + given.number(3)):
        inside[given.one(sorted(inside))] = value(given)
    return inside


def value(given):
    numbers = np.frombuffer(given.bytes(8 * given.number(10)).ljust(8, b"\1")[:80], np.uint8)
    return given.one([
        None, 0, -1, 2**63, 2**32 - 1, "legacy", "affine64", "x", b"x", (2, 4), [(0, 8)],
        numbers, numbers.astype(np.uint64), numbers.astype(np.float64), numbers[::-1],
        numbers.astype(np.uint32)[:, None], numbers.astype(">u4"), [numbers, numbers],
    ])  # fmt: skip
