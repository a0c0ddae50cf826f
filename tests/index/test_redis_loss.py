"""An index on a Redis server: long batches, lost keys, removals during every question."""

import threading
import time
from contextlib import suppress
from itertools import combinations

import pytest

import redis_server
from fastlsh import Index
from fastlsh.index.redis import server as on_server

TEXTS = [f"document {d % 7} of some length and then {d // 7}" for d in range(60)]
KEYS = ("parameters", "state", "documents", "ids")
LOST = [lost for n in range(1, 4) for lost in combinations(KEYS, n)]


@pytest.fixture(scope="module")
def client(redis_address):
    import redis

    with redis.Redis.from_url(redis_address) as one:
        yield one


@pytest.fixture
def location(redis_address, client):
    client.flushdb()
    return f"{redis_address}#index"


@pytest.fixture
def short_lock(monkeypatch):
    monkeypatch.setattr(on_server, "LOCKED", 300)


def test_a_batch_that_is_longer_than_the_lock(location, short_lock):
    """It keeps others out all the time, and succeeds."""
    with Index.open(location) as index, Index.open(location, wait=0.05) as other:
        with index.batch():
            index.insert("a", TEXTS[0])
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                with pytest.raises(TimeoutError, match="another process is writing"):
                    other.insert("b", TEXTS[1])
        other.insert("b", TEXTS[1])
        assert list(index) == ["a", "b"]


def test_a_renewal_during_the_transaction(location, client, monkeypatch):
    """The lock is renewed at a moment that a WATCH of it would not survive."""
    with Index.open(location) as index:
        entries = index._backend.store._entries

        def renewed(*numbers):
            index._backend.store._server.renew()
            return entries(*numbers)

        monkeypatch.setattr(index._backend.store, "_entries", renewed)
        index.insert("a", TEXTS[0])
        assert list(index) == ["a"]
        assert not client.exists("fastlsh:{index}:lock")


def test_a_writer_that_came_in_between(location, client):
    """The lock expires, another one writes and ends: the first one changes nothing."""

    def late(index, other):
        with index.batch():
            index.insert("b", TEXTS[1])
            client.delete("fastlsh:{index}:lock")
            other.insert("c", TEXTS[2])

    with Index.open(location) as index, Index.open(location) as other:
        index.insert("a", TEXTS[0])
        with pytest.raises(TimeoutError, match="another process has changed the index"):
            late(index, other)
        assert list(index) == ["a", "c"]


def test_the_thread_ends_with_the_index(location, short_lock):
    index = Index.open(location)
    index.insert("a", TEXTS[0])
    thread = index._backend.store._server._renewing
    assert thread.is_alive()
    index.close()
    thread.join(10)
    assert not thread.is_alive()


QUESTIONS = {
    "query": lambda index: index.query_many(TEXTS),
    "len": len,
    "list": list,
    "in": lambda index: [d in index for d in range(60)],
    "signature": lambda index: index.signature(3).tolist(),
    "copy": lambda index: index.copy().query_many(TEXTS),
    "insert": lambda index: index.insert("new", TEXTS[0]),
    "unique": lambda index: index.insert_unique(["other"], [TEXTS[0]]).tolist(),
    "remove": lambda index: index.discard(4),
}


@pytest.mark.parametrize("lost", LOST, ids="+".join)
def test_lost_keys(location, client, lost):
    """An error that names the damage, or the right answer, in an open index and a new one."""
    with Index.open(location, 0.7) as index:
        index.insert_many(range(60), TEXTS)
        index.remove(7)
        names = [f"fastlsh:{{index}}:{name}" for name in KEYS]
        held = {name: client.dump(name) for name in names}

        def restore():
            for name, value in held.items():
                client.restore(name, 0, value, replace=True)

        for question, ask in QUESTIONS.items():
            restore()
            right = None if question in ("insert", "unique", "remove") else ask(index)
            client.delete(*(f"fastlsh:{{index}}:{name}" for name in lost))
            if lost != ("parameters",):
                with pytest.raises(ValueError, match=r"index is damaged: .*lost|instead of"):
                    ask(index)
            elif right is not None:
                assert ask(index) == right
            if "parameters" in lost:
                with pytest.raises(ValueError, match="the index is damaged: its key `parameters`"):
                    Index.open(location, 0.8)
                with pytest.raises(ValueError, match="the index is damaged: its key `parameters`"):
                    Index.open(location, read_only=True)


def test_a_lost_record(location, client):
    with Index.open(location, 0.7) as index:
        index.insert_many(range(60), TEXTS)
        client.hdel("fastlsh:{index}:documents", 5)
        client.hset("fastlsh:{index}:documents", "60", b"")
        with pytest.raises(ValueError, match="damaged: it lacks document 5"):
            index.signature(5)


def test_a_server_that_deletes_keys(tmp_path):
    options = "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"
    with (
        redis_server.started(tmp_path, *options) as ((host, port), _),
        pytest.raises(OSError, match=r"maxmemory-policy allkeys-lru.*must be noeviction"),
    ):
        Index.open(f"redis://{host}:{port}")


def test_questions_beside_a_remover(location):
    """No question raises anything; each sees one state."""
    stop, errors = threading.Event(), []

    def change():
        with Index.open(location) as index:
            while not stop.is_set():
                with index.batch():
                    index.discard("x")
                    index.insert("x", TEXTS[0])

    def ask(question):
        try:
            with Index.open(location) as index:
                for _ in range(30):
                    with suppress(TimeoutError):
                        question(index)
        except BaseException as error:
            errors.append(error)

    with Index.open(location) as index:
        index.insert_many([*range(20), "x"], TEXTS[:21])

    def sees_all(index):
        assert set(index.copy()) == {*range(20), "x"}

    questions = [
        sees_all, lambda index: index.signature("x"), lambda index: index.nbytes, list,
        lambda index: _check(len(index) == 21), lambda index: _check("x" in index),
        lambda index: Index().merge(index),
    ]  # fmt: skip
    writer = threading.Thread(target=change)
    writer.start()
    try:
        readers = [threading.Thread(target=ask, args=(each,)) for each in questions]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    finally:
        stop.set()
        writer.join()
    assert not errors


def _check(right):
    assert right


def test_a_signature_in_sqlite_beside_a_writer(tmp_path):
    """The id and its signature are read in one transaction."""
    with Index.open(tmp_path / "file") as index, Index.open(tmp_path / "file") as other:
        index.insert("x", TEXTS[0])
        find = type(index._backend.store).find

        def replaced(names):
            found = find(index._backend.store, names)
            other.insert("x", TEXTS[0], on_known="replace")
            return found

        index._backend.store.find = replaced
        assert (index.signature("x") == other.signature("x")).all()
