"""An index on a Redis server: broken connections, delays, restarts, a server that refuses.

Each operation ends in the whole answer, or in an error that names the server; a change is made in
full or not at all, and an error that says "nothing was changed" is right.
"""

import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

import redis_proxy
import redis_server
from fastlsh import Index

TEXTS = [f"document {d % 7} of some length and then {d // 7}" for d in range(60)]
OPTIONS = {"num_perm": 16, "bands": 4, "rows": 4, "threads": 1}


@pytest.fixture
def proxy(redis_address):
    url = urlsplit(redis_address)
    with redis_proxy.before((url.hostname, url.port)) as one:
        yield one


@pytest.fixture
def location(redis_address):
    import redis

    with redis.Redis.from_url(redis_address) as client:
        client.flushdb()
    return redis_address


def contents(location):
    """Return what an index has, over a connection that does not break."""
    with Index.open(location, read_only=True) as index:
        return dict(zip(list(index), index.query_many([TEXTS[0]], limit=None), strict=False)), list(
            index
        )


def batch(index):
    with index.batch():
        index.insert_many(["p", "q"], TEXTS[5:7])
        index.remove(3)


OPERATIONS = {
    "insert": lambda index: index.insert("new", TEXTS[0]),
    "replace": lambda index: index.insert(2, TEXTS[9], on_known="replace"),
    "unique": lambda index: index.insert_unique(["u", "v"], ["an unlike text", TEXTS[0]]).tolist(),
    "remove": lambda index: index.remove(4),
    "batch": batch,
    "query": lambda index: index.query_many(TEXTS[:3]),
    "list": list,
    "len": len,
    "signature": lambda index: index.signature(1).tolist(),
    "copy": lambda index: list(index.copy()),
}
CHANGES = ("insert", "replace", "unique", "remove", "batch")


def filled(location):
    """Make an index anew."""
    import redis

    with redis.Redis.from_url(location) as client:
        client.flushdb()
    with Index.open(location, 0.7, **OPTIONS) as index:
        index.insert_many(range(8), TEXTS[:8])


@pytest.mark.parametrize("answered", [False, True], ids=["lost", "unanswered"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_connection_that_breaks_at_every_message(location, proxy, operation, answered):
    through, ask = f"redis://127.0.0.1:{proxy.port}/0", OPERATIONS[operation]
    filled(location)
    old = contents(location)
    with Index.open(through) as index:
        proxy.reset()
        right = ask(index)
    messages, new = proxy.count, contents(location)
    assert messages >= 2
    for broken in range(messages):
        if operation in CHANGES:
            filled(location)
        with Index.open(through, wait=1.0) as index:
            len(index)
            proxy.reset(broken, answered)
            try:
                assert ask(index) == right
            except ConnectionError as error:
                assert "redis://127.0.0.1" in str(error)
                expected = [old] if "nothing was changed" in str(error) else [old, new]
            else:
                expected = [new]
            proxy.reset()
            assert contents(location) in expected
            if expected == [old]:
                assert ask(index) == right


def test_a_slow_network(location, proxy):
    proxy.delay = 0.05
    filled(location)
    with Index.open(location) as index, Index.open(f"redis://127.0.0.1:{proxy.port}/0") as far:
        assert far.query_many(TEXTS) == index.query_many(TEXTS)
        far.insert("new", TEXTS[0])
        assert "new" in index
