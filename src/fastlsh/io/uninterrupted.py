"""Work that an interrupt does not end half way."""

import threading
from collections.abc import Callable


def uninterrupted(work: Callable[[], None]) -> None:
    """Do some work to its end, and only then raise what has interrupted it.

    What interrupts before the work has begun is raised at once.
    """
    failed: list[BaseException] = []
    ended = threading.Event()
    wake = threading.Lock()
    wake.acquire()
    deciding = threading.Lock()
    begun = given_up = False

    def run() -> None:
        nonlocal begun
        with deciding:
            if given_up:
                return
            begun = True
        try:
            work()
        except BaseException as error:
            failed.append(error)
        ended.set()
        wake.release()

    def begin() -> None:
        try:
            threading.Thread(target=run).start()  # for Python interrupts the main thread only
        except RuntimeError:  # no thread can be started
            run()

    interrupt: list[BaseException] = []
    started = False
    while not ended.is_set():
        try:
            if not started:
                started = True
                begin()
            wake.acquire(timeout=0.1)
        except BaseException as error:  # noqa: PERF203
            interrupt.append(error)
            with deciding:
                given_up = not begun
            if given_up:
                break
    for raised in (*failed, *interrupt):
        raise raised
