"""An index on a Redis server: long batches, lost keys, removals during every question."""

import threading
import time
from itertools import combinations
from unittest import mock

import pytest

import redis_server
from combinations import every
from fastlsh import Index
from fastlsh.index.redis import server as on_server
from fastlsh.index.redis.changes import Changes
from fastlsh.index.store import Batch, Count
from index_model import CHANGES, OPERATIONS, TEXTS
from refusals import refuses

KEYS = ("parameters", "state", "documents", "ids")
LOST = [lost for n in range(1, 4) for lost in combinations(KEYS, n)]


@pytest.fixture
def short_lock(monkeypatch):
    monkeypatch.setattr(on_server, "LOCKED", 300)


def test_a_batch_that_is_longer_than_the_lock(location, short_lock):
    """It keeps others out all the time, and succeeds."""
    with Index.open(location, 0.8) as index, Index.open(location, wait=0.05) as other:
        with index.batch():
            index.insert("a", TEXTS[0])
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                refuses(TimeoutError, "another process is writing", other.insert, "b", TEXTS[1])
        other.insert("b", TEXTS[1])
        assert list(index) == ["a", "b"]


def test_a_renewal_during_the_transaction(location, client, monkeypatch):
    """The lock is renewed at a moment that a WATCH of it would not survive."""
    with Index.open(location, 0.8) as index:
        send = Changes.send

        def renewed(collected, pipe, server):
            server.renew()
            send(collected, pipe, server)

        monkeypatch.setattr(Changes, "send", renewed)
        index.insert("a", TEXTS[0])
        assert list(index) == ["a"]
        assert not client.exists("fastlsh:{index}:lock")


@pytest.mark.parametrize("ends", [False, True])
def test_a_writer_that_came_in_between(location, client, ends):
    """The lock expires, another one has it and perhaps ends: the first one changes nothing."""

    def late(index, other):
        with index.batch():
            index.insert("b", TEXTS[1])
            client.delete("fastlsh:{index}:lock")
            if ends:
                other.insert("c", TEXTS[2])
            else:
                client.set("fastlsh:{index}:lock", "of another")

    with Index.open(location, 0.8) as index, Index.open(location) as other:
        index.insert("a", TEXTS[0])
        refuses(TimeoutError, "another process has changed the index", late, index, other)
        assert list(index) == ["a", "c"][: 1 + ends]
        assert client.get("fastlsh:{index}:lock") == (None if ends else b"of another")


def test_the_thread_ends_with_the_index(location, short_lock):
    index = Index.open(location, 0.8)
    index.insert("a", TEXTS[0])
    thread = index._backend.store._server._renewing
    assert thread.is_alive()
    index.close()
    thread.join(10)
    assert not thread.is_alive()


def test_a_reader_sees_only_whole_batches(location):
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


def test_the_sources_of_a_document_are_sent_in_parts(location, monkeypatch):
    """A command of Redis has at most 1,048,576 arguments."""
    monkeypatch.setattr("fastlsh.index.redis.changes.TOGETHER", 5)
    with Index.open(location, 0.8) as index:
        index.insert("a", TEXTS[0])
        store = index._backend.store
        with index.batch():
            store.write(Batch(counts={0: Count(1, 12, [])}, sources={0: list(range(12))}))
            assert store.sources({0: list(range(8, 30))}) == {0: list(range(8, 12))}
        with store.reading():
            assert store.sources({0: list(range(8, 30))}) == {0: list(range(8, 12))}
            assert store.sources({0: []}) == {0: list(range(12))}


@pytest.mark.parametrize("lost", every(3, LOST), ids="+".join)
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

        for question, ask in OPERATIONS.items():
            restore()
            right = None if question in CHANGES else ask(index)
            client.delete(*(f"fastlsh:{{index}}:{name}" for name in lost))
            if lost != ("parameters",):
                refuses(ValueError, r"index is damaged: .*lost|instead of", ask, index)
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
        refuses(ValueError, "damaged: it lacks document 5", index.signature, 5)


