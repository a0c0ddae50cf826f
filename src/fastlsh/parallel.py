"""Batches of documents on threads, with progress, times and an ear for Ctrl-C."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from threading import Lock, Thread
from time import perf_counter

from fastlsh.errors import check_integer

Batch = tuple[int, int]
"""First document of a batch, and the one after its last."""

ProgressOption = bool | Callable[[str, int, int], None]
"""False, True (a line on stderr), or a function of (stage, done, total)."""


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
    return check_integer(threads, "threads", 1)


def batches(n: int, size: int) -> Iterator[Batch]:
    """Cut n documents into batches of `size`."""
    return ((start, min(start + size, n)) for start in range(0, n, size))


class Progress:
    """Tells the user how far a run is.

    Parameters
    ----------
    option
        See `ProgressOption`. It is called in the calling thread, after each batch that it did.
    """

    def __init__(self, option: ProgressOption = False) -> None:
        self._tell = _write_line if option is True else option or None

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Begin a stage of `total` documents; call the result with each number that is done."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if self._tell:
                self._tell(name, done, total)

        return advance


def _write_line(stage: str, done: int, total: int) -> None:
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r{stage}: {done:,} of {total:,}{end}")
    sys.stderr.flush()


class Stopwatch(dict[str, float]):
    """Seconds by stage."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add what the block takes to a stage."""
        start = perf_counter()
        yield
        self[stage] = self.get(stage, 0.0) + perf_counter() - start


def run(
    work: Callable[[int, int], None],
    parts: Iterable[Batch],
    threads: int,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Call work(start, stop) for each batch, on `threads` threads; the calling one is one of them.

    Batches must not depend on each other. An exception, Ctrl-C included, stops the run once the
    batches under way are done, and is raised. `advance` is called in the calling thread.
    """
    parts = iter(parts)
    first = list(islice(parts, threads))  # fewer batches need fewer threads
    shared = _Run(work, chain(first, parts))
    helpers = [Thread(target=shared.help) for _ in first[1:]]
    try:
        for helper in helpers:
            helper.start()
        while shared.work_on_next():
            if advance:
                advance(shared.newly_done())
    finally:
        shared.stop = True
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if shared.error is not None:
        raise shared.error
    done = shared.newly_done()  # by the others, at last
    if advance and done:
        advance(done)


class _Run:
    """What the threads of a run share."""

    def __init__(self, work: Callable[[int, int], None], parts: Iterator[Batch]) -> None:
        self.stop = False
        self.error: BaseException | None = None
        self._work = work
        self._parts = parts
        self._lock = Lock()
        self._done = 0

    def work_on_next(self) -> bool:
        """Work on the next batch; return whether there was one."""
        with self._lock:
            part = None if self.stop else next(self._parts, None)
        if part is None:
            return False
        self._work(*part)
        with self._lock:
            self._done += part[1] - part[0]
        return True

    def help(self) -> None:
        """Work on batches until there is none; an exception stops the run."""
        try:
            while self.work_on_next():
                pass
        except BaseException as error:  # raised in the thread that called `run`
            self.error = error
            self.stop = True

    def newly_done(self) -> int:
        """Return how many documents were done since it was asked last."""
        with self._lock:
            done, self._done = self._done, 0
        return done
