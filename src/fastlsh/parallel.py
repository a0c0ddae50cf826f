"""Batches of documents on threads, with progress and an ear for Ctrl-C."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain, islice

Batch = tuple[int, int]
"""First document of a batch, and the one after its last."""

ProgressOption = bool | Callable[[str, int, int], None]
"""False, True (a line on stderr), or a function of (stage, done, total)."""


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: `threads`, or the processors this process may run on.

    Raises
    ------
    ValueError
        `threads` is less than 1.
    """
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    return int(threads)


def batches(n: int, size: int) -> Iterator[Batch]:
    """Cut n documents into batches of `size`."""
    return ((start, min(start + size, n)) for start in range(0, n, size))


class Progress:
    """Tells the user how far a run is.

    Parameters
    ----------
    option
        See `ProgressOption`. It is called in the main thread, after each batch.
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


def run(
    work: Callable[[int, int], None],
    parts: Iterable[Batch],
    threads: int,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Call work(start, stop) for each batch, on `threads` threads.

    Batches must not depend on each other. An exception, Ctrl-C included, stops the run once the
    batches under way are done, and is raised.
    """
    parts = iter(parts)
    if threads == 1:
        for start, stop in parts:
            work(start, stop)
            if advance:
                advance(stop - start)
        return
    first = list(islice(parts, 2))
    if len(first) < 2:  # a pool would only cost time
        run(work, first, 1, advance)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        running: dict[Future[None], Batch] = {}
        waiting = chain(first, parts)
        while True:
            for part in islice(waiting, 2 * threads - len(running)):
                running[pool.submit(work, *part)] = part
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                start, stop = running.pop(future)
                future.result()
                if advance:
                    advance(stop - start)
    finally:
        pool.shutdown(cancel_futures=True)
