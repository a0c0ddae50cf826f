"""Indexes in Redis, with a real server. FASTLSH_REDIS=required makes its absence a failure."""

import pickle
import struct

import numpy as np
import pytest

import redis_server
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lshensemble import MinHashLSHEnsemble
from fastlsh.compat.datasketch.storage import ordered_storage, unordered_storage
from refusals import refuses
from stand_ins import Model, Sketch, sketches


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """(host, port) of a server of our own, on loopback."""
    with redis_server.started(tmp_path_factory.mktemp("redis")) as (address, _):
        yield address


@pytest.fixture
def client(server):
    """An empty server."""
    import redis

    with redis.Redis(*server) as client:
        client.flushall()
        yield client


@pytest.fixture
def config(client, server):
    """A storage_config of the empty server."""
    host, port = server
    return {"type": "redis", "basename": b"test", "redis": {"host": host, "port": port}}


def filled(config, n=20, **options):
    """Return (index, model, sketches)."""
    rows = sketches(n, 12)
    index = MinHashLSH(num_perm=12, params=(4, 3), storage_config=config, **options)
    model = Model(4, 3)
    for i, sketch in enumerate(rows):
        index.insert(f"key {i}".encode(), sketch)
        model.insert(f"key {i}".encode(), sketch)
    return index, model, rows


def test_layout(client, config):
    """What datasketch reads and writes: names, types, values."""
    _, model, _ = filled(config, prepickle=False)
    expected = {b"test_keys"} | {b"test_bucket_" + struct.pack(">H", band) for band in range(4)}
    assert client.hgetall(b"test_keys") == {key: b"test_keys" + key for key in model.bands}
    for key, [bands] in model.bands.items():
        assert client.lrange(b"test_keys" + key, 0, -1) == bands
        expected.add(b"test_keys" + key)
    for band in range(4):
        name = b"test_bucket_" + struct.pack(">H", band)
        buckets = model.buckets(band)
        assert client.hgetall(name) == {bucket: name + bucket for bucket in buckets}
        for bucket, keys in buckets.items():
            assert client.smembers(name + bucket) == keys
            expected.add(name + bucket)
    assert set(client.keys()) == expected


@pytest.mark.parametrize("prepickle", [None, False])
def test_answers(config, prepickle):
    index, model, rows = filled(config, prepickle=prepickle)
    for sketch in rows + sketches(10, 12, seed=4):
        assert set(index.query(sketch)) == model.query(sketch)
        index.add_to_query_buffer(sketch)
        assert set(index.collect_query_buffer()) == model.query(sketch)
    same = MinHashLSH(num_perm=12, params=(4, 3), storage_config=config, prepickle=prepickle)
    assert set(same.query(rows[0])) == model.query(rows[0])
    assert b"key 1" in same
    refuses(ValueError, "already exists", same.insert, b"key 1", rows[1])
    again = pickle.loads(pickle.dumps(index))
    assert set(again.query(rows[0])) == model.query(rows[0])
    assert [sum(c.values()) for c in again.get_counts()] == [20] * 4
    assert index.get_subset_counts(b"key 1") == [
        dict.fromkeys([band], 1) for band in model.bands[b"key 1"][0]
    ]


def test_a_buffered_query_keeps_what_it_found(config):
    index, model, rows = filled(config)
    index.add_to_query_buffer(rows[0])
    index.insert(b"later", rows[0])
    index.remove(b"key 0")
    assert set(index.collect_query_buffer()) == model.query(rows[0])


def test_keys_must_be_bytes_unless_pickled(config):
    sketch = sketches(1, 12)[0]
    index = MinHashLSH(num_perm=12, params=(4, 3), storage_config=config, prepickle=False)
    for key in ("text", 3):
        refuses(TypeError, "prepickle=False requires bytes keys", index.insert, key, sketch)
    index = MinHashLSH(num_perm=12, params=(4, 3), storage_config=config)
    index.insert(("any", 3), sketch)
    assert index.query(sketch) == [("any", 3)]


@pytest.mark.parametrize("session", [False, True])
def test_nothing_is_left_of_what_was_removed(client, config, session):
    index, model, rows = filled(config)
    if session:
        with index.deletion_session() as remover:
            for key in model.bands:
                remover.remove(key)
    else:
        for key in model.bands:
            index.remove(key)
    assert client.keys() == []
    assert index.is_empty()
    assert index.query(rows[0]) == []


def test_sessions_send_bundles(client, config):
    rows = sketches(20, 12)
    index = MinHashLSH(num_perm=12, params=(4, 3), storage_config=config)
    with index.insertion_session(buffer_size=15) as session:
        for i, sketch in enumerate(rows):
            session.insert(i, sketch)
            assert (client.hlen(b"test_keys") == 0) == (i < 14)
    assert client.hlen(b"test_keys") == 20
    assert all(i in index.query(sketch) for i, sketch in enumerate(rows))


