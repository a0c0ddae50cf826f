"""Which threads run, and processes that are forked."""

import os
import signal
import threading


def threads():
    """Return how many there are, besides those that Python has not started.

    The threads of pytest-xdist are counted by `threading.active_count` from when they first ask
    which thread they are.
    """
    return sum(not isinstance(each, threading._DummyThread) for each in threading.enumerate())


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
