"""Ctrl-C is answered soon, whatever the texts: what one step holds, and real signals."""

import functools
import os
import signal
import sys
import threading
import time
import timeit
from functools import partial

import numpy as np
import pytest

import fastlsh
from every_kernel import module_of
from fastlsh import LSHParams, MinHasher
from fastlsh._kernels.candidates import _candidates
from fastlsh.parallel import batches, batches_by_work, run_batches
from fastlsh.search import exact_join
from fastlsh.stages import decisions
from refusals import refuses
from running import threads as running_threads
from strategies import few_letters

pytestmark = few_letters


def letters(count, seed=0):
    return np.random.default_rng(seed).integers(97, 123, count, np.uint8).tobytes().decode()


def beginning(n, same, own):
    """Return texts with the same beginning."""
    ends = letters(n * own)
    return [letters(same) + ends[i * own : (i + 1) * own] for i in range(n)]


@pytest.mark.parametrize("longest", [1, 3, 100])
@pytest.mark.parametrize("most", [0, 5, 1000])
def test_batches_by_work(most, longest):
    work = np.random.default_rng(0).integers(0, 9, 200) ** 2
    parts = list(batches_by_work(work, most, longest))
    assert [i for start, stop in parts for i in range(start, stop)] == list(range(200))
    for start, stop in parts:
        assert 1 <= stop - start <= longest
        assert work[start:stop].sum() <= most or stop - start == 1
        assert stop == 200 or stop - start == longest or work[start : stop + 1].sum() > most
    assert list(batches_by_work(work[:0], most, longest)) == []


@pytest.mark.parametrize("helpers", [1, 3])
def test_helpers_stop_after_the_step_under_way(helpers):
    running = running_threads()
    ready = threading.Barrier(helpers + 1)
    stopped = threading.Event()
    steps = []

    def work(start, stop):
        ready.wait()
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        for number in range(1000):
            steps.append((start, number))
            yield
            stopped.wait(0.02)

    refuses(KeyboardInterrupt, None, run_batches, work, batches(helpers + 1, 1), helpers + 1)
    stopped.set()
    assert len(steps) < 1000 * helpers  # on a busy machine, too, none does all of them
    assert running_threads() <= running


@pytest.mark.skipif(sys.platform == "win32", reason="joins hear no Ctrl-C there")
def test_ctrl_c_while_waiting_for_the_others():
    steps = []

    def work(start, stop):
        if threading.current_thread() is not threading.main_thread():
            for number in range(1000):
                if number == 3:
                    os.kill(os.getpid(), signal.SIGINT)
                steps.append(number)
                yield
                time.sleep(0.02)
        else:  # done before the others
            while not steps:
                time.sleep(0.001)

    refuses(KeyboardInterrupt, None, run_batches, work, batches(2, 1), 2)
    assert 3 < len(steps) < 1000  # less than all, however busy the machine is


# ---- what one call of a kernel holds


LONG_SIGNATURES = np.random.default_rng(0).integers(0, 2**32, (1000, 2000), np.uint32)
LONG_TEXTS = ["".join(map(chr, range(first, 5000))) for first in (100, 200)]


def values_of_keys(signatures, first, rows, out):
    return rows * out.size


# A limit and its value here, the kernel that is called within it and the work of a call, what calls
# the kernel, and all work.
WITHIN_LIMITS = [
    (
        "sets.similarity.VALUES_BATCH", 50_000, "agreement",
        lambda signatures, left, right, out: signatures.shape[1] * len(left),
        lambda: fastlsh.estimate_jaccard(LONG_SIGNATURES, np.zeros((1000, 2), int)), 2_000_000,
    ),
    *[
        (
            "candidates.keys.VALUES_BATCH", 50_000, "band_keys", values_of_keys,
            partial(function, LONG_SIGNATURES, LSHParams(4, 500)), 2_000_000,
        )
        for function in (fastlsh.band_keys, fastlsh.candidate_pairs)
    ],
    (
        "candidates.keys.KEYS_ROOM", 50_000, "band_keys", values_of_keys,
        lambda: fastlsh.band_keys(LONG_SIGNATURES[:200], LSHParams(2000, 1)), 400_000,
    ),
    (
        "sets.shingle_sets.COMPARED", 100_000, "set_jaccard",
        lambda hashes, start, count, left, right, *_: count[left].sum() + count[right].sum(),
        lambda: fastlsh.exact_jaccard(LONG_TEXTS, np.tile([[0, 1]], (500, 1))), 500 * 9684,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "most", "kernel", "size", "call", "work"), WITHIN_LIMITS)
def test_work_of_a_call_of_a_kernel(limit, most, kernel, size, call, work, monkeypatch):
    monkeypatch.setattr(f"fastlsh.{limit}", most)
    calls, module = [], module_of(kernel)
    real = getattr(module, kernel)

    def noted(*arguments, **named):
        calls.append(size(*arguments))
        return real(*arguments, **named)

    monkeypatch.setattr(module, kernel, noted)
    call()
    assert sum(calls) == work
    assert most / 2 < max(calls) <= most