@pytest.mark.parametrize("left", [0, 3, 20])
def test_a_record_that_is_cut_short(location, client, left):
    with Index.open(location, 0.7) as index:
        index.insert_many(range(60), TEXTS)
        key = "fastlsh:{index}:documents"
        client.hset(key, "5", client.hget(key, "5")[:left])
        for ask in (lambda: index.signature(5), lambda: index.query(TEXTS[5])):
            refuses(ValueError, "damaged: document 5 is cut short", ask)


def test_a_bucket_with_a_part_of_a_number(location, client):
    with Index.open(location, 0.7, num_perm=16, bands=1, rows=16) as index:
        index.insert("a", TEXTS[0])
        ((name, numbers),) = client.hgetall("fastlsh:{index}:buckets").items()
        client.hset("fastlsh:{index}:buckets", name, numbers + b"a")
        refuses(ValueError, "damaged: a bucket has a part of a number", index.query, TEXTS[0])
        index.insert_many(range(600), [TEXTS[1]] * 600)  # of these, a query reads a few
        client.append(client.keys("fastlsh:{index}:b:*")[0], b"a")
        refuses(ValueError, "a part of a number", index.query, TEXTS[1], limit=1)


def test_a_server_that_deletes_keys(tmp_path):
    options = "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"
    with (
        redis_server.started(tmp_path, *options) as ((host, port), _),
        pytest.raises(OSError, match=r"maxmemory-policy allkeys-lru.*must be noeviction"),
    ):
        Index.open(f"redis://{host}:{port}", 0.8)


ALL = {*range(20), "x"}
BESIDE = {
    "copy": (lambda index: set(index.copy()), lambda ids: ids == ALL),
    "merge": (lambda index: set(_merged(index)), lambda ids: ids == ALL),
    # What is replaced after the iteration has begun is removed for it.
    "list": (list, lambda ids: len(ids) == len({*ids}) and {*ids} in (ALL, ALL - {"x"})),
    "len": (len, lambda n: n == 21),
    "in": (lambda index: "x" in index, lambda there: there is True),
    "signature": (lambda index: index.signature("x").tolist(), lambda found: len(found) == 128),
    "nbytes": (lambda index: index.nbytes, lambda n: n > 0),
    "query": (
        lambda index: [name for name, _ in index.query(TEXTS[0], limit=None)],
        lambda ids: 0 in ids and ids.count("x") == 1,
    ),
}


def _merged(index):
    other = Index(0.7)
    other.merge(index)
    return other


def replacing_before_each_command(index, other, times):
    """Replace a document before each of the next commands of an index; return what undoes it."""
    client = index._backend.store._server.client
    command = client.execute_command

    def execute(*given, **more):
        if left:
            left.pop()
            other.insert("x", TEXTS[0], on_known="replace")
        return command(*given, **more)

    left = [None] * times
    client.execute_command = execute
    return lambda: client.__dict__.pop("execute_command") and len(left)


@pytest.mark.parametrize("question", every(2, BESIDE))
def test_a_question_beside_a_remover(location, question):
    """A document is replaced before each of so many commands: a question sees one state."""
    ask, right = BESIDE[question]
    with Index.open(location, 0.7) as index, Index.open(location) as other:
        index.insert_many([*range(20), "x"], [*TEXTS[:20], TEXTS[0]])
        for times in (1, 2, 3, 8):
            undo = replacing_before_each_command(index, other, times)
            assert right(ask(index))
            assert undo() < times


def test_one_question_is_one_request(location):
    with Index.open(location, 0.7) as index:
        index.insert_many(range(30), [*TEXTS[:20], *[TEXTS[0]] * 10])
        client = index._backend.store._server.client
        with mock.patch.object(client, "execute_command", wraps=client.execute_command) as command:
            answer = index.query(TEXTS[0], limit=None)
            assert command.call_count == 1
        assert [name for name, share in answer if share == 1.0] == [0, *range(20, 30)]
        index.insert_many(range(100, 700), [TEXTS[0]] * 600)  # a large bucket, many documents
        assert len(index.query(TEXTS[0], limit=None)) >= 611


