"""An error that other threads raise lives no longer than its handler, nor do its files."""

import gc
import threading
import time
import weakref

import pytest

from combinations import covering
from fastlsh.parallel import background_calls, ordered_map, run_batches
from refusals import refuses


class Opened:
    """Stands for a file, a map of memory or a lock that a failing function holds."""


def failing(number, opened):
    """Fail at the number 2, with something open."""
    if number == 2:
        held = Opened()
        opened.append(weakref.ref(held))
        raise OSError(number)
    return number


def through_run(threads, opened):
    """Fail in a batch."""

    def work(start, stop):
        failing(start, opened)

    run_batches(work, ((i, i + 1) for i in range(6)), threads)


def through_ordered_map(threads, opened):
    """Fail in the work on a block."""
    list(ordered_map(range(6), lambda number: failing(number, opened), threads))


def through_blocks(threads, opened):
    """Fail while blocks are read."""
    list(ordered_map((failing(number, opened) for number in range(6)), str, threads))


def through_background_calls(threads, opened):
    """Fail in the background."""
    with background_calls(threads - 1) as soon:
        for number in range(6):
            soon(lambda i: failing(i, opened), number)


@pytest.mark.parametrize(
    ("way", "threads"),
    covering(
        [through_run, through_ordered_map, through_blocks, through_background_calls], [1, 2, 3]
    ),
)
def test_an_error_keeps_nothing_open_once_it_is_handled(way, threads):
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            opened = []
            refuses(OSError, "2", way, threads, opened)
            assert [each() for each in opened] == [None]
    finally:
        gc.enable()


def test_the_first_batch_that_fails_is_named():
    failed, ended = threading.Event(), []

    def work(start, stop):
        if start == 1:
            failed.set()
            raise OSError(start)
        for _ in range(1000):
            failed.wait(60)
            time.sleep(0.001)
            if start == 0:
                raise OSError(start)
            yield
        ended.append(start)

    for _ in range(5):
        failed.clear()
        refuses(OSError, r"^0$", run_batches, work, ((i, i + 1) for i in range(50)), 3)
    assert not ended  # the batch behind them is stopped, and no other one begins
