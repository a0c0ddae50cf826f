"""Loops over an index that change it, and questions that end early."""

import random
import sys

import numpy as np
import pytest

from fastlsh import Index, MinHasher
from fastlsh.index import database
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.redis.changes import Changes
from fastlsh.index.settings import Settings

OPTIONS = {"num_perm": 16, "bands": 4, "rows": 4, "threads": 1}


def text_of(name, version=0):
    return f"a text of {name}, its own {name!r:>30}, version {version}"


@pytest.mark.parametrize("seed", range(2))
def test_a_loop_that_changes_the_index(backend, seed, monkeypatch):
    """It gives the documents that were there at its beginning, as an index in memory does."""
    monkeypatch.setattr(database, "COMPARED", 6)
    monkeypatch.setattr("fastlsh.index.api.READ_BACK", 4)

    def looped(index, loop):
        """Return what a loop gives that replaces, inserts and removes documents anywhere."""
        draw, found = random.Random(seed), []
        index.insert("before the first", text_of("first"))
        for step, given in enumerate(loop):
            found.append(given)
            index.insert(step, text_of(step, 1), on_known="replace")
            index.insert(draw.randrange(20), text_of("another", step), on_known="replace")
            index.insert(f"new{step}", text_of(f"new{step}"))
            index.discard(draw.randrange(20))
        return found

    answers = []
    for make in (Index, backend):
        for kind in (iter, Index.items):
            index = make(0.8, **OPTIONS)
            index.insert_many(range(20), [text_of(name) for name in range(20)])
            answers.append((looped(index, kind(index)), list(map(str, index))))
    assert answers[0][0] == list(range(20))
    assert len(answers[1][0]) < 20
    assert answers[2:] == answers[:2]


def test_ids_that_are_looked_up_by_an_equal_value(backend):
    index = backend(0.8, **OPTIONS)
    index.insert_many([1, 2], [text_of(1), text_of(2)])
    names = iter(index)
    assert index.discard(1.0)
    assert [(name, type(name)) for name in names] == [(1, int), (2, int)]


def test_a_query_with_a_limit_is_the_beginning_of_one_without(backend, monkeypatch):
    monkeypatch.setattr(database, "FIRST", 2)
    monkeypatch.setattr(database, "GROWTH", 2)
    draw = random.Random(1)
    index = backend(0.3, num_perm=64, threads=1)
    words = ["one text", "one text here", "one text here and there", "another document"]
    texts = [draw.choice(words) for _ in range(60)]
    index.insert_many(range(60), texts)
    for name in range(0, 60, 7):
        index.remove(name)
    everything = index.query_many(words)
    assert max(map(len, everything)) > 15
    for limit in (1, 2, 5, 13, 100):
        expected = [found[:limit] for found in everything]
        assert index.query_many(words, limit=limit) == expected
        assert [index.query(word, limit=limit) for word in words] == expected


def test_a_query_ends_when_enough_equal_documents_are_found(tmp_path, monkeypatch):
    index = Index.open(tmp_path / "index", 0.8, **OPTIONS)
    copies = 9000  # most in a run, in several pages, and the others among the recent documents
    monkeypatch.setattr("fastlsh.index.sqlite.store.RECENT", 8000)
    for first, last in ((0, 8500), (8500, copies)):
        index.insert_many(range(first, last), [text_of("a copy")] * (last - first))
    fetch, fetched = index._backend.store.fetch, []
    index._backend.store.fetch = lambda numbers: fetched.append(len(numbers)) or fetch(numbers)
    for limit, most in ((1, database.FIRST), (300, 9 * database.FIRST), (None, copies)):
        fetched.clear()
        found = index.query(text_of("a copy"), limit=limit)
        assert found == [(name, 1.0) for name in range(limit or copies)]
        assert sum(fetched) <= most
    del index._backend.store.fetch


def test_replaced_documents_leave_nothing_in_memory(tmp_path):
    index = Index.open(tmp_path / "index", 0.8, **OPTIONS)
    texts = [text_of(name) for name in range(10)]
    for _ in range(20):
        index.insert_many(range(10), texts, on_known="replace")
        assert index._backend.store.recent.kernel.n <= 40
    assert [name for name, _ in index.query(texts[3])] == [3]


def test_replaced_documents_leave_nothing_in_a_batch_on_a_server():
    settings = Settings.of(0.8, num_perm=16, bands=4, rows=4, verify="signature", threads=1)
    rows = MinHasher(16, threads=1).signatures([f"{name:0>20}" * 3 for name in range(10)])
    changes = Changes(settings)
    for first in range(0, 400, 10):
        changes.begin()
        for number in list(changes.added):
            changes.delete(number, number % 10, changes.added[number])
        changes.add(first, list(range(10)), IndexDocuments(rows))
        assert changes.tables.kernel.n <= 40
    found, _ = changes.tables.query(IndexDocuments(rows[3:4]), sys.maxsize)
    numbers = changes.tables.take(found[:, 1].astype(np.int64))
    assert numbers == [393]
