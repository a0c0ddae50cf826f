"""Processes that are forked while their parent uses an index: nothing is lost or hangs."""

import os
import threading

import pytest

from fastlsh import Index
from fastlsh.index import checks
from index_model import OPERATIONS
from refusals import refuses
from running import in_child

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
OPTIONS = {"num_perm": 16, "bands": 4, "rows": 4, "threads": 1}
REFUSED = "forked in the middle of a batch"


def text_of(name):
    return f"a text of {name}, its own {name!r:>30}"


def opened(index, **options):
    return Index.open(index._backend.store.location, **options)


def test_beside_threads_that_use_the_index(backend):
    index = backend(0.8, **OPTIONS)
    index.insert_many(range(9), [text_of(d) for d in range(9)])
    over = threading.Event()

    def ask():
        while not over.is_set():
            assert index.query(text_of(7), limit=1) == [(7, 1.0)]

    def change():
        number = 0
        while not over.is_set():
            names = [f"t{number}", f"t{number}, too"]
            index.insert_many(names, list(map(text_of, names)))
            number += 1

    def use(name):
        index.insert(name, text_of(name))
        with index.batch():
            index.insert(f"{name}b", text_of(f"{name}b"))
        index.compact()
        there = {each for each in index if str(each).startswith("t")}
        whole = {each.partition(",")[0] for each in there} == {t for t in there if "," not in t}
        found = index.query_many([text_of(name), text_of(f"{name}b")], limit=1)
        return whole and found == [[(name, 1.0)], [(f"{name}b", 1.0)]]

    threads = [threading.Thread(target=work) for work in (ask, change)]
    for thread in threads:
        thread.start()
    try:
        names = [f"child{number}" for number in range(4)]
        assert [in_child(lambda name=name: use(name)) for name in names] == ["True"] * 4
    finally:
        over.set()
        for thread in threads:
            thread.join()
    of_children = {*names, *(f"{name}b" for name in names)}
    assert of_children & set(index) == (of_children if backend.stored else set())
    index.insert("last", text_of("last"))


def test_inside_a_batch(stored):
    """The batch belongs to the parent: a child can neither use, end nor undo it."""
    index = stored(0.8, wait=0.05, **OPTIONS)

    def use():
        for call in OPERATIONS.values():
            refuses(ValueError, REFUSED, call, index)
        refuses(ValueError, REFUSED, batch.__exit__, None, None, None)
        index.close()
        return REFUSED in repr(index)

    def fail():
        batch.__exit__(KeyError, KeyError("an error in the block"), None)
        return True

    batch = index.batch()
    batch.__enter__()
    index.insert(0, text_of(0))
    assert in_child(use) == "True"
    assert in_child(fail) == "True"
    index.insert(2, text_of(2))
    batch.__exit__(None, None, None)
    assert list(index) == [0, 2]
    assert list(opened(index)) == [0, 2]


def test_a_file_in_a_batch_is_not_opened_anew(tmp_path):
    """SQLite takes the locks of the parent for those of the child: an answer would be luck."""
    path = tmp_path / "index"
    with Index.open(path, 0.8, **OPTIONS) as index:
        with index.batch():
            index.insert(0, text_of(0))
            assert REFUSED in in_child(lambda: Index.open(path))
            assert in_child(lambda: len(Index.open(tmp_path / "other", 0.8))) == "0"
        assert in_child(lambda: list(Index.open(path))) == "[0]"


def test_while_another_thread_waits_for_the_batch(stored):
    """The thread that forks has the batch that the other thread waits for."""
    index = stored(0.8, wait=60.0, **OPTIONS)
    other = opened(index, wait=60.0)
    tried = threading.Event()
    attempt = other._backend.store.writing
    other._backend._store.writing = lambda: (tried.set(), attempt())[1]
    thread = threading.Thread(target=lambda: other.insert(1, text_of(1)))
    with index.batch():
        index.insert(0, text_of(0))
        thread.start()
        assert tried.wait(30)
        assert len(other) == 0  # other threads can ask meanwhile
        assert in_child(lambda: "here") == "here"
        assert thread.is_alive()
    thread.join()
    assert list(index) == [0, 1]


def test_calls_that_use_several_indexes_in_any_order(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "AT_A_TIME", 0.01)
    first, second = (Index.open(tmp_path / name, 0.8, **OPTIONS) for name in "ab")
    holds, forks = threading.Event(), threading.Event()

    def use():
        with second._guard.hold():
            holds.set()
            forks.wait(0.1)
            first.insert(0, text_of(0))

    thread = threading.Thread(target=use)
    thread.start()
    holds.wait()
    assert in_child(lambda: (list(first), list(second))) == "([0], [])"
    thread.join()


def test_a_call_that_does_not_end(stored, monkeypatch):
    """The process forks in the end, and the child knows what it cannot use."""
    monkeypatch.setattr(checks, "AT_A_TIME", 0.01)
    monkeypatch.setattr(checks, "PATIENCE", 0.05)
    index, another = stored(0.8, **OPTIONS), stored(0.8, **OPTIONS)
    holds, over = threading.Event(), threading.Event()

    def use():
        with index._guard.hold():
            holds.set()
            over.wait()

    thread = threading.Thread(target=use)
    thread.start()
    holds.wait()
    try:
        assert REFUSED in in_child(lambda: len(index))
        assert in_child(lambda: another.insert(1, text_of(1))) == "None"
    finally:
        over.set()
        thread.join()
    index.insert(0, text_of(0))
    assert list(index) == [0]
    assert list(another) == [1]
