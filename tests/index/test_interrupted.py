"""Calls within calls, copies, and how soon Ctrl-C is answered."""

import copy
import gc
import signal
import sys
import threading

import numpy as np
import pytest

from fastlsh import Index
from fastlsh._kernels.common._common import Hold
from fastlsh._kernels.index import _index
from fastlsh.index import checks
from refusals import refuses
from running import threads as running_threads

ROWS = np.arange(512, dtype=np.uint32).reshape(4, 128)


def small(**options):
    index = Index(0.8, threads=1, **{"verify": "signature", **options})
    index.insert_many(list("abcd"), signatures=ROWS)
    return index


# ---- calls within calls


class Name:
    """An id whose comparisons run code in the middle of what the index does."""

    def __init__(self, work=None):
        self.work = work

    def __hash__(self):
        return 5

    def __eq__(self, other):
        if self.work is not None:
            self.work()
        return self is other


def test_what_runs_inside_a_change_may_ask_and_remove():
    index = small()
    name = Name()
    index.insert(name, signature=ROWS[0])
    seen = []

    def inside():
        seen.append(
            (
                len(index), list(index)[:4], "a" in index, index.query(signature=ROWS[1]),
                len(copy.copy(index)), index.discard("b"), index.discard("unknown"),
            )
        )  # fmt: skip
        with pytest.raises(KeyError):
            index.remove("unknown")
        for change in (
            lambda: index.insert("x", signature=ROWS[0]),
            lambda: index.insert_many(["x"], signatures=ROWS[:1]),
            lambda: index.insert_unique(["x"], signatures=ROWS[:1]),
            lambda: index.merge(small(), on_known="replace"),
            index.compact,
        ):
            refuses(RuntimeError, "in the middle of another of its calls", change)

    name.work = inside  # it is compared with the next one, which has the same hash
    index.insert(Name(), signature=ROWS[3])
    name.work = None
    assert seen
    assert {repr(state) for state in seen} == {
        repr((5, list("abcd"), True, [("b", 1.0)], 5, True, False))
    }
    assert [i for i in index if isinstance(i, str)] == ["a", "c", "d"]
    assert len(index) == 5
    assert index.query(signature=ROWS[1]) == []


def test_finalizers_may_remove_what_they_stand_for(backend):
    """A document goes when what it belongs to is garbage: while others come, among other times."""
    index = backend(0.8, threads=1, verify="signature")

    class Owner:
        def __init__(self, number):
            self.number = number
            self.itself = self  # so that only the garbage collector ends it

        def __del__(self):
            index.discard(self.number)

    before = gc.get_threshold()
    gc.set_threshold(50)
    try:
        for number in range(60 if backend.stored else 600):
            index.insert(number, signature=ROWS[number % 4])
            Owner(number)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert len(index) == 0


@pytest.mark.parametrize("change", ["insert", "remove", "batch"])
def test_calls_before_every_line_of_a_change(backend, change):
    """As a finalizer or a handler of signals may: where transactions begin and end, too."""
    index = backend(0.8, threads=1, verify="signature")
    index.insert_many(list("abc"), signatures=ROWS[:3])
    answers = set()

    def ask(frame, event, _):
        if "/fastlsh/index/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            answers.add(("a" in index, "z" in index, index.discard("z")))
        return ask

    before = sys.gettrace()
    sys.settrace(ask)
    try:
        if change == "insert":
            index.insert("d", signature=ROWS[3])
        elif change == "remove":
            index.remove("b")
        else:
            with index.batch():
                index.insert("d", signature=ROWS[3])
                index.remove("b")
    finally:
        sys.settrace(before)
    assert answers == {(True, False, False)}
    expected = {"insert": "abcd", "remove": "ac", "batch": "acd"}[change]
    assert sorted(index) == list(expected)


# ---- copies


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, Index.copy])
def test_copies_are_independent(how):
    index = small()
    index.remove("a")
    other = how(index)
    assert type(other) is Index
    index.insert("e", signature=ROWS[0])
    other.remove("b")
    other.compact()
    assert list(index) == ["b", "c", "d", "e"]
    assert list(other) == ["c", "d"]
    assert index.query(signature=ROWS[1]) == [("b", 1.0)]
    assert other.query(signature=ROWS[1]) == []
    assert other.query(signature=ROWS[2]) == [("c", 1.0)]


