"""An index goes to another process: its documents do, or the place where it is kept."""

import multiprocessing
import pickle

import pytest

from combinations import every
from fastlsh import Index, Shingler
from index_model import TEXTS
from refusals import refuses

ASKED = [*TEXTS[:9], "something else", ""]
SMALL = {"num_perm": 24, "bands": 8, "rows": 3}


@pytest.fixture(scope="module")
def spawned():
    """A function that calls another one in a process that has nothing but what it is sent."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield lambda function, *given: pool.apply(function, given)


def filled(backend, **options):
    index = backend(0.6, **SMALL, **options)
    index.insert_many(range(40), TEXTS[:40])
    index.insert_many(["a", b"b"], TEXTS[40:42])
    index.insert(3, TEXTS[50], on_known="replace")
    for name in (0, 7, 39):
        index.remove(name)
    return index


def copied(index, protocol=5):
    return pickle.loads(pickle.dumps(index, protocol))


@pytest.mark.parametrize("verify", every(3, ["exact", "signature", "none"]))
def test_a_spawned_process_gives_the_same_answers(backend, spawned, verify):
    with filled(backend, verify=verify, shingler=Shingler(size=4, lowercase=True)) as index:
        assert spawned(list, index) == list(index)
        found = spawned(Index.query_many, index, ASKED)
        assert repr(found) == repr(index.query_many(ASKED))
        assert any(found)


@pytest.mark.parametrize("protocol", every(5, range(pickle.HIGHEST_PROTOCOL + 1)))
def test_all_of_it_comes_back(backend, protocol):
    with filled(backend) as index, copied(index, protocol) as copy:
        assert copy.search_params == index.search_params
        assert repr(copy) == repr(index)
        assert list(copy) == list(index)
        assert all((copy.signature(name) == index.signature(name)).all() for name in index)
        assert copy.limited == 0
        assert copy.read_only == index.read_only


def test_changes_of_a_worker(backend, spawned):
    """An index in memory is the worker's own; one that is stored is the same one."""
    with filled(backend) as index:
        spawned(Index.insert, index, "new", "a text that is new")
        assert ("new" in index) == backend.stored
        assert spawned(Index.discard, index, "a")
        assert ("a" in index) != backend.stored


def test_an_empty_index(backend):
    with backend(0.6, **SMALL) as index, copied(index) as copy:
        assert list(copy) == []
        assert copy.query("text") == []
        copy.insert("a", "text")
        assert copy.query("text") == [("a", 1.0)]
        assert len(index) == backend.stored


def test_a_mapped_file_is_mapped_again(tmp_path, monkeypatch, spawned):
    monkeypatch.chdir(tmp_path)
    index = Index(0.6, **SMALL)
    index.insert_many(range(40), TEXTS[:40])
    index.save("index")
    mapped = Index.load("index", mmap=True)
    monkeypatch.chdir("/")
    assert len(pickle.dumps(mapped)) < 2000
    assert copied(mapped).read_only
    assert spawned(Index.query_many, mapped, ASKED) == index.query_many(ASKED)
    Index(0.7, **SMALL).save(tmp_path / "index")
    refuses(ValueError, r"threshold=0.7, not 0.6", copied, mapped)


def test_a_file_is_opened_by_its_whole_path_and_as_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Index.open("index", 0.8) as index:
        index.insert("a", TEXTS[0])
    with Index.open("index", read_only=True) as index:
        monkeypatch.chdir("/")
        with copied(index) as copy:
            assert list(copy) == ["a"]
            assert copy.read_only
            refuses(ValueError, "read_only=True", copy.insert, "a", "text")


def test_an_index_that_is_gone_is_not_made_anew(tmp_path):
    with Index.open(tmp_path / "index", 0.8) as index:
        code = pickle.dumps(index)
    (tmp_path / "index").unlink()
    refuses(FileNotFoundError, "there is no index", pickle.loads, code)
    assert list(tmp_path.iterdir()) == []
    Index.open(tmp_path / "index", 0.8, seed=7).close()
    refuses(ValueError, "seed=7, not 1", pickle.loads, code)


def test_a_server_that_has_it_no_more(redis_address):
    import redis

    with Index.open(f"{redis_address}#gone", 0.8) as index:
        code = pickle.dumps(index)
    with redis.Redis.from_url(redis_address) as client:
        client.delete("fastlsh:{gone}:parameters", "fastlsh:{gone}:state")
        refuses(FileNotFoundError, "there is no index", pickle.loads, code)
        assert not client.exists("fastlsh:{gone}:parameters")


def test_a_worker_of_a_batch_waits_in_vain(tmp_path):
    """The one who writes has the lock, and a copy is another one: it sees what was saved."""
    with Index.open(tmp_path / "index", 0.8, wait=0.05) as index:
        index.insert("a", TEXTS[0])
        with index.batch():
            index.insert("b", TEXTS[1])
            refuses(TimeoutError, r"waited 0.05 s", copied, index)
        with copied(index) as copy:
            assert list(copy) == ["a", "b"]


def test_a_shingler_with_a_function(tmp_path):
    with Index.open(
        tmp_path / "index", 0.8, shingler=Shingler("word", 1, normalize=str.upper)
    ) as index:
        index.insert("a", TEXTS[0])
        with copied(index) as copy:
            assert copy.query(TEXTS[0].upper()) == [("a", 1.0)]
    index = Index(shingler=Shingler(normalize=lambda text: text))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(index)


def test_what_is_to_be_removed_is_not_sent():
    """A document that is removed in the middle of another call is gone after it."""
    index = filled(Index)
    index._later.append("a")
    assert "a" not in list(copied(index))
