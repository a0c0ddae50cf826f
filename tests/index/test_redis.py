"""An index on a Redis server: several processes, passwords, a server that goes away."""

import threading
import time

import pytest

import redis_server
from fastlsh import Index

TEXTS = [f"document {d % 7} of some length and then {d // 7}" for d in range(60)]


@pytest.fixture
def server(tmp_path):
    with redis_server.started(tmp_path) as ((host, port), process):
        yield f"redis://{host}:{port}/0", process


def test_a_lock_that_was_lost(server):
    """Who was away for longer than a minute does nothing, rather than half of it."""
    import redis

    location, _ = server

    def late(index, client):
        with index.batch():
            index.insert("b", TEXTS[1])
            client.set("fastlsh:{index}:lock", "of another")

    with Index.open(location, 0.8) as index, redis.Redis.from_url(location) as client:
        index.insert("a", TEXTS[0])
        with pytest.raises(TimeoutError, match="another process has changed the index"):
            late(index, client)
        assert list(index) == ["a"]
        assert client.get("fastlsh:{index}:lock") == b"of another"


def test_a_reader_sees_only_whole_batches(server):
    location, _ = server
    text = "a text that all of these documents have in common"
    stop = threading.Event()

    def write():
        try:
            with Index.open(location, 0.8) as index:
                for step in range(30):
                    with index.batch():
                        index.insert_many([f"{step}-{d}" for d in range(10)], [text] * 10)
                        if step:
                            for d in range(10):
                                index.remove(f"{step - 1}-{d}")
        finally:
            stop.set()

    with Index.open(location, 0.8) as index:
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        end = time.monotonic() + 60
        while not stop.is_set():
            assert time.monotonic() < end, "the writer does not end"
            found = [name for name, _ in index.query(text)]
            assert len(found) in (0, 10)
            assert len({name.split("-")[0] for name in found}) <= 1
        writer.join(60)
        assert {name for name, _ in index.query(text)} == {f"29-{d}" for d in range(10)}


def test_the_sources_of_a_document_are_sent_in_parts(server, monkeypatch):
    """A command of Redis has at most 1,048,576 arguments."""
    monkeypatch.setattr("fastlsh.index.redis.changes.TOGETHER", 5)
    location, _ = server
    with Index.open(location, 0.8) as index:
        index.insert("a", TEXTS[0])
        store = index._backend.store
        with index.batch():
            store.set_counts({0: "[1, 12, []]"}, {0: list(range(12))})
            assert store.new_sources({0: list(range(8, 30))}, {0: 12}) == {0: list(range(12, 30))}
        assert store.new_sources({0: list(range(30))}, {0: 12}) == {0: list(range(12, 30))}
        assert store.new_sources({0: []}, {0: 12}) == {0: []}


def test_a_server_that_goes_away(server):
    location, process = server
    index = Index.open(location, 0.8, wait=0.2)
    index.insert("a", TEXTS[0])
    process.terminate()
    process.wait()
    for call in (
        lambda: index.insert("b", TEXTS[1]),
        lambda: index.query(TEXTS[0]),
        lambda: Index.open(location, wait=0.2),
    ):
        with pytest.raises(ConnectionError, match=r"does not answer.*redis://127.0.0.1"):
            call()
    index.close()


def test_a_password(tmp_path):
    with redis_server.started(tmp_path, "--requirepass", "secret") as ((host, port), _):
        for password in ("", ":wrong@"):
            with pytest.raises(PermissionError, match="asks for a password") as error:
                Index.open(f"redis://{password}{host}:{port}", 0.8)
            assert "wrong@" not in str(error.value)
        with Index.open(f"redis://:secret@{host}:{port}", 0.8) as index:
            index.insert("a", TEXTS[0])
            assert list(index) == ["a"]
