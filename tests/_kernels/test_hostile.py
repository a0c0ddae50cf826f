"""Whatever a kernel is called with, it answers or refuses: nothing is read or written elsewhere.

Each `def` is called with the sound arguments of `kernel_cases`, some of them spoiled. In an
ordinary build, guards around the arrays show what is written outside; `.ci/sanitize` shows reads.
"""

import contextlib
import os
import random
import types

import numpy as np
import pytest
from hypothesis import settings

from every_kernel import MODULES
from fastlsh._kernels.text import _texts
from kernel_cases import CASES, TEXTS
from refusals import refuses

# AttributeError: where what is given only needs to look like an array. RuntimeWarning: numpy's,
# when it casts coefficients.
REFUSED = (
    TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError, RuntimeError,
    AttributeError, RuntimeWarning,
)  # fmt: skip

# The sanitizers want nothing that may be read around an array.
GUARD = 0 if os.environ.get("FASTLSH_SANITIZE") else 64
EDGES = [0, 1, 2, 3, 4, 7, 31, 2**31 - 1, 2**31, 2**32 - 1, 2**60, 2**61, 2**62 + 1, 2**63 - 2]
EDGES += [2**63 - 1, 2**63, 2**64 - 1, -1, -2, -5, -(2**31), -(2**62), -(2**63)]
DTYPES = [np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64, np.float32, object]
JUNK = [None, "x", b"xy", 2.5, object(), [], [1, 2], (), np.zeros(0), np.zeros(3)]
TRIES = settings().max_examples * 2


class Draw(random.Random):
    """What a try does by chance, always the same: hypothesis needs ten times as long for it."""

    def coin(self):
        return self.random() < 0.5

    def some(self, values, least, most):
        return [self.choice(values) for _ in range(self.randint(least, most))]


def compiled():
    """Yield (name, object) of all that is defined in the compiled modules, methods included."""
    for module in MODULES:
        for key, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__ or key.startswith("_"):
                continue
            yield key, value
            for inner, method in vars(value).items() if isinstance(value, type) else ():
                ours = not inner.startswith("__") or inner in ("__len__", "__contains__")
                if ours and not isinstance(method, types.GetSetDescriptorType):
                    yield f"{key}.{inner}", method


def test_every_def_has_a_case():
    found = {name for name, _ in compiled()} - {"use_loops"}  # in test_loops.py
    assert found == {name.partition("/")[0] for name in CASES}


def test_the_sound_calls_are_sound():
    for case in CASES.values():
        call, arguments = case()
        call(**{key: value for key, value in arguments.items() if not key.startswith("_")})


class Guarded:
    """Makes arrays with guards around them, and looks after these."""

    def __init__(self):
        self.rooms = []

    def copy(self, array, offset=0):
        size = array.nbytes
        room = np.full(size + 2 * GUARD + offset, 0xA5, np.uint8)
        self.rooms.append((room, GUARD + offset, size))
        inner = room[GUARD + offset : GUARD + offset + size].view(array.dtype)
        inner = inner.reshape(array.shape)
        inner[...] = array
        return inner

    def check(self):
        for room, start, size in self.rooms:
            assert (room[:start] == 0xA5).all()
            assert (room[start + size :] == 0xA5).all()


def of_edges(draw, array, scale=EDGES):
    """Return numbers of the array's type and shape, mostly such as hardly fit."""
    flat = np.array(array).reshape(-1)
    for value in draw.some(scale, 1, 6) if flat.size else ():
        place = draw.randrange(flat.size)
        if array.dtype.kind == "f":
            flat[place] = draw.choice([np.nan, np.inf, -np.inf, -1.0, 2.0, 1e308])
            continue
        bits = 8 * array.dtype.itemsize
        value &= (1 << bits) - 1
        if array.dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
        flat[place] = value
    return flat.reshape(array.shape)


def spoiled_array(draw, array, guards):
    """Return an array that is not what the kernel wants, or hardly."""
    way = draw.choice([
        "values", "values", "longer", "shorter", "empty", "dtype", "strided", "backwards",
        "misaligned", "read-only", "deeper", "junk",
    ])  # fmt: skip
    if way == "values":
        return guards.copy(of_edges(draw, array))
    if way == "longer":
        return guards.copy(np.concatenate([array, array[:1]]))
    if way == "shorter":
        return guards.copy(array[: draw.randint(0, max(len(array) - 1, 0))])
    if way == "empty":
        return array[:0].copy() if draw.coin() else array[..., :0].copy()
    if way == "dtype":
        return array.astype(draw.choice(DTYPES))
    if way == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if way == "backwards":
        return array[..., ::-1] if draw.coin() else array[::-1]
    if way == "misaligned":
        return guards.copy(array, 1) if array.nbytes else array
    if way == "read-only":
        array = array.copy()
        array.flags.writeable = False
        return array
    if way == "deeper":
        return array[None] if draw.coin() else array.reshape(-1)
    return draw.choice(JUNK)


def spoiled(draw, value, guards):
    junk = draw.choice(JUNK)
    if isinstance(value, np.ndarray):
        return spoiled_array(draw, value, guards)
    if isinstance(value, bool):
        return draw.coin()
    if isinstance(value, int):
        near = [value - 1, value + 1, 10**30]
        return draw.choice(near + EDGES) if draw.coin() else junk
    if isinstance(value, float):
        wild = [float("nan"), float("inf"), -float("inf"), -1.0, -0.999999, 0.0, 1.0, 1.5, 1e308]
        return draw.choice(wild) if draw.coin() else junk
    if isinstance(value, _texts.Spans):
        texts = draw.some([*TEXTS, None, "x" * 600], 0, 5)
        gathered = _texts.spans_of_list(texts, as_bytes=draw.coin())
        return draw.choice([gathered, _texts.Spans(), junk])
    if isinstance(value, list):
        items = [*value, None, 7, np.zeros(3, np.uint64), "x", b"\xff", ("a", "l", [np.zeros(1)])]
        return draw.some(items, 0, 5)
    return junk


@pytest.mark.parametrize("name", CASES)
def test_spoiled_arguments_are_answered_or_refused(name):
    for number in range(TRIES):
        call_with_spoiled_arguments(name, number)


def call_with_spoiled_arguments(name, number):
    guards = Guarded()
    draw = Draw(f"{name} {number}")
    call, arguments = CASES[name]()
    held = {key: arguments.pop(key) for key in list(arguments) if key.startswith("_")}
    for key, value in arguments.items():
        if isinstance(value, np.ndarray):
            arguments[key] = guards.copy(value)
    names = sorted(arguments)
    for key in draw.sample(names, draw.randint(0, min(3, len(names)))):
        arguments[key] = spoiled(draw, arguments[key], guards)
    for array in held.values():
        if draw.randrange(4) == 0:
            array[...] = of_edges(draw, array, range(8) if draw.coin() else EDGES)
    with contextlib.suppress(*REFUSED):
        call(**arguments)
    guards.check()


COPYING = {"KeyBuckets.insert", "KeyBuckets.query", "Permutations"}


def test_arrays_that_are_not_aligned_are_refused():
    for name in CASES.keys() - COPYING:
        call, arguments = CASES[name]()
        arguments = {key: value for key, value in arguments.items() if not key.startswith("_")}
        for key, array in arguments.items():
            if isinstance(array, np.ndarray) and array.itemsize > 1 and array.nbytes:
                moved = {**arguments, key: Guarded().copy(array, 1)}
                refuses(ValueError, "aligned", call, **moved)
