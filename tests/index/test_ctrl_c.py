"""Ctrl-C wherever Python handles signals: a change is made or not, and nothing stays open."""

import _thread
import dis
import gc
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from functools import partial

import pytest

from combinations import every
from fastlsh import Index, Shingler

PARAMETERS = {"num_perm": 6, "bands": 2, "rows": 3, "shingler": Shingler(size=3), "threads": 1}
TEXTS = [f"text {number % 3} with {number % 2}" for number in range(6)]
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


def batch(index, new):
    with index.batch():
        index.insert(new, TEXTS[0])
        index.remove("b")
        index.insert(f"{new}, too", TEXTS[1])


def failing_batch(index, new):
    with suppress(ZeroDivisionError), index.batch():
        index.insert(new, TEXTS[0])
        with suppress(ValueError):
            index.insert_many([f"{new}, too", "a"], TEXTS[:2])
        raise ZeroDivisionError


def replaced(index, new):
    index.insert_many([new, "b"], TEXTS[:2], on_known="replace")


def merged(index, new):
    other = Index(0.5, **PARAMETERS)
    other.insert_many([new, "b"], TEXTS[:2])
    index.merge(other, on_known="replace")


def refused(index, new):
    with suppress(ValueError):
        index.insert_many([new, "a"], TEXTS[:2])


# The change, and the ids afterwards.
CHANGES = {
    "insert": (lambda i, new: i.insert(new, TEXTS[0]), lambda ids, new: [*ids, new]),
    "insert_many": (
        lambda i, new: i.insert_many([new, f"{new}, too"], TEXTS[:2]),
        lambda ids, new: [*ids, new, f"{new}, too"],
    ),
    "replace": (replaced, lambda ids, new: [*without_b(ids), new, "b"]),
    "insert_unique": (
        lambda i, new: i.insert_unique([new, f"{new}, too"], ["a new text", TEXTS[0]]),
        lambda ids, new: [*ids, new],
    ),
    "remove": (lambda i, _: i.remove("b"), lambda ids, _: without_b(ids)),
    "discard": (lambda i, _: i.discard("b"), lambda ids, _: without_b(ids)),
    "merge": (merged, lambda ids, new: [*without_b(ids), new, "b"]),
    "compact": (lambda i, _: i.compact(), lambda ids, _: ids),
    "batch": (batch, lambda ids, new: [*without_b(ids), new, f"{new}, too"]),
    "a batch that fails": (failing_batch, lambda ids, _: ids),
    "an insert that fails": (refused, lambda ids, _: ids),
    "query": (lambda i, _: i.query_many(TEXTS), lambda ids, _: ids),
    "iteration": (lambda i, _: list(i), lambda ids, _: ids),
    "signature": (lambda i, _: i.signature("b"), lambda ids, _: ids),
    "copy": (lambda i, _: i.copy(), lambda ids, _: ids),
}


def without_b(ids):
    return [name for name in ids if name != "b"]


@pytest.fixture(scope="module", params=["memory", "sqlite", "redis"])
def kind(request):
    return request.param


@pytest.fixture
def location(kind, tmp_path, request):
    if kind == "memory":
        return None
    if kind == "sqlite":
        return os.fspath(tmp_path / "index")
    return f"{request.getfixturevalue('redis_address')}#{tmp_path}"


@pytest.fixture(autouse=True)
def keyboard():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", every(6, CHANGES))
@pytest.mark.parametrize(
    "most",
    [
        pytest.param(5, id="some places"),
        pytest.param(100, id="more places", marks=pytest.mark.exhaustive),
        pytest.param(None, id="all", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_wherever_signals_are_handled(kind, location, name, most):
    if kind == "memory" and "batch" in name:
        pytest.skip("a batch has no effect in memory")
    change, after = CHANGES[name]
    if location is None:
        index = other = Index(0.5, **PARAMETERS)
    else:
        index = Index.open(location, 0.5, wait=0.2, **PARAMETERS)
        other = Index.open(location, wait=0.2)
    index.insert_many(list("ab"), TEXTS[:2])
    places = places_of(lambda: change(index, "first"))
    step = -(-places // most) if most else 1
    assert places > 10
    for turn, place in enumerate(range(1, places + 1, step)):
        ids, new = again(index), f"new {place}"
        expected = [ids, after(ids, new)]
        error = pressed_at(place, partial(change, index, new))
        if turn % 2:
            error = error and None  # and its traceback, which holds what the frames held
        other.insert("of another", TEXTS[2])  # no lock is held
        now = list(other)
        now.remove("of another")
        assert now in expected
        assert sorted(index) == sorted(other)
        index.insert("later", TEXTS[3])
        assert list(other)[-1] == list(index)[-1] == "later"
        assert "later" in dict(other.query(TEXTS[3]))
        assert len(index) == len(other) == len(now) + 2
    index.close()
    other.close()
    del error
    gc.collect()  # what was left open is warned of here, and not in some later test


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


def again(index):
    """Make the index what it was at first, and return its ids."""
    for name in list(index):
        if name not in ("a", "b"):
            index.remove(name)
    if "b" not in index:
        index.insert("b", TEXTS[1])
    return list(index)
