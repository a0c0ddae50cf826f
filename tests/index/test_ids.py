"""Ids of subclasses of str, bytes and int: their values count, in every kind of index."""

import copy
import os
import pickle
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction

import numpy as np
import pytest

from combinations import covering
from fastlsh import Index
from index_model import KINDS

TEXTS = [f"document {d} of some length and then {d}" for d in range(4)]


class Word(str, Enum):
    ONE = "one"
    TWO = "two"


class Number(IntEnum):
    ONE = 1
    TWO = 2


class Loud(str):
    def __str__(self):
        return "LOUD"

    def __hash__(self):
        return 7

    def encode(self, *_):
        return b"LOUD"


class Code(bytes):
    def __bytes__(self):
        return b"another"


class Odd(int):
    def __int__(self):
        return 99

    def __hash__(self):
        return 7


# Ids as they are given, the values that count, and ids that equal the first one.
IDS = [
    ([Word.ONE, Word.TWO], ["one", "two"], ["one", Word.ONE, Loud("one"), np.str_("one")]),
    ([Loud("one"), np.str_("two")], ["one", "two"], [Loud("one"), "one", Word.ONE]),
    ([Code(b"one"), np.bytes_(b"two")], [b"one", b"two"], [b"one", Code(b"one")]),
    (
        [Number.ONE, np.int64(2)], [1, 2],
        [1, Number.ONE, Odd(1), np.uint8(1), True, np.True_, 1.0, np.float32(1), Fraction(1),
         Decimal(1)],
    ),
]  # fmt: skip
HOW = ["insert", "insert_many", "insert_unique", "merge"]
OTHERS = ["ONE", "Word.ONE", "LOUD", b"another", 99, 7, 1.5, float("nan"), float("inf"), 1j, (1,)]


@pytest.mark.parametrize(
    ("how", "ids", "backend"),
    [*covering(HOW, IDS, KINDS), *covering(HOW, IDS, ["redis"])],
    indirect=["backend"],
)
def test_the_value_counts(backend, ids, how, tmp_path):
    given, values, equal = ids
    index = backend(0.8, threads=1)
    if how == "insert":
        for name, text in zip(given, TEXTS, strict=False):
            index.insert(name, text)
    elif how == "insert_many":
        index.insert_many(given, TEXTS[:2])
    elif how == "insert_unique":
        index.insert_unique(given, TEXTS[:2])
    else:
        other = Index(0.8, threads=1)
        other.insert_many(given, TEXTS[:2])
        index.merge(other)
    file = os.fspath(tmp_path / "file")
    index.save(file)
    for each in (
        index, index.copy(), copy.deepcopy(index), pickle.loads(pickle.dumps(index)),
        Index.load(file), Index.load(file, mmap=True),
    ):  # fmt: skip
        assert list(each) == values
        assert [type(name) for name in each] == [type(value) for value in values]
        assert each.query(TEXTS[0]) == [(values[0], 1.0)]
        for name in equal:
            assert name in each
            assert (each.signature(name) == index.signature(values[0])).all()
        for name in OTHERS:
            assert name not in each
    for name in equal:
        assert index.discard(name)
        assert list(index) == values[1:]
        index.insert(given[0], TEXTS[0])
        with pytest.raises(ValueError, match="is in the index already"):
            index.insert(equal[1], TEXTS[2])
        with pytest.raises(ValueError, match="is given twice"):
            Index(0.8, threads=1).insert_many([equal[1], values[0]], TEXTS[:2])
        index.insert_many(equal[:2], TEXTS[:2], on_known="replace")
        assert list(index) == [values[1], values[0]]
        index.remove(name)
        index.insert(given[0], TEXTS[0])
