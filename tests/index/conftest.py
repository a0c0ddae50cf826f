"""Every kind of index that can be changed, for tests that hold for all of them."""

import os
import uuid
import weakref

import pytest

from fastlsh import Index
from fastlsh.index import database
from fastlsh.index.sqlite import rows, store
from index_model import KINDS

MANY_RUNS = "sqlite, many runs"
BY_DEFAULT = ("test_backends.py", "test_contained.py", "test_index.py")
"""The tests in which the default run has an index in SQLite of many small runs, too."""


def pytest_collection_modifyitems(items):
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if given.get("backend") == MANY_RUNS and item.path.name not in BY_DEFAULT:
            item.add_marker("exhaustive")


class Backend:
    """Makes empty indexes of one kind.

    Parameters
    ----------
    kind
        One of `KINDS`, or "redis".
    place
        A folder, or the address of a server.
    """

    def __init__(self, kind, place):
        self.kind = kind
        self.place = place
        self.stored = kind != "memory"
        self._made = weakref.WeakSet()

    def __call__(self, threshold=0.8, **options):
        if not self.stored:
            return Index(threshold, **options)
        index = Index.open(self.new_place(), threshold, **options)
        self._made.add(index)
        return index

    def new_place(self):
        """Return where an index that is stored may be."""
        name = uuid.uuid4().hex
        return f"{self.place}#{name}" if self.kind == "redis" else os.path.join(self.place, name)

    def close(self):
        """Close what was not closed."""
        for index in list(self._made):
            index.close()

    def name(self, *parts):
        """Return an id: a tuple, or where none can be stored, a str."""
        return " ".join(map(str, parts)) if self.stored else parts


@pytest.fixture
def stored(backend):
    """The same, for a kind of index that processes can share."""
    if not backend.stored:
        pytest.skip("an index in memory is of one process")
    return backend


@pytest.fixture(scope="module", params=[*KINDS, "redis"])
def backend(request, tmp_path_factory):
    """A function that makes an empty index: `Backend`."""
    kind = request.param
    if kind == "redis":
        place = request.getfixturevalue("redis_address")
    else:
        place = tmp_path_factory.mktemp("indexes")
    with pytest.MonkeyPatch.context() as patch:
        if kind == MANY_RUNS:
            patch.setattr(store, "RECENT", 5)
            patch.setattr(store, "BLOCK", 7)
            patch.setattr(rows, "TOGETHER", 3)
            patch.setattr(database, "ASKED", 9)
            patch.setattr(database, "COMPARED", 6)
        made = Backend(kind, place)
        yield made
        made.close()


@pytest.fixture(scope="module")
def client(redis_address):
    """A client of the server."""
    import redis

    with redis.Redis.from_url(redis_address) as one:
        yield one


@pytest.fixture
def location(redis_address, client):
    """Where an index may be on the server, which is empty."""
    client.flushdb()
    return redis_address