def test_sessions_side_by_side(client, config):
    """What a buffer removes and another one inserts happens in the order of the calls."""
    index, _, rows = filled(config, n=2)
    with index.deletion_session() as deletions, index.insertion_session() as insertions:
        deletions.remove(b"key 0")
        insertions.insert("same bands", rows[0])
        insertions.insert(b"key 0", rows[0], check_duplication=False)
    assert set(index.query(rows[0])) >= {b"key 0", "same bands"}
    refuses(ValueError, "The given key already exists", index.insert, "same bands", rows[1])
    for key in (b"key 0", b"key 1", "same bands"):
        index.remove(key)
    assert client.keys() == []


def test_merge_with_an_index_in_memory(config):
    index, model, rows = filled(config, prepickle=False)
    memory = MinHashLSH(num_perm=12, params=(4, 3))
    memory.merge(index)
    for sketch in rows:
        assert set(memory.query(sketch)) == model.query(sketch)
    other = {**config, "basename": b"other"}
    copy = MinHashLSH(num_perm=12, params=(4, 3), storage_config=other, prepickle=False)
    copy.merge(memory)
    assert copy.get_counts() == index.get_counts()


def test_settings_from_the_environment(client, config, server, monkeypatch):
    monkeypatch.setenv("OUR_REDIS", server[0])
    config["redis"] = {
        "host": {"env": "OUR_REDIS", "default": "nowhere.invalid"},
        "port": {"env": "NOT_THERE", "default": server[1]},
    }
    index, _, rows = filled(config)
    assert index.query(rows[0])
    assert index.keys.status() == {"host": server[0], "port": server[1], "keyspace_size": 20}


def test_storages(config):
    ordered = ordered_storage(config, name=b"list")
    ordered.insert("a", b"1", b"2", b"1")
    assert ordered[b"a"] == [b"1", b"2", b"1"]
    ordered.remove_val(b"a", b"1")
    assert ordered[b"a"] == [b"2", b"1"]
    assert ordered.itemcounts() == {b"a": 2}
    assert list(ordered.redis_keys()) == [b"lista"]
    unordered = unordered_storage(config, name=b"set")
    unordered.insert(b"a", b"1", b"2", b"1")
    assert unordered[b"a"] == {b"1", b"2"}
    assert unordered.getmany(b"a", b"b") == [{b"1", b"2"}, set()]
    unordered.remove_val(b"a", b"1")
    unordered.remove_val(b"a", b"2")
    assert list(unordered) == []


def test_ensemble(config):
    rng = np.random.default_rng(0)
    entries = [
        (i, Sketch(rng.integers(0, 3, 16).astype(np.uint32)), int(size))
        for i, size in enumerate(rng.integers(1, 40, 30))
    ]
    options = {"threshold": 0.5, "num_perm": 16, "num_part": 4, "m": 4}
    redis, memory = (
        MinHashLSHEnsemble(**options, storage_config=config),
        MinHashLSHEnsemble(**options),
    )
    for index in (redis, memory):
        index.index(entries)
        assert 7 in index
    for _, sketch, size in entries:
        assert set(redis.query(sketch, size)) == set(memory.query(sketch, size))


def test_interchange_with_datasketch(config):
    datasketch = pytest.importorskip("datasketch")
    theirs = datasketch.MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)
    ours = MinHashLSH(num_perm=16, params=(4, 4), storage_config=config)
    sets = [[b"a", b"b", b"c"], [b"a", b"b", b"d"], [b"x", b"y"], [b"x", b"z"]]
    minhashes = datasketch.MinHash.bulk(sets, num_perm=16)
    for i, minhash in enumerate(minhashes):
        (ours, theirs)[i % 2].insert(i, minhash)
    for minhash in minhashes:
        assert set(ours.query(minhash)) == set(theirs.query(minhash)) != set()
    assert ours.get_counts() == theirs.get_counts()
    theirs.remove(0)
    ours.remove(1)
    assert set(ours.keys) == set(theirs.keys) == {pickle.dumps(2), pickle.dumps(3)}


def test_a_call_needs_few_requests(config, monkeypatch):
    """However many bands there are, each of which is a storage."""
    from redis.client import Pipeline, Redis

    requests = []

    def counted(method):
        def send(self, *given, **options):
            requests.append(method.__name__)
            return method(self, *given, **options)

        return send

    rows = sketches(20, 48)
    for bands in (4, 16):
        config["basename"] = b"%d bands" % bands
        index = MinHashLSH(num_perm=48, params=(bands, 3), storage_config=config)
        index.insert("first", rows[0])
        with monkeypatch.context() as patch:
            patch.setattr(Pipeline, "execute", counted(Pipeline.execute))
            patch.setattr(Redis, "execute_command", counted(Redis.execute_command))
            for most, call in [
                (1, lambda index: index.insert("second", rows[0])),
                (1, lambda index: index.query(rows[0])),
                (1, lambda index: index.add_to_query_buffer(rows[0])),
                (0, lambda index: index.collect_query_buffer()),
                (2, lambda index: index.remove("second")),
            ]:
                requests.clear()
                call(index)
                assert len(requests) <= most, requests
        assert index.get_counts() == [dict.fromkeys(counts, 1) for counts in index.get_counts()]
        index.remove("first")
        assert index.is_empty()
        assert list(index.hashtables[0]) == []
