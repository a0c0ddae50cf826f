"""Loops of each instruction set that no `def` shows alone, called one by one.

Those that a `def` shows are tested with the fixture `isa`.
"""

import ctypes
import importlib
import re
from ctypes import c_double, c_int, c_ssize_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

import oracle
from combinations import BUILDS, every_isa
from fastlsh import _kernels
from fastlsh._kernels.text import _plans
from refusals import refuses

TABLE = Path(__file__).parents[2] / "src" / "fastlsh" / "_kernels" / "loops" / "table.pxd"
if not TABLE.is_file():
    pytest.skip("the sources are not here", allow_module_level=True)

NAMES = re.findall(r"^    \w+ \(\*(\w+)\)\(", TABLE.read_text(encoding="utf-8"), re.MULTILINE)


def pointers(name):
    """Return the address of each loop of an instruction set."""
    capsule = importlib.import_module(f"fastlsh._kernels.loops._{name}").LOOPS
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = (c_void_p * len(NAMES)).from_address(get(capsule, b"fastlsh.loops"))
    return dict(zip(NAMES, found, strict=True))


class Loops:
    """The loops of an instruction set, as functions of ctypes."""

    def __init__(self, name):
        self.addresses = pointers(name)

    def __call__(self, name, restype, *arguments):
        kinds = [type(each) if isinstance(each, ctypes._SimpleCData) else c_void_p
                 for each in arguments]  # fmt: skip
        values = [each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments]
        return ctypes.CFUNCTYPE(restype, *kinds)(self.addresses[name])(*values)


@pytest.fixture(scope="module", params=every_isa())
def loops(request):
    return Loops(request.param)


def pointer(structure):
    return ctypes.cast(ctypes.pointer(structure), c_void_p)


def some(rng, n, dtype=np.uint32):
    return rng.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), n, dtype)


def test_no_table_has_a_gap():
    assert len(NAMES) == len(set(NAMES)) > 10
    for name in BUILDS:
        found = pointers(name)
        assert all(found.values()), found
        assert len(set(found.values())) == len(NAMES)


def test_what_is_no_table_is_refused():
    for wrong in (None, 1, b"fastlsh.loops", importlib.import_module("datetime").datetime_CAPI):
        refuses((TypeError, ValueError), None, _kernels.use_loops, wrong)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 59, 60, 127, 128, 129, 700])
def test_containment_of_sets(loops, n):
    rng = np.random.default_rng(n)
    pool = np.unique(some(rng, max(2 * n, 1), np.uint64))
    for size in (0, 1, n // 2, n):
        a = np.sort(rng.permutation(pool)[:n])
        b = np.sort(rng.permutation(pool)[:size])
        share = len(set(a.tolist()) & set(b.tolist())) / len(a) if len(a) and len(b) else 0.0
        for least in (0.0, 0.3, 0.9, share):
            found = loops(
                "containment_of_sets", c_double, a, c_ssize_t(len(a)), b, c_ssize_t(len(b)),
                c_double(least),
            )  # fmt: skip
            assert found == (share if share >= least else -1.0)


class Hashing(ctypes.Structure):
    """As in source.pxd."""

    _fields_ = [
        ("unit", c_int), ("size", c_ssize_t), ("mixer", c_uint64 * 3), ("keyed", c_void_p),
        ("words", c_void_p), ("ignored", c_void_p), ("power", c_uint64),
        ("entering", c_uint64 * 256), ("leaving", c_uint64 * 256),
    ]  # fmt: skip

    def __init__(self, unit, size):
        base = oracle.CHARACTER_BASE if unit == _plans.CHARACTERS else oracle.WORD_BASE
        mixed = [oracle.mix_code_point(c) for c in range(256)]
        self.unit, self.size, self.power = unit, size, pow(base, size - 1, 2**64)
        self.mixer[:] = [0, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53]
        self.entering[:] = mixed
        self.leaving[:] = [each * self.power % 2**64 for each in mixed]


class Span(ctypes.Structure):
    """As in _texts.pxd."""

    _fields_ = [("text", c_void_p), ("length", c_ssize_t), ("kind", c_int), ("before", c_int)]


def spans_of(texts, kind):
    """Return the spans, and the arrays that they point to."""
    arrays = [np.array(list(map(ord, text)), f"u{kind}") for text in texts]
    spans = [Span(each.ctypes.data, len(each), kind, 0) for each in arrays]
    return (Span * len(spans))(*spans), arrays


TEXTS = ["", "a", "of nine c", "a text  of words,\tsome é \xa0", "ab" * 40 + " xyz " * 300]


@pytest.mark.parametrize("kind", [1, 2, 4])
def test_words(loops, kind):
    spans, owners = spans_of(TEXTS, kind)
    plan = pointer(Hashing(_plans.WORDS, 1))
    for text, span in zip(TEXTS, map(pointer, spans), strict=True):
        words = text.split()
        places = np.zeros((len(text) + 1, 2), np.int64)
        n = loops("write_words", c_ssize_t, plan, span, places)
        assert [text[begin:end] for begin, end in places[:n]] == words
        for most in (1, 10**6):
            n = loops("count_words", c_ssize_t, plan, span, c_ssize_t(most))
            assert min(n, most) == min(len(words), most)
        hashes = np.zeros(len(text) + 1, np.uint64)
        n = loops("write_hashes", c_ssize_t, plan, span, hashes)
        assert hashes[:n].tolist() == [oracle.window_hash((word,)) for word in words]
    assert owners
