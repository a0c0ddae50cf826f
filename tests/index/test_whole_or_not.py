"""Each change happens in full or not at all, whatever interrupts it, and the index goes on."""

import _thread
import copy
import dis
import functools
import gc
import logging
import random
import signal
import socket
import sys
import threading
import types
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

from combinations import covering, every
from fastlsh import Index, MinHasher, Shingler
from fastlsh.index import api, checks, documents, in_memory, location_of, tables
from fastlsh.index.in_memory import Memory
from index_model import KINDS, Model, same

SHAPE = {"num_perm": 6, "bands": 2, "rows": 3}
HASHER = MinHasher(6, shingler=Shingler(size=3))


def text_of(number):
    return f"text {number % 3} with {number % 2}"


def document_of(text):
    return HASHER.signatures([text])[0].tolist(), set(HASHER.shingler.hashes(text).tolist())


DOCUMENTS = {text: document_of(text) for text in {text_of(number) for number in range(6)}}


def started(verify, n=24, gone=11, make=Index):
    """Return an index of which nearly half is removed, and the model of it."""
    index = make(0.5, **SHAPE, shingler=HASHER.shingler, verify=verify, threads=1)
    model = Model(0.5, 2, 3, verify)
    index.insert_many(range(n), [text_of(number) for number in range(n)])
    for number in range(n):
        model.insert(number, DOCUMENTS[text_of(number)])
    for number in range(gone):
        index.remove(number)
        model.remove(number)
    return index, model


@functools.lru_cache
def other(names, verify):
    """Return an index to merge; it is only read."""
    index = Index(0.5, **SHAPE, shingler=HASHER.shingler, verify=verify, threads=1)
    index.insert_many(names, texts_of(names))
    return index


def inserted(model, names, on_known="raise"):
    for number, name in enumerate(names):
        model.insert(name, DOCUMENTS[text_of(number)], on_known)


def removed(model, name):
    if name in model.documents:
        model.remove(name)


NEW = [f"new {number}" for number in range(30)]
MIXED = [20, "a", 13, "b", 20, *NEW[:20], 14, "a"]


STEPS = [10, pytest.param(1, marks=pytest.mark.exhaustive)]
"""Whether a change is disturbed at each tenth place, or at each."""


def texts_of(names):
    return [text_of(number) for number in range(len(names))]


def insert_unique(model):
    for number, name in enumerate(NEW):
        model.insert_unique(name, DOCUMENTS[text_of(number)])


# name: what to do with the index, and with the model.
CHANGES = {
    "insert": (lambda i, _: i.insert("a", text_of(0)), lambda m: inserted(m, ["a"])),
    "insert, replacing": (
        lambda i, _: i.insert(20, text_of(0), on_known="replace"),
        lambda m: inserted(m, [20], "replace"),
    ),
    "insert_many": (lambda i, _: i.insert_many(NEW, texts_of(NEW)), lambda m: inserted(m, NEW)),
    "insert_many, replacing": (
        lambda i, _: i.insert_many(MIXED, texts_of(MIXED), on_known="replace"),
        lambda m: inserted(m, MIXED, "replace"),
    ),
    "insert_unique": (lambda i, _: i.insert_unique(NEW, texts_of(NEW)), insert_unique),
    "remove": (lambda i, _: i.remove(15), lambda m: removed(m, 15)),
    "discard": (lambda i, _: i.discard(15), lambda m: removed(m, 15)),
    "compact": (lambda i, _: i.compact(), lambda _: None),
    "merge": (lambda i, v: i.merge(other((*NEW,), v)), lambda m: inserted(m, NEW)),
    "merge, replacing": (
        lambda i, v: i.merge(other((*dict.fromkeys(MIXED),), v), on_known="replace"),
        lambda m: inserted(m, list(dict.fromkeys(MIXED)), "replace"),
    ),
    "query": (lambda i, _: tidied(i), lambda _: None),
}


def batch(index, _):
    with index.batch():
        index.insert("a", text_of(0))
        index.remove(20)
        index.insert("b", text_of(1))


def changed_as_the_batch(model):
    inserted(model, "ab")
    model.remove(20)


def failing_batch(index, _):
    with suppress(ZeroDivisionError), index.batch():
        index.insert("a", text_of(0))
        failing_insert(index, _)
        raise ZeroDivisionError


def failing_insert(index, _):
    with suppress(ValueError):
        index.insert_many(["b", 20], texts_of("xy"))


INTERRUPTED = {
    **CHANGES,
    "batch": (batch, changed_as_the_batch),
    "a batch that fails": (failing_batch, lambda _: None),
    "an insert that fails": (failing_insert, lambda _: None),
    "iteration": (lambda i, _: list(i), lambda _: None),
    "signature": (lambda i, _: i.signature(20), lambda _: None),
    "copy": (lambda i, _: i.copy(), lambda _: None),
}