def test_a_remover_that_does_not_end(location):
    with Index.open(location, 0.7) as index, Index.open(location) as other:
        index.insert("x", TEXTS[0])
        undo = replacing_before_each_command(index, other, 10_000)
        refuses(TimeoutError, "changes faster than it can be read", index.copy)
        assert undo() > 0


def test_lost_buckets(location, client):
    """A bucket is a field of a hash, or if it is large a key: whatever is lost, it is noticed."""
    same = "a text that very many documents have in common"
    with Index.open(location, 0.7, num_perm=16, bands=4, rows=4) as index:
        index.insert_many(range(60), TEXTS)
        index.insert_many(range(100, 700), [same] * 600)
        index.remove(7)
        key = "fastlsh:{index}:buckets"
        held, large = client.hgetall(key), client.keys("fastlsh:{index}:b:*")
        assert len(large) == sum(value == b"" for value in held.values()) == 4
        assert client.hget("fastlsh:{index}:state", "buckets") == b"%d" % len(held)
        for name, value in held.items():
            client.hdel(key, name)
            for question, ask in OPERATIONS.items():
                if question == "query" or name == min(held):
                    refuses(ValueError, "damaged: its key `buckets` has", ask, index)
            client.hset(key, name, value)
        client.rename(key, "kept")
        with pytest.raises(ValueError, match=r"damaged: its key `buckets` has 0 fields instead of"):
            index.query(TEXTS[0])
        client.rename("kept", key)
        for name in large:
            client.rename(name, "kept")
            for ask in (
                lambda: index.query(same, limit=None), lambda: index.insert_unique(["u"], [same])
            ):  # fmt: skip
                refuses(ValueError, "damaged: it lacks bucket", ask)
            index.insert("added", same)
            index.remove("added")
            refuses(ValueError, "damaged: it lacks bucket", index.query, same, limit=None)
            client.rename("kept", name)
        assert len(index.query(same, limit=None)) == 600


def test_large_buckets(location, client):
    """They come and go at a limit, and the answers are those of an index in memory."""
    memory = Index(0.7, num_perm=16, bands=4, rows=4)
    with Index.open(location, 0.7, num_perm=16, bands=4, rows=4) as index:
        for each in (memory, index):
            each.insert_many(range(505), ["one text of all of them"] * 505)
        for number in (*range(505, 520), *range(519, 500, -1), *range(501, 530)):
            for each in (memory, index):
                if number in each:
                    each.remove(number)
                else:
                    each.insert(number, "one text of all of them")
            count = len(memory)
            assert bool(client.keys("fastlsh:{index}:b:*")) == (count > 512)
            found = index.query("one text of all of them", limit=None)
            assert found == memory.query("one text of all of them", limit=None)
        with index.batch():
            for number in list(index):
                index.remove(number)
        assert client.hgetall("fastlsh:{index}:state")[b"buckets"] == b"0"
        assert sorted(client.keys("fastlsh:{index}:*")) == [
            b"fastlsh:{index}:parameters", b"fastlsh:{index}:state"
        ]  # fmt: skip


def test_a_signature_in_sqlite_beside_a_writer(tmp_path):
    """The id and its signature are read in one transaction."""
    with Index.open(tmp_path / "file", 0.8) as index, Index.open(tmp_path / "file") as other:
        index.insert("x", TEXTS[0])
        find = type(index._backend.store).find

        def replaced(names):
            found = find(index._backend.store, names)
            other.insert("x", TEXTS[0], on_known="replace")
            return found

        index._backend.store.find = replaced
        assert (index.signature("x") == other.signature("x")).all()
