"""An index on a Redis server: broken connections, delays, restarts, a server that refuses.

Each operation ends in the whole answer, or in an error that names the server; a change is made in
full or not at all, and an error that says "nothing was changed" is right.
"""

import shutil
import threading
import time
from contextlib import contextmanager, suppress
from operator import methodcaller
from random import Random
from urllib.parse import urlsplit

import numpy as np
import pytest

import redis_proxy
import redis_server
from combinations import covering, every
from fastlsh import Index
from fastlsh.index.redis import changes, store
from fastlsh.index.redis import server as on_server
from index_model import CHANGES, OPERATIONS, TEXTS
from refusals import refuses

OPTIONS = {"num_perm": 16, "bands": 4, "rows": 4, "threads": 1}


@pytest.fixture
def proxy(redis_address):
    url = urlsplit(redis_address)
    with redis_proxy.before((url.hostname, url.port)) as one:
        yield one


def contents(location):
    """Return what an index has, over a connection that does not break."""
    with Index.open(location, read_only=True) as index:
        return list(index), index.query_many(TEXTS[:10])


def filled(location):
    """Make an index anew."""
    import redis

    with redis.Redis.from_url(location) as client:
        client.flushdb()
    with Index.open(location, 0.7, **OPTIONS) as index:
        index.insert_many(range(8), TEXTS[:8])


@pytest.mark.parametrize(("operation", "answered"), covering(OPERATIONS, [False, True]))
def test_a_connection_that_breaks_at_every_message(location, proxy, operation, answered):
    through, ask = f"redis://127.0.0.1:{proxy.port}/0", OPERATIONS[operation]
    filled(location)
    old = contents(location)
    with Index.open(through) as index:
        proxy.reset()
        right = ask(index)
    messages, new = proxy.count, contents(location)
    assert messages >= 1
    for broken in range(messages):
        if operation in CHANGES:
            filled(location)
        with Index.open(through, wait=1.0) as index:
            len(index)
            proxy.reset(broken, answered)
            try:
                assert ask(index) == right
            except ConnectionError as error:
                said = str(error)
                expected = [old] if "nothing was changed" in said else [old, new]
            else:
                said, expected = through, [new]
            assert "redis://127.0.0.1" in said
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


def test_a_large_change_waits_longer_for_its_answer(location, proxy, monkeypatch):
    from redis import RedisError
    from redis.client import Pipeline

    monkeypatch.setattr(on_server, "TIMEOUT", 0.2)
    monkeypatch.setattr(on_server, "TIMEOUT_OF_ONE", 0.1)
    for module in (changes, store):
        monkeypatch.setattr(module, "TOGETHER", 5)
    execute, broken = Pipeline.execute, []

    def slowly(self, *given):
        proxy.delay = 0.4
        try:
            return execute(self, *given)
        except RedisError as error:
            broken.append(error)
            raise
        finally:
            proxy.delay = 0.0

    with Index.open(f"redis://127.0.0.1:{proxy.port}/0", 0.8, wait=0.2, **OPTIONS) as index:
        monkeypatch.setattr(Pipeline, "execute", slowly)
        index.insert_many(range(20), TEXTS[:20])
        assert not broken
        index.insert("one", TEXTS[0])  # its answer came too late, but it was made
        assert broken
        assert len(index) == 21


