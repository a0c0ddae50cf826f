"""Threads that begin together, those that run, forked processes, and the memory of a call."""

import gc
import os
import signal
import sys
import threading
import tracemalloc
from contextlib import contextmanager


def threads():
    """Return how many there are, besides those that Python has not started.

    The threads of pytest-xdist are counted by `threading.active_count` from when they first ask
    which thread they are.
    """
    return sum(not isinstance(each, threading._DummyThread) for each in threading.enumerate())


@contextmanager
def hasty_switching(seconds=1e-6):
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def at_once(*works):
    """Run each function on a thread of its own, all beginning together; return their results."""
    ready = threading.Barrier(len(works))
    results, errors = [None] * len(works), []

    def run(number, work):
        ready.wait()
        try:
            results[number] = work()
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=run, args=item) for item in enumerate(works)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]
    return results


def peak_memory(work):
    """Return the most bytes of Python's allocators that a call takes at a time."""
    gc.collect()  # which also empties the free lists, from which tuples would take no new memory
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def in_child(work):
    """Return what a function returns, or the error that it raises, in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(30)  # a child that hangs is killed
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        finally:
            os.write(writer, said.encode())
            os._exit(0)
    os.close(writer)
    said = os.read(reader, 10_000).decode()
    os.close(reader)
    os.waitpid(child, 0)
    return said
