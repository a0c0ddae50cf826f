"""Calls on threads, with their results in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from fastlsh.parallel.threads import deep_stacks, ending_ignored

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

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
    then make their calls themselves.
    """

    def __init__(self, threads: int) -> None:
        self._executor: ThreadPoolExecutor | None = None
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

    def __init__(self, threads: int, take: Callable[[Any], object], ahead: int) -> None:
        self._pool = None if threads == 0 else _Pool(threads)
        self._ahead = ahead
        self._take = take
        self._waiting: deque[Future[Any]] = deque()

    def __call__(self, function: Callable[[B], object], argument: B) -> None:
        """Make a call in the background; raise the error of an earlier call, if there was one."""
        future = None if self._pool is None else self._pool.submit(function, argument)
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

    def shutdown(self) -> None:
        """Wait for the calls that have begun, and cancel the others."""
        if self._pool is not None:
            self._pool.shutdown()


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
    soon = BackgroundCalls(threads, take, _AHEAD * threads if ahead is None else ahead)
    try:
        yield soon
        soon.end()
    finally:
        soon.shutdown()


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
