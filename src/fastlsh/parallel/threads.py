"""Batches of documents on threads, with their results in order; Ctrl-C stops them soon."""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from threading import RLock, Thread, main_thread, stack_size
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.common._common import Hold
from fastlsh.arguments import check_integer

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

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


def run_batches(
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
        except BaseException as error:  # raised in the thread that called `run_batches`
            self.error = self.error or error
            self.stop = True

    def newly_done(self) -> int:
        """Return how many documents were done since the last call."""
        with Hold(self._lock):
            done, self._done = self._done, 0
        return done


T = TypeVar("T")
B = TypeVar("B")

_AHEAD = 2
"""Blocks per thread that are read in advance."""


def ordered_map(
    blocks: Iterable[B],
    work: Callable[[B], T],
    threads: int,
    alone: Callable[[B], bool] = lambda _: False,
) -> Generator[T, None, None]:
    """Yield ``work(block)`` for each block.

    The calling thread iterates over the blocks, and works on them while it waits. A few blocks are
    in memory at a time. An error of the iterator is raised after the results of the blocks before
    it.

    Parameters
    ----------
    blocks : iterable
        From `read_blocks` or `reread_blocks`.
    work : callable
        Takes a block.
    threads : int
        The number of threads, including the calling one.
    alone : callable
        Takes a block, and returns whether it is so large that it must be in memory alone.
    """
    if threads == 1:
        yield from map(work, blocks)
        return
    from concurrent.futures import Future

    pool = _Pool(threads - 1)
    waiting: deque[tuple[B, Future[T]]] = deque()

    def first() -> T:
        block, future = waiting.popleft()
        try:
            if future.cancel():  # no thread has begun it
                return work(block)
            while not future.done() and help_out():
                pass
            return result_of(future)
        finally:
            del future  # see result_of

    def help_out() -> bool:
        """Work on the next block that no thread has begun, if there is one."""
        for i, (block, future) in enumerate(waiting):
            if future.cancel():
                mine: Future[T] = Future()
                waiting[i] = block, mine
                mine.set_running_or_notify_cancel()
                try:
                    mine.set_result(work(block))
                except BaseException as error:
                    mine.set_exception(error)
                    del mine  # see result_of
                    if not isinstance(error, Exception):
                        raise
                return True
        return False

    failure: Exception | None = None
    source = iter(blocks)
    try:
        while failure is None:
            try:
                block = next(source)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            if alone(block):
                while waiting:
                    yield first()
                yield work(block)
                continue
            waiting.append((block, pool.submit(work, block) or Future()))
            while waiting and (waiting[0][1].done() or len(waiting) > _AHEAD * threads):
                yield first()
        while waiting:
            yield first()
        if failure is not None:
            raise failure
    finally:
        failure = None  # see result_of
        pool.shutdown()


class _Pool:
    """Threads that make calls, until the main thread of the process has ended.

    From then on, Python's pools accept no calls. Other threads, and functions that run at exit,
    then make their calls themselves, as all do where there are no threads.
    """

    def __init__(self, threads: int) -> None:
        self._executor: ThreadPoolExecutor | None = None
        if threads:
            with ending_ignored():  # the import fails, too
                from concurrent import futures

                self._executor = futures.ThreadPoolExecutor(threads)

    def submit(self, call: Callable[[B], T], argument: B) -> "Future[T] | None":
        """Return the future result of a call; None if no thread will make it."""
        if self._executor is not None:
            with ending_ignored(), deep_stacks():
                return self._executor.submit(call, argument)
        return None

    def shutdown(self) -> None:
        """Wait for the calls that have begun, and cancel the others."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


class BackgroundCalls:
    """Makes calls in other threads, and hands their results over in order."""

    def __init__(self, pool: _Pool, take: Callable[[Any], object], ahead: int) -> None:
        self._pool = pool
        self._ahead = ahead
        self._take = take
        self._waiting: deque[Future[Any]] = deque()

    def __call__(self, function: Callable[[B], object], argument: B) -> None:
        """Make a call in the background; raise the error of an earlier call, if there was one."""
        future = self._pool.submit(function, argument)
        if future is None:
            self.end()
            self._take(function(argument))
            return
        self._waiting.append(future)
        if len(self._waiting) > self._ahead:
            self._take(result_of(self._waiting.popleft()))

    def end(self) -> None:
        """Wait until all calls are made."""
        while self._waiting:
            self._take(result_of(self._waiting.popleft()))


@contextmanager
def background_calls(
    threads: int, take: Callable[[Any], object] = lambda _: None, ahead: int | None = None
) -> Iterator[BackgroundCalls]:
    """Give `BackgroundCalls`, and wait for all of its calls at the end.

    Parameters
    ----------
    threads : int
        The number of threads besides the calling one; with 0, the calling one makes the calls.
    take : callable
        Is called with each result, in order and in the calling thread.
    ahead : int, optional
        How many results may be waited for when another call is made; by default 2 for each thread.
    """
    pool = _Pool(threads)
    soon = BackgroundCalls(pool, take, _AHEAD * threads if ahead is None else ahead)
    try:
        yield soon
        soon.end()
    finally:
        pool.shutdown()


def result_of(future: "Future[T]") -> T:
    """Wait for a result, with a timeout: Python cannot handle a signal during an untimed wait.

    A function that raises the error of a future must not keep the future. The error's traceback
    holds the function's variables, so that the error would live until the garbage collector finds
    the cycle, and with it every file that its frames have open.
    """
    from concurrent.futures import TimeoutError as TookLonger

    try:
        while True:
            try:
                return future.result(0.1)
            except TookLonger:  # noqa: PERF203
                if future.done():  # the call itself has raised it
                    raise
    finally:
        del future
