"""Batches of documents on threads; Ctrl-C stops them soon."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from threading import RLock, Thread, main_thread, stack_size

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Hold
from fastlsh.arguments import check_integer

Batch = tuple[int, int]
"""The first document of a batch, and the document after its last."""

Work = Callable[[int, int], Iterator[None] | None]
"""Works on a batch. It may return an iterator, which does the work step by step."""

_STACK = 8 << 20
"""Bytes, the usual size with glibc. With musl, it is 128 KB, which is too little for the depth that
CPython 3.12 and 3.13 allow a JSON parser: one line of brackets would crash the process."""


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: `threads`, or the processors this process may run on.

    Raises
    ------
    TypeError, ValueError
        `threads` is no integer, or less than 1.
    """
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return check_integer(threads, "threads")


def batches(n: int, size: int) -> Iterator[Batch]:
    """Cut n documents into batches of `size`."""
    return ((start, min(start + size, n)) for start in range(0, n, size))


def batches_by_work(work: NDArray[np.int64], max_work: int, longest: int) -> Iterator[Batch]:
    """Cut items into batches of at most `longest`, whose work together is at most `max_work`.

    Parameters
    ----------
    work
        int64 (n,): the work of each item, at least 0. An item of more than `max_work` is a batch of
        its own.
    """
    done = np.cumsum(work)
    start = 0
    while start < len(work):
        before = done[start - 1] if start else 0
        stop = int(np.searchsorted(done, before + max_work, "right"))
        stop = min(max(stop, start + 1), start + longest)
        yield start, min(stop, len(work))
        start = stop


def run(
    work: Work,
    parts: Iterable[Batch],
    threads: int,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Call work(start, stop) for each batch, on `threads` threads including the calling one.

    Batches must not depend on each other. An exception stops the batches behind its own once they
    are done, or their steps where `work` returns an iterator. Those before it go on, so that the
    exception of the first batch that has one is raised, on any number of threads. Ctrl-C stops all
    of them: a step should take a third of a second at most. `advance` is called in the calling
    thread.
    """
    parts = iter(parts)
    first = list(islice(parts, threads))  # fewer batches need fewer threads
    shared = _Run(work, chain(first, parts))
    helpers = [Thread(target=shared.help) for _ in first[1:]]
    try:
        for helper in helpers:
            with ending_ignored(), deep_stacks():
                helper.start()
        while shared.work_on_next():
            if advance:
                advance(shared.newly_done())
        for helper in helpers:
            wait_for(helper)
    except BaseException:
        shared.stop = True
        for helper in helpers:
            if helper.ident is not None:
                wait_for(helper)
        shared.error = None  # in a cycle with its traceback, it would keep files open
        raise
    error, shared.error = shared.error, None
    if error is not None:
        try:
            raise error
        finally:
            del error
    done = shared.newly_done()  # in the other threads, after the last call of `advance`
    if advance and done:
        advance(done)


@contextmanager
def deep_stacks() -> Iterator[None]:
    """Give the threads that start in the block enough stack for any row."""
    if sys.platform != "linux":
        yield
        return
    before = stack_size()  # Python can only set it for all threads that start from now on
    stack_size(max(before, _STACK))
    try:
        yield
    finally:
        stack_size(before)


@contextmanager
def ending_ignored() -> Iterator[None]:
    """Continue if Python refuses to start a thread because the main thread has ended."""
    try:
        yield
    except RuntimeError:
        if main_thread().is_alive():
            raise


def wait_for(helper: Thread) -> None:
    """Wait until a thread has ended."""
    # With a timeout: Python cannot handle a signal during an untimed join.
    while helper.is_alive():
        helper.join(0.1)


class _Run:
    """The state that the threads of a run share."""

    def __init__(self, work: Work, parts: Iterator[Batch]) -> None:
        self.stop = False
        self.error: BaseException | None = None
        self._failed = sys.maxsize
        """The first batch that has failed, in the order in which they were begun."""
        self._work = work
        self._parts = enumerate(parts)
        self._lock = RLock()  # taken by Hold, which Ctrl-C cannot leave locked
        self._done = 0

    def work_on_next(self) -> bool:
        """Work on the next batch; return whether there was one, and it was done."""
        with Hold(self._lock):
            is_over = self.stop or self.error is not None
            number, part = (0, None) if is_over else next(self._parts, (0, None))
        if part is None:
            return False
        try:
            steps = self._work(*part)
            for _ in steps or ():
                if self.stop or self._failed < number:
                    if isinstance(steps, Generator):
                        with suppress(Exception):  # the error of another call is raised
                            steps.close()
                    return False
        except Exception as error:
            with Hold(self._lock):
                if number < self._failed:
                    self.error, self._failed = error, number
            return False
        with Hold(self._lock):
            self._done += part[1] - part[0]
        return True

    def help(self) -> None:
        """Work on batches until none is left; an exception stops the run."""
        try:
            while self.work_on_next():
                pass
        except BaseException as error:  # raised in the thread that called `run`
            self.error = self.error or error
            self.stop = True

    def newly_done(self) -> int:
        """Return how many documents were done since the last call."""
        with Hold(self._lock):
            done, self._done = self._done, 0
        return done