def tidied(index):
    if isinstance(index._backend, Memory):
        index._backend._wasted = 10**9
    index.query(text_of(0))


def seen(model):
    """Return what an index is to show: now, after two changes more, and once it is compact."""
    model = copy.deepcopy(model)
    states = []
    for step in range(2):
        states.append((
            {name: signature for name, (signature, _) in model.documents.items()},
            {text: model.query(document) for text, document in DOCUMENTS.items()},
        ))  # fmt: skip
        if step == 0:
            inserted(model, ["x", 20], "replace")
            model.remove(12)
    return [*states, states[-1]]


class Case:
    """An index before a change; how it is now must be how it was before, or after."""

    def __init__(self, name, verify="signature", make=Index):
        self.verify = verify
        self.make = make
        self.index, self.before = started(verify, make=make)
        self.call, change = INTERRUPTED[name]
        after = copy.deepcopy(self.before)
        change(after)
        self.before, self.after = seen(self.before), seen(after)

    def again(self):
        """Return a fresh copy of the index."""
        if self.make is Index:
            return self.index.copy()
        copy = self.make(0.5, **SHAPE, shingler=HASHER.shingler, verify=self.verify, threads=1)
        copy.merge(self.index)
        return copy

    def check(self, index, states=None):
        names = list(index)
        given = states or [self.before, self.after]
        states = next((states for states in given if list(states[0][0]) == names), None)
        assert states is not None, names
        for step, (signatures, answers) in enumerate(states):
            assert list(index) == list(signatures)
            assert len(index) == len(signatures)
            for name, signature in signatures.items():
                assert name in index
                assert index.signature(name).tolist() == signature
            assert 0 not in index
            for found, expected in zip(index.query_many([*answers]), answers.values(), strict=True):
                assert same(found, expected)
            if step == 0:
                index.insert_many(["x", 20], texts_of("xy"), on_known="replace")
                index.remove(12)
            elif step == 1:
                index.compact()


@pytest.mark.parametrize(
    ("name", "verify", "backend"),
    [
        *covering(CHANGES, ["signature", "exact"], KINDS),
        *covering(CHANGES, ["signature", "exact"], ["redis"]),
    ],
    indirect=["backend"],
)
def test_undisturbed(backend, name, verify):
    case = Case(name, verify, backend if backend.stored else Index)
    index = case.again()
    case.call(index, verify)
    case.check(index, [case.after])


@pytest.mark.parametrize("name", CHANGES)
def test_every_array_of_numpy_fails_once(name, monkeypatch):
    case = Case(name, "exact")
    left = 0

    def failing(function):
        def call(*given, **options):
            nonlocal left
            left -= 1
            if left == 0:
                raise MemoryError
            return function(*given, **options)

        return call

    makers = ("empty", "zeros", "ones", "array", "fromiter", "concatenate", "flatnonzero")
    fake = types.ModuleType("numpy")
    fake.__dict__.update(vars(np))
    fake.__dict__.update({maker: failing(getattr(np, maker)) for maker in makers})
    for nth in range(1, 1000):
        index = case.again()
        with monkeypatch.context() as patch:
            for module in (in_memory, documents, tables):
                patch.setattr(module, "np", fake)
            left = nth
            with suppress(MemoryError):
                case.call(index, case.verify)
        passed = left > 0
        case.check(index)
        if passed:
            break
    assert passed


@pytest.fixture
def signed_before(monkeypatch):
    """What is done before the index is touched would take most of the time."""
    known = {}

    def signed(settings, texts, signatures, *, one=False):
        key = (settings.keeps, texts if one else tuple(texts))
        if key not in known:
            known[key] = checks.read_documents(settings, texts, signatures, one=one)
        return known[key]

    monkeypatch.setattr(api, "read_documents", signed)