# ---- a server that refuses


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server whose settings a test may change: its location and a client."""
    import redis

    folder = tmp_path_factory.mktemp("server")
    options = "--enable-protected-configs", "yes"
    with redis_server.started(folder, *options) as ((host, port), _):
        client = redis.Redis(host, port)
        yield f"redis://{host}:{port}/0", client
        client.close()


@contextmanager
def full(client):
    client.config_set("maxmemory", 1000)
    yield
    client.config_set("maxmemory", 0)


@contextmanager
def replica(client):
    client.replicaof("127.0.0.1", 1)
    yield
    client.replicaof("NO", "ONE")
    client.delete("fastlsh:{index}:lock")  # which a replica cannot give up; it would expire


@contextmanager
def busy(client):
    import redis

    def spin():
        given = client.connection_pool.connection_kwargs
        another = redis.Redis(given["host"], given["port"])
        with another, suppress(redis.RedisError):
            another.eval("while true do end", 0)

    client.config_set("busy-reply-threshold", 10)
    script = threading.Thread(target=spin)
    script.start()
    time.sleep(0.1)
    yield
    client.script_kill()
    script.join()
    client.delete("fastlsh:{index}:lock")


@contextmanager
def unsaved(client, tmp_path):
    import redis

    tmp_path.joinpath("gone").mkdir()
    client.config_set("dir", str(tmp_path / "gone"))
    tmp_path.joinpath("gone").rmdir()
    client.config_set("save", "3600 1")
    client.set("one", "change")
    client.bgsave()
    while client.info("persistence")["rdb_bgsave_in_progress"]:
        time.sleep(0.01)
    with suppress(redis.RedisError):
        client.bgsave()
    yield
    client.config_set("save", "")
    client.config_set("dir", str(tmp_path))


REFUSED = {
    "full": (full, "memory of the server is full"),
    "replica": (replica, "the server is a read-only replica"),
    "busy": (busy, "the server is busy with a script"),
    "unsaved": (unsaved, "the server accepts no changes"),
}


@pytest.mark.parametrize("state", REFUSED)
def test_a_server_that_refuses(server, state, tmp_path, run):
    """Before a change or at the end of a batch: one clear line, and nothing changed."""
    location, client = server
    filled(location)
    old = contents(location)
    refusing, said = REFUSED[state]
    given = (client, tmp_path) if state == "unsaved" else (client,)
    tmp_path.joinpath("new.jsonl").write_text('{"text": "a new text"}\n')
    with Index.open(location) as index:
        with refusing(*given):
            for change in CHANGES:
                refuses(OSError, f"{said}.*redis://127.0.0.1", OPERATIONS[change], index)
            status, _, lines = run("index", "add", location, str(tmp_path / "new.jsonl"))
            assert (status, len(lines)) == (1, 1)
            assert said in lines[0]
            if state != "busy":
                assert contents(location) == old
        if state == "unsaved":
            tmp_path.joinpath("gone").mkdir(exist_ok=True)
        assert contents(location) == old

        def refused_later():
            with index.batch():
                index.insert("new", TEXTS[0])
                context.__enter__()

        if state in ("full", "replica"):
            context = refusing(*given)
            refuses(OSError, said, refused_later)
            context.__exit__(None, None, None)
        assert contents(location) == old
        index.insert("new", TEXTS[0])
        assert "new" in index


def test_a_change_that_is_too_large_for_the_server(server, monkeypatch, tmp_path):
    location, client = server
    for module in (changes, store):
        monkeypatch.setattr(module, "TOGETHER", 1000)
    filled(location)
    numbers = range(100, 6100)
    with Index.open(location) as index:
        client.config_set("client-query-buffer-limit", "1mb")
        with pytest.raises(OSError, match="accepts 1,048,576 at a time: insert fewer"):
            index.insert_many(numbers, [f"a text with the number {n}" + "!" * 200 for n in numbers])
        client.config_set("client-query-buffer-limit", "1gb")
        assert len(index) == 8


def test_connections_and_scripts_that_the_server_forgets(location):
    import redis

    filled(location)
    with Index.open(location) as index, redis.Redis.from_url(location) as client:
        for number, operation in enumerate((*OPERATIONS, "query", "len")):
            client.script_flush()
            client.client_kill_filter(_type="normal", skipme=True)
            if operation not in ("remove", "batch"):
                OPERATIONS[operation](index) if operation != "unique" else index.remove(number)


@pytest.mark.parametrize(
    "options", ["decode_responses=True", "protocol=3", "protocol=3&decode_responses=yes"]
)
def test_options_of_the_address(location, options):
    filled(location)
    with Index.open(f"{location}?{options}#index") as index:
        assert contents(location) == (list(index), index.query_many(TEXTS[:10]))
        index.insert(b"bytes", TEXTS[0])
        assert b"bytes" in index


@pytest.mark.parametrize(
    "address",
    ["redis://h:x/0", "redis://:se/cret@h", "redis://[::1", "redis://h:99999", "redis://h?db=x",
     "redis://h?nonsense=1"],
)  # fmt: skip
def test_a_wrong_address(address, run):
    with pytest.raises(ValueError, match="address") as error:
        Index.open(address)
    assert "se/cret" not in str(error.value)
    assert "'se'" not in str(error.value)
    status, _, lines = run("index", "info", address)
    assert (status, len(lines)) == (2, 1)


def test_a_password(tmp_path):
    with redis_server.started(tmp_path, "--requirepass", "secret") as ((host, port), _):
        for password in ("", ":wrong@"):
            with pytest.raises(PermissionError, match="asks for a password") as error:
                Index.open(f"redis://{password}{host}:{port}", 0.8)
            assert "wrong@" not in str(error.value)
        with Index.open(f"redis://:secret@{host}:{port}", 0.8) as index:
            index.insert("a", TEXTS[0])
            assert list(index) == ["a"]


# ---- restarts


@contextmanager
def restarted(folder, location, process, *options):
    """Kill a server as a power cut does, and give another one of its files."""
    import redis

    process.kill()
    process.wait()
    port = urlsplit(location).port
    process = redis_server.launched(folder, port, *options)
    try:
        assert redis_server.answers(redis, port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def _inserted_into_a_killed_server(index, process):
    with index.batch():
        index.insert("new", TEXTS[0])
        process.kill()
        process.wait()


def test_a_restart_with_persistence(tmp_path):
    options = "--appendonly", "yes", "--appendfsync", "always"
    with redis_server.started(tmp_path, *options) as ((host, port), process):
        location = f"redis://{host}:{port}/0"
        filled(location)
        with Index.open(location) as index:
            old = contents(location)
            with restarted(tmp_path, location, process, *options) as process:
                assert (list(index), index.query_many(TEXTS[:10])) == old
                with pytest.raises(ConnectionError):
                    _inserted_into_a_killed_server(index, process)
            with restarted(tmp_path, location, process, *options):
                assert contents(location) == old
                _release(location)
                index.insert("new", TEXTS[0])
                assert "new" in index


def _release(location):
    """Delete the lock of what was under way: it is not to be waited for a minute."""
    import redis

    with redis.Redis.from_url(location) as client:
        client.delete("fastlsh:{index}:lock")


def test_a_restart_without_persistence(tmp_path):
    with redis_server.started(tmp_path) as ((host, port), process):
        location = f"redis://{host}:{port}/0"
        filled(location)
        opened = Index.open(location, wait=0.2)
        with opened as index, restarted(tmp_path, location, process) as process:
            for operation in OPERATIONS.values():
                refuses(ValueError, "damaged: its key `state` is lost", operation, index)
            with pytest.raises(FileNotFoundError):
                Index.open(location, read_only=True)
            process.kill()
            process.wait()
            for operation in (
                OPERATIONS["insert"],
                OPERATIONS["query"],
                lambda _: Index.open(location, wait=0.2),
            ):
                said = r"does not answer.*redis://127.0.0.1"
                refuses(ConnectionError, said, operation, index)


def test_the_last_second_is_lost(tmp_path):
    """Wherever the log of the server is cut off, the index is as after the last change in it."""
    # "everysec" would lose it now and then, and delays writing to the log on a busy disk.
    options = "--appendonly", "yes", "--appendfsync", "always"
    folder, kept = tmp_path / "server", tmp_path / "kept"
    folder.mkdir()
    with redis_server.started(folder, *options) as ((host, port), process):
        location = f"redis://{host}:{port}/0"
        filled(location)
        (log,) = folder.glob("**/*.incr.aof")
        states = [(log.stat().st_size, contents(location))]
        with Index.open(location) as index:
            for change in CHANGES:
                OPERATIONS[change](index)
                states.append((log.stat().st_size, contents(location)))
            process.kill()
            process.wait()
            shutil.copytree(folder, kept)
            written = log.read_bytes()
            for cut in np.linspace(states[0][0], len(written), 9).astype(int).tolist():
                shutil.rmtree(folder)
                shutil.copytree(kept, folder)
                log.write_bytes(written[:cut])
                with restarted(folder, location, process, *options) as process:
                    expected = [state for size, state in states if size <= cut][-1]
                    assert contents(location) == expected
                    _release(location)
                    index.insert("later", TEXTS[20])
                    assert [*expected[0], "later"] == list(index)


@pytest.mark.parametrize("seed", every(3, range(6)))
def test_a_change_that_fails_is_taken_back_and_its_batch_goes_on(location, monkeypatch, seed):
    random = Random(seed)
    calls = iter(())

    def failing(function):
        def call(*arguments):
            if next(calls, None) == "fails":
                raise MemoryError
            return function(*arguments)

        return call

    monkeypatch.setattr(changes, "encoded", failing(changes.encoded))
    for name in ("insert", "discard"):
        monkeypatch.setattr(changes.Memory, name, failing(getattr(changes.Memory, name)))

    def check(index):
        assert sorted(index) == sorted(expected)
        assert len(index) == len(expected)
        found = index.query_many(TEXTS)
        assert list(map(sorted, found)) == list(map(sorted, expected.query_many(TEXTS)))

    failed = 0
    expected = Index(0.7, **OPTIONS)
    with Index.open(location, 0.7, **OPTIONS) as index:
        for _ in range(4):
            with index.batch():
                for _ in range(12):
                    ids = random.sample(range(20), random.randint(1, 5))
                    if random.random() < 0.3:
                        change = methodcaller("discard", ids[0])
                    else:
                        texts = random.choices(TEXTS, k=len(ids))
                        change = methodcaller("insert_many", ids, texts, on_known="replace")
                    calls = iter(["works"] * random.randint(0, 2 * len(ids)) + ["fails"])
                    try:
                        change(index)
                    except MemoryError:
                        failed += 1
                    else:
                        calls = iter(())
                        change(expected)
                    calls = iter(())
                check(index)
            check(index)
    with Index.open(location, read_only=True) as index:
        check(index)
    assert failed > 5
