"""The loops of each instruction set, called one by one: no wrapper stands in between."""

import ctypes
import hashlib
import importlib
import re
from ctypes import c_double, c_int, c_ssize_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

import oracle
from combinations import BUILDS, covering, every_isa
from fastlsh import _kernels
from fastlsh._kernels.minhash import _signatures
from fastlsh._kernels.text import _plans

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
        with pytest.raises((TypeError, ValueError)):
            _kernels.use_loops(wrong)


@pytest.mark.parametrize("k", [1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 131])
def test_count_equal(loops, k):
    rng = np.random.default_rng(k)
    a = some(rng, k)
    for share in (0.0, 0.3, 1.0):
        b = np.where(rng.random(k) < share, a, ~a)
        count = np.full(3, -7, np.int64)
        loops("count_equal", None, a, b, c_ssize_t(k), count[1:])
        assert count.tolist() == [-7, sum(x == y for x, y in zip(a, b, strict=True)), -7]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 59, 60, 127, 128, 129, 700])
def test_jaccard_and_containment_of_sets(loops, n):
    rng = np.random.default_rng(n)
    pool = np.unique(some(rng, max(2 * n, 1), np.uint64))
    for size in (0, 1, n // 2, n):
        a = np.sort(rng.permutation(pool)[:n])
        b = np.sort(rng.permutation(pool)[:size])
        expected = oracle.jaccard(set(a.tolist()), set(b.tolist()))
        for threshold in (0.0, 0.3, 0.5, expected):
            found = loops(
                "jaccard_of_sets", c_double, a, c_ssize_t(len(a)), b, c_ssize_t(len(b)),
                c_double(threshold),
            )  # fmt: skip
            assert found == (expected if expected >= threshold else -1.0)
        share = len(set(a.tolist()) & set(b.tolist())) / len(a) if len(a) and len(b) else 0.0
        for least in (0.0, 0.3, 0.9, share):
            found = loops(
                "containment_of_sets", c_double, a, c_ssize_t(len(a)), b, c_ssize_t(len(b)),
                c_double(least),
            )  # fmt: skip
            assert found == (share if share >= least else -1.0)


def test_sha1_compress(loops):
    # A message of 55 bytes in each lane: with the end mark and the length, one block.
    rng = np.random.default_rng(1)
    messages = [some(rng, 55, np.uint8).tobytes() for _ in range(16)]
    blocks = [each + b"\x80" + (55 * 8).to_bytes(8, "big") for each in messages]
    words = np.array([np.frombuffer(each, np.uint32) for each in blocks]).T.copy()
    start = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
    state = np.repeat(np.array(start, np.uint32), 16).reshape(5, 16)
    loops("sha1_compress", None, state, words)
    for lane, message in enumerate(messages):
        assert state[:, lane].astype(">u4").tobytes() == hashlib.sha1(message).digest()


class Signer(ctypes.Structure):
    """As in signer.pxd."""

    _fields_ = [
        ("scheme", c_int), ("a", c_void_p), ("b", c_void_p), ("k", c_ssize_t),
        ("rows", c_ssize_t), ("bands", c_ssize_t), ("stride", c_ssize_t),
    ]  # fmt: skip


@pytest.mark.parametrize(("k", "width"), covering([1, 31, 32, 33, 63, 64, 65, 128, 130], [32, 64]))
def test_sign_hashes(loops, k, width):
    rng = np.random.default_rng(k)
    a, b = some(rng, k) | np.uint32(1), some(rng, k)
    offsets = np.array([0, 0, 1, 16, 33, 600])
    hashes = some(rng, 600, f"uint{width}")
    how = Signer(_signatures.AFFINE32, a.ctypes.data, b.ctypes.data, k, 0, 0, 0)
    rows = np.zeros((5, k), np.uint32)
    loops(
        f"sign_hashes_{width}", None, hashes, offsets, c_ssize_t(5),
        pointer(how), rows,
    )  # fmt: skip
    for d in range(5):
        inputs = [oracle.fold(int(h)) for h in hashes[offsets[d] : offsets[d + 1]]]
        for j in range(k):
            values = [(int(a[j]) * x + int(b[j])) % 2**32 for x in inputs]
            assert rows[d, j] == min(values, default=2**32 - 1)


class Functions(ctypes.Structure):
    """As in functions.pxd."""

    _fields_ = [("scheme", c_int), ("k", c_ssize_t)] + [
        (name, c_void_p) for name in ("a32", "b32", "a64", "b64")
    ]


@pytest.mark.parametrize(
    ("k", "n"), covering([1, 7, 8, 9, 31, 32, 33, 65], [0, 1, 15, 16, 17, 600])
)
def test_permute_with_a_prime(loops, k, n):
    rng = np.random.default_rng(100 * k + n)
    a, b, hashes = some(rng, k, np.uint64), some(rng, k, np.uint64), some(rng, n, np.uint64)
    prime = 2**61 - 1
    for scheme, bits, most in (
        (_signatures.LEGACY, 32, 2**32 - 1),
        (_signatures.PRIME61, 64, prime),
    ):
        how = Functions(scheme, k, 0, 0, a.ctypes.data, b.ctypes.data)
        row = np.full(k, most, np.uint64)
        loops("permute", None, pointer(how), hashes, c_ssize_t(n), row)
        for j in range(k):
            values = [(int(a[j]) * int(h) + int(b[j])) % 2**64 % prime % 2**bits for h in hashes]
            assert row[j] == min(values, default=most)


class Plan(ctypes.Structure):
    """As in source.pxd."""

    _fields_ = [
        ("unit", c_int), ("size", c_ssize_t), ("mixer", c_uint64 * 3), ("keyed", c_void_p),
        ("words", c_void_p), ("power", c_uint64), ("entering", c_uint64 * 256),
        ("leaving", c_uint64 * 256),
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
UNITS = {"char": _plans.CHARACTERS, "word": _plans.WORDS}
WORKBENCH = 8 * (1 << 13) + 2 * ((1 << 16) + 4) + 8 * (1 << 15)


@pytest.mark.parametrize(("kind", "size", "unit"), covering([1, 2, 4], [1, 2, 9], UNITS))
def test_sets_of_texts(loops, kind, size, unit):
    spans, owners = spans_of(TEXTS, kind)
    plan = Plan(UNITS[unit], size)
    out, window = np.zeros(10_000, np.uint64), np.zeros(4000, np.uint64)
    start, count = np.arange(0, 10_001, 2000), np.zeros(5, np.int64)
    bench = np.zeros(WORKBENCH // 8, np.uint64)
    loops(
        "sets_of_texts", None, pointer(spans), c_ssize_t(5), pointer(plan), window, out, start,
        count, c_int(0), bench,
    )  # fmt: skip
    for d, text in enumerate(TEXTS):
        units = oracle.units_of(text, unit)
        expected = {oracle.window_hash(each) for each in oracle.windows(units, size)}
        assert out[start[d] : start[d] + count[d]].tolist() == sorted(expected)
    assert owners


@pytest.mark.parametrize("kind", [1, 2, 4])
def test_write_words(loops, kind):
    spans, owners = spans_of(TEXTS, kind)
    plan = Plan(_plans.WORDS, 1)
    for span, text in zip(spans, TEXTS, strict=True):
        out = np.zeros((len(text) + 1, 2), np.int64)
        n = loops("write_words", c_ssize_t, pointer(plan), pointer(span), out)
        assert [text[begin:end] for begin, end in out[:n]] == text.split()
    assert owners


@pytest.mark.parametrize("kind", [1, 2, 4])
def test_count_words(loops, kind):
    spans, owners = spans_of(TEXTS, kind)
    plan = Plan(_plans.WORDS, 1)
    for span, text in zip(spans, TEXTS, strict=True):
        for most in (1, 10**6):
            n = loops("count_words", c_ssize_t, pointer(plan), pointer(span), c_ssize_t(most))
            assert min(n, most) == min(len(text.split()), most)
    assert owners


@pytest.mark.parametrize("kind", [1, 2, 4])
def test_write_hashes(loops, kind):
    spans, owners = spans_of(TEXTS, kind)
    plan = Plan(_plans.WORDS, 1)
    for span, text in zip(spans, TEXTS, strict=True):
        out = np.zeros(len(text) + 1, np.uint64)
        n = loops("write_hashes", c_ssize_t, pointer(plan), pointer(span), out)
        assert out[:n].tolist() == [oracle.window_hash((word,)) for word in text.split()]
    assert owners