def test_an_interrupt_before_the_block_leaves_no_lock():
    """Where CPython 3.14 looks for signals: ``__exit__`` is never called then."""
    index = small()
    hold = index._guard.change()
    assert hold.__enter__() is False
    assert index._guard.held()
    with index._guard.hold() as nested:
        assert nested
    refuses(RuntimeError, "in the middle of another", index.insert, "e", signature=ROWS[0])
    refuses(RuntimeError, "a Hold is for one block", hold.__enter__)
    del hold
    assert not index._guard.held()
    index.insert("e", signature=ROWS[0])


@pytest.mark.parametrize("lock", [None, threading.Lock(), "lock"])
def test_only_locks_that_know_their_owner_are_held(lock):
    refuses(TypeError, r"lock must|Argument 'lock'", Hold, lock)


def test_guards_are_forgotten():
    gc.collect()
    before = len(checks._guards)
    indexes = [small() for _ in range(10)]
    assert len(checks._guards) == before + 10
    del indexes
    gc.collect()
    assert len(checks._guards) == before


# ---- Ctrl-C is answered in the middle of a question

WORK = 1 << 20
"""Steps between two looks for signals: `WORK` of the kernel."""


def answered_during(call):
    """Return how many signals are answered within one call of C, if more than enough come."""
    count = 0

    def handle(*_):
        nonlocal count
        count += 1

    signal.signal(signal.SIGALRM, handle)  # and still then: one may be under way at the end
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return count


def roomy(bands, n):
    kernel = _index.BandTables(128, bands, 2, False)
    kernel.reserve(n, 0, 1.0)
    for band in range(bands):
        kernel.resize_table(band, n + 1)
    return kernel


needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no setitimer")


@needs_timer
def test_one_question_is_interrupted_every_so_many_steps():
    """A single document that meets 20,000 others in 64 bands; at least a step for each."""
    n, bands = 20_000, 64
    kernel = roomy(bands, n)
    rows = np.tile(ROWS[:1], (n, 1))
    kernel.append(rows, None, None, 0, n)
    kernel.switch(0, np.empty(0, np.int64))
    out, counts, halt = np.empty((n, 2)), np.empty(1, np.int64), np.zeros(1, np.uint8)
    question = (rows, None, None, 0, 1, 1, 0.5, n, out, counts, halt)
    found = []
    answered = answered_during(lambda: found.append(kernel.query(*question)))
    assert found == [(1, n, 0)]
    assert answered >= n * bands // WORK
    halt[0] = 1
    assert kernel.query(*question)[:2] == (0, 0)


@needs_timer
def test_insert_unique_is_interrupted_every_so_many_steps():
    """Documents that share one band, but are not alike: each meets the first 64."""
    n = 50_000
    kernel = roomy(1, n)
    rows = np.random.default_rng(0).integers(0, 2**32, (n, 128), np.uint32)
    rows[:, :2] = 5
    fresh = np.zeros(n, np.uint8)
    answered = answered_during(
        lambda: kernel.insert_unique(rows, None, None, 0, n, 0, 1, 0.5, 1000, fresh)
    )
    assert (fresh == np.where(np.arange(n) <= 64, 1, 2)).all()
    assert answered >= n * 64 * 128 // 16 // WORK


@needs_timer
def test_insert_unique_is_interrupted_within_one_document():
    """It meets many removed ones in each of many bands."""
    n, bands = 50_000, 64
    kernel = roomy(bands, n + 1)
    rows = np.tile(ROWS[:1], (n, 1))
    kernel.append(rows, None, None, 0, n)
    fresh = np.zeros(1, np.uint8)
    met = []
    answered = answered_during(
        lambda: met.append(kernel.insert_unique(rows[:1], None, None, 0, 1, n, 1, 0.5, 9, fresh))
    )
    assert met == [n * bands]
    assert fresh.tolist() == [1]
    assert answered >= n * bands // WORK


@needs_timer
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_long_question(threads):
    """The index is as it was, and no thread goes on."""
    index = Index(0.5, num_perm=128, bands=64, rows=2, threads=threads, verify="signature")
    index.insert_many(range(6000), signatures=np.tile(ROWS[:1], (6000, 1)))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    running = running_threads()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            index.query_many(signatures=np.tile(ROWS[:1], (6000, 1)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert running_threads() <= running  # others, of earlier tests, may have ended
    index.insert("x", signature=ROWS[0])
    assert len(index.query(signature=ROWS[0])) == 6001
