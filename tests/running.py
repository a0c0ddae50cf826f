"""Which threads run."""

import threading


def threads():
    """Return how many there are, besides those that Python has not started.

    The threads of pytest-xdist are counted by `threading.active_count` from when they first ask
    which thread they are.
    """
    return sum(not isinstance(each, threading._DummyThread) for each in threading.enumerate())