@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_candidates_compared_at_a_time(verify, monkeypatch):
    monkeypatch.setattr(decisions, "COMPARED", 40_000)
    monkeypatch.setattr(decisions, "BLOCK", 1024)
    calls = []

    class Keeper(_candidates.Keeper):
        def first_hits(self, first, last, candidates, offsets, hashes, start, count, *rest):
            size = 2 * count[first:last] if verify == "exact" else 1 + 128 // 16
            work = np.diff(offsets) * size
            calls.append((int(work.sum()), int(work.max())))
            return super().first_hits(first, last, candidates, offsets, hashes, start, count, *rest)

    monkeypatch.setattr(_candidates, "Keeper", Keeper)
    texts = beginning(2000, 60, 60)
    fastlsh.deduplicate(texts, 0.8, bands=64, rows=1, verify=verify)
    assert len(calls) > 20
    assert all(work <= max(40_000, most) for work, most in calls)


# ---- real signals


ALIKE = np.tile(np.arange(64, dtype=np.uint32), (20_000, 1))
PAIRS = np.zeros((1_000_000, 2), np.int64)
HASHES = np.arange(4_000_000, dtype=np.uint64)
ONE_ROW = {"threshold": 0.8, "bands": 128, "rows": 1}


CALLS = {
    "candidate_pairs": ("emit_pairs", lambda: partial(
        fastlsh.candidate_pairs, ALIKE, LSHParams(64, 1))),
    "near_duplicates": ("emit_pairs", lambda: partial(
        fastlsh.near_duplicates, beginning(14_000, 90, 9), **ONE_ROW, verify="none")),
    "deduplicate": ("Keeper", lambda: partial(
        fastlsh.deduplicate, beginning(1200, 20_000, 9000), **ONE_ROW)),
    "exact_pairs": ("invert", lambda: partial(
        fastlsh.exact_pairs, beginning(20_000, 90, 20), 0.5)),
    "evaluate": ("emit_pairs", lambda: partial(
        fastlsh.evaluate, beginning(9000, 90, 12), **ONE_ROW)),
    "signatures": ("signatures", lambda: partial(made, "signatures", [letters(3_000_000)] * 2)),
    "from_tokens": ("token_signatures", lambda: partial(
        made, "from_tokens", [["a", "b"]] * 20_000)),
    "from_hashes": ("hash_signatures", lambda: partial(
        made, "from_hashes", HASHES, [0, len(HASHES)])),
    "estimate_jaccard": ("agreement", lambda: partial(
        fastlsh.estimate_jaccard, np.ones((2, 65_535), np.uint32), PAIRS)),
    "exact_jaccard": ("set_jaccard", lambda: partial(
        fastlsh.exact_jaccard, [letters(300_000)] * 2, PAIRS)),
}  # fmt: skip
"""Calls that take long: in which kernel, and what prepares them."""


def made(method, *given, threads):
    return getattr(MinHasher(65_535, threads=threads), method)(*given)


@functools.cache
def pace():
    """Return the processor time of a million steps of Python, which measures the machine."""
    statement = "for _ in range(1_000_000): pass"
    return min(timeit.repeat(statement, timer=time.process_time, repeat=5, number=1))


def until_answered(call, kernel, monkeypatch):
    """Return the processor time between a Ctrl-C in the first call of a kernel and its answer."""
    where = exact_join if kernel == "invert" else module_of(kernel)
    original = getattr(where, kernel)
    sent, once = [], threading.Lock()

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    def interrupt(*_):
        raise KeyboardInterrupt

    def called(*arguments, **named):
        if once.acquire(blocking=False):
            timer.start()
        return original(*arguments, **named)

    timer = threading.Timer(0.1, send)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(where, kernel, called)
            with pytest.raises(KeyboardInterrupt):  # before it is done
                call()
        return time.process_time() - sent[0]
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)


# One thread or two, and for three of them both: a case for each value, not for each pair of values.
# By default, the calls that take least: of a search, of signatures, and of a comparison.
WITH_BOTH = ("candidate_pairs", "deduplicate", "signatures")
BY_DEFAULT = {("candidate_pairs", 1), ("from_tokens", 1), ("exact_jaccard", 2)}
ANSWERED = [
    pytest.param(*case, marks=[] if case in BY_DEFAULT else [pytest.mark.exhaustive])
    for place, name in enumerate(CALLS)
    for case in ([(name, 1), (name, 2)] if name in WITH_BOTH else [(name, 1 + place % 2)])
]


@pytest.mark.skipif(sys.platform == "win32", reason="no os.kill with SIGINT")
@pytest.mark.parametrize(("name", "threads"), ANSWERED)
def test_ctrl_c_is_answered_soon(name, threads, monkeypatch):
    kernel, prepare = CALLS[name]
    call = partial(prepare(), threads=threads)
    running = running_threads()
    # Less than a second of one processor; what is not cut into steps takes several, each time.
    # Whatever else the machine does makes one answer late, hardly three.
    soon = 60 * pace()
    took = [soon]
    while len(took) < 4 and min(took) >= soon:
        took.append(until_answered(call, kernel, monkeypatch))
        for _ in range(200):  # one that had just been started ends as soon as it runs
            if running_threads() <= running:  # those of earlier tests may end, too
                break
            time.sleep(0.05)
        assert running_threads() <= running
    assert min(took) < soon