@pytest.mark.skipif(
    (3, 12) <= sys.version_info < (3, 14),
    reason="CPython 3.12 and 3.13 crash if the memory for a generator expression cannot be had",
)
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.6",
    reason="NumPy before 2.4.6 crashes if the memory for a sum cannot be had",
)
@pytest.mark.usefixtures("signed_before")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", CHANGES)
def test_every_allocation_fails_once(name, step):
    """Of Python's allocators, from which the kernel has its memory, too."""
    testing = pytest.importorskip("_testcapi")
    for other in threading.enumerate():
        if "_renew_regularly" in other.name:  # of a lock in a test before this one
            other.join(10)
    case = Case(name, "exact")
    case.call(case.again(), case.verify)
    case.check(case.again())
    failed = calm = nth = 0
    while calm < max(20 // step, 3):
        index = case.again()
        testing.set_nomemory(nth, nth + 1)
        try:
            case.call(index, case.verify)
            calm += 1
        except Exception:  # numpy and threading make other errors of some
            failed += 1
            calm = 0
        finally:
            testing.remove_mem_hooks()
        nth += step
        case.check(index)
    assert failed


HANDLED = tuple(
    number
    for name, number in dis.opmap.items()
    if name.startswith(("CALL", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "RESUME"))
)
"""Instructions at whose end Python looks for signals, or whose callee does so first."""


class Press:
    """Ctrl-C is pressed when this is deleted.

    A deletion is no call, so that Python handles the signal in the code that is traced, and only
    where it handles any.
    """

    __del__ = staticmethod(_thread.interrupt_main)


def handles_signals(frame, event):
    """Whether Python handles signals at this instruction, and the test presses Ctrl-C there.

    Not in the logging module: Ctrl-C between taking its lock and the ``try`` that releases the lock
    would let every other thread that asks for a logger wait for ever. Nor while the package redis
    makes a connection: it closes a socket that did not connect after an OSError only, and the
    ResourceWarning would come in some later test.
    """
    code = frame.f_code
    return (
        event == "opcode"
        and code.co_filename not in (logging.__file__, socket.__file__)
        and not (code.co_name == "_connect" and "redis" in code.co_filename)
        and frame.f_code.co_code[frame.f_lasti] in HANDLED
    )


def pressed_at(place, change):
    """Press Ctrl-C at the place of a change with this number; return the error, if it came so far.

    KeyboardInterrupt, or what the change has raised instead; None if there are not so many places.
    """
    left = place
    key = [Press()]

    def trace(frame, event, _):
        nonlocal left
        frame.f_trace_opcodes = True
        if handles_signals(frame, event):
            left -= 1
            if left == 0:
                del key[0]
        return trace

    before = sys.gettrace()
    error = None
    try:
        sys.settrace(trace)
        change()
        sys.settrace(before)  # a signal that nobody has handled so far is handled here
    except KeyboardInterrupt as interrupt:
        error = interrupt
    finally:
        sys.settrace(before)
    if left > 0:
        Press.__del__ = staticmethod(int)
        del key[0]
        Press.__del__ = staticmethod(_thread.interrupt_main)
        return None
    return error or KeyboardInterrupt()


def places_of(change):
    """Return at how many places of a change signals are handled."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += handles_signals(frame, event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        change()
    finally:
        sys.settrace(before)
    return count


@pytest.fixture
def keyboard():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("signed_before", "keyboard")
@pytest.mark.parametrize("backend", ["memory", "sqlite", "redis"], indirect=True)
@pytest.mark.parametrize("name", every(6, INTERRUPTED))
@pytest.mark.parametrize(
    "most",
    [
        pytest.param(5, id="some places"),
        pytest.param(20, id="more places", marks=pytest.mark.exhaustive),
        pytest.param(1000, id="many places", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_wherever_signals_are_handled(backend, name, most):
    """A change is made or not, no lock is held, and nothing stays open."""
    if not backend.stored and "batch" in name:
        pytest.skip("a batch has no effect in memory")
    case = Case(name, make=backend if backend.stored else Index)
    places = places_of(partial(case.call, case.again(), case.verify))
    assert places > 10
    step = -(-places // most)
    for turn, place in enumerate(range(1, places + 1, step)):
        index = case.again()
        error = pressed_at(place, partial(case.call, index, case.verify))
        if turn % 2:
            error = error and None  # and its traceback, which holds what the frames held
        other = Index.open(location_of(index), wait=0.2) if backend.stored else index
        case.check(other)
        assert list(index) == list(other)
        index.insert("later", text_of(0))
        assert "later" in dict(other.query(text_of(0)))
        for each in (index, other):
            each.close()
    del error
    gc.collect()  # what was left open is warned of here, and not in some later test


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a finalizer
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no setitimer")
@pytest.mark.parametrize("most", [5, pytest.param(50, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", CHANGES)
def test_signals_at_any_moment(name, most):
    """50 for each change, 550 in all: real ones, which interrupt as Ctrl-C does."""
    case = Case(name)
    draw = random.Random(0)
    armed = False

    def press(*_):
        if armed:  # on a busy machine a signal may come late, by way of another thread
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    interrupted = 0
    delay = 1e-4
    try:
        while interrupted < most:
            index = case.again()
            done = False
            try:
                try:
                    armed = True
                    signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-6, delay))
                    case.call(index, case.verify)
                    done = True
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    armed = False
            except KeyboardInterrupt:
                interrupted += 1
            delay *= 0.9 if done else 1.1
            case.check(index)
    finally:
        signal.signal(signal.SIGALRM, before)
