"""Snapshots that count: an index knows how often each of its documents has come."""

import os
import random
from collections import defaultdict
from contextlib import nullcontext

import pytest

import warm
from combinations import every
from fastlsh import Index, InputError, deduplicate_files, deduplicate_with_index
from files import put_rows, refused_if_damaged, table_rows

WORDS = [f"word{number}" for number in range(400)]
TRACKED = {"source": "source", "count": ["pages", "score"]}


def rows_of(part, n=24):
    draw = random.Random(part)
    rows = []
    for number in range(n):
        words = random.Random(draw.randrange(32)).choices(WORDS, k=40)
        if draw.random() < 0.5:
            words[draw.randrange(40)] = draw.choice(WORDS)
        rows.append(
            {
                "id": f"{part}-{number}", "text": " ".join(words), "pages": draw.randrange(9),
                "source": draw.choice(["web", "news", "books", "code"]),
                "score": draw.random(),
            }
        )  # fmt: skip
    return rows


def counted(location):
    with Index.open(location, read_only=True) as index:
        columns = {name: list(values) for name, values in index.counts().items()}
    return {row[0]: row[1:] for row in zip(*columns.values(), strict=True)}


def by_hand(rows, removed):
    """Return the counts of documents that came: how many, sources, and both sums."""
    kept_id = {row["id"]: row["kept_id"] for name in removed for row in table_rows(name)}
    found = defaultdict(lambda: [0, set(), 0, 0.0])
    for row in rows:
        one = found[kept_id.get(row["id"], row["id"])]
        one[0] += 1
        one[1].add(row["source"])
        one[2] += row["pages"]
        one[3] += row["score"]
    return {name: (n, len(some), pages, score) for name, (n, some, pages, score) in found.items()}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["SQLite", pytest.param("Redis", marks=pytest.mark.exhaustive)])
def location(request):
    if request.param == "SQLite":
        return "seen.ix"
    import redis

    address = request.getfixturevalue("redis_address")
    with redis.Redis.from_url(address) as client:
        client.flushdb()
    return f"{address}#counts"


def test_many_snapshots_count_like_one_run(location):
    names = [f"{part:02}.jsonl" for part in range(4)]
    everything = [rows_of(part) for part in range(4)]
    for name, rows in zip(names, everything, strict=True):
        put_rows(name, *rows)
    for number, name in enumerate(names):
        with Index.open(location, 0.7) as index:
            deduplicate_with_index(index, name, "k/", removed=f"r{number}.jsonl", **TRACKED)
    deduplicate_files(names, "all/", 0.7, removed="r.jsonl", save_index="all.ix", **TRACKED)
    deduplicate_files(names, "disk/", 0.7, save_index="disk.ix", engine="disk", work="w", **TRACKED)
    deduplicate_files(names[:1], "first/", 0.7, save_index="first.ix", **TRACKED)
    for name in names[1:]:  # it goes on with the index of a run
        with Index.open("first.ix") as index:
            deduplicate_with_index(index, name, "more/", **TRACKED)
    counts = counted(location)
    assert counts == counted("all.ix") == counted("disk.ix") == counted("first.ix")
    assert counts == by_hand([row for rows in everything for row in rows], ["r.jsonl"])
    assert max(documents for documents, *_ in counts.values()) > 4
    with Index.open(location) as index:
        index.copy_to("copy.ix")
        some = next(iter(index))
        index.remove(some)
    assert counted("copy.ix") == counts
    del counts[some]
    assert counted(location) == counts


def test_documents_alone_are_always_counted(location):
    """Also of documents that came into the index in another way."""
    put_rows("a.jsonl", *rows_of(1))
    put_rows("b.jsonl", *rows_of(2))
    put_rows("c.jsonl", *rows_of(3))
    with Index.open(location, 0.7) as index:
        index.insert_unique(*zip(*((row["id"], row["text"]) for row in rows_of(1)), strict=True))
        deduplicate_with_index(index, "b.jsonl", "k2.jsonl", annotate=True, source="source")
        deduplicate_with_index(index, "c.jsonl", "k3.jsonl", clusters="c.tsv", count="pages")
        with pytest.raises(ValueError, match="documents that were added without source= and"):
            deduplicate_with_index(index, "c.jsonl", "k4.jsonl", source="source")
        size = len(index)
    counts = counted(location)
    assert len(counts) == size
    gone_before = len(rows_of(1)) - len({name for name in counts if name.startswith("1-")})
    assert sum(documents for (documents,) in counts.values()) == 72 - gone_before


def test_other_columns_are_refused(location):
    put_rows("a.jsonl", *rows_of(1))
    put_rows("b.jsonl", *rows_of(2))
    with Index.open(location, 0.7) as index:
        deduplicate_with_index(index, "a.jsonl", "k.jsonl", source="source", count="pages")
        for other in ({}, {"source": "source"}, {"source": "id", "count": "pages"}):
            with pytest.raises(ValueError, match="give source='source', count='pages'"):
                deduplicate_with_index(index, "b.jsonl", "k2.jsonl", **other)
    assert not os.path.exists("k2.jsonl")


JOB = """
import os, sys
from fastlsh import Index, deduplicate_with_index
from fastlsh.index import stored_counts
where = sys.argv[2]
if where == "error":
    stored_counts.count_arrivals.__globals__["json"] = None  # an error within the transaction
with Index.open(sys.argv[1], 0.7) as index:
    store = index._backend.store
    if where != "error":
        write = store.write
        def die(batch):
            os._exit(9) if getattr(batch, where) else write(batch)
        store.write = die
    deduplicate_with_index(
        index, "b.jsonl", "k2.jsonl", source="source", count=["pages", "score"]
    )
"""


@pytest.mark.parametrize("where", every(3, ["counts", "noted", "error"]))
def test_a_kill_changes_nothing(location, where):
    put_rows("a.jsonl", *rows_of(1))
    put_rows("b.jsonl", *rows_of(2))
    with Index.open(location, 0.7) as index:
        deduplicate_with_index(index, "a.jsonl", "k.jsonl", **TRACKED)
    before = counted(location)
    done = warm.run("-c", JOB, location, where)
    killed = where != "error"
    assert done.returncode == (9 if killed else 1)
    assert counted(location) == before
    assert not os.path.exists("k2.jsonl")
    with Index.open(location, wait=90.0) as index:
        if location != "seen.ix":
            index._backend.store._server.client.delete("fastlsh:{counts}:lock")
        # The next run removes what the killed one has left; after an error nothing is left.
        with pytest.warns(UserWarning, match="that was killed") if killed else nullcontext():
            deduplicate_with_index(index, "b.jsonl", "k2.jsonl", **TRACKED)
    assert sum(documents for documents, *_ in counted(location).values()) == 48


def test_an_index_in_memory_counts_nothing():
    with pytest.raises(ValueError, match="only an index in SQLite or Redis counts documents"):
        Index().counts()


DAMAGES = [
    "UPDATE counts SET json = '[1]'", "UPDATE counts SET json = 'x'", "DELETE FROM counted",
    "UPDATE counted SET json = '7'", "UPDATE counts SET json = '[1, [], []]'",
]  # fmt: skip


def test_damaged_counts():
    put_rows("a.jsonl", *rows_of(1))
    with Index.open("seen.ix", 0.7) as index:
        deduplicate_with_index(index, "a.jsonl", "k.jsonl", **TRACKED)
    refused_if_damaged("seen.ix", DAMAGES, counted)


def test_sums_are_exact_or_refused():
    put_rows("a.jsonl", *({"id": n, "text": "one text", "pages": 2**62} for n in range(2)))
    put_rows("b.jsonl", {"id": 2, "text": "one text", "pages": 2**62 - 1})
    put_rows("c.jsonl", {"id": 3, "text": "one text", "pages": 1})
    wanted = {"count": "pages"}
    with Index.open("seen.db", 0.8) as index:
        with pytest.raises(ValueError, match="the sum of pages for a document of the index is 92"):
            deduplicate_with_index(index, "a.jsonl", "k.jsonl", **wanted)
        assert (len(index), os.path.exists("k.jsonl")) == (0, False)
        deduplicate_with_index(index, "b.jsonl", "k.jsonl", **wanted)
        for name, total in (("c", 2**62), ("b", 2**63 - 1)):
            deduplicate_with_index(index, f"{name}.jsonl", "k.jsonl", **wanted)
            assert index.counts()["sum_pages"].tolist() == [total]
        with pytest.raises(ValueError, match=f"is {2**63}, which does not fit in 64 bits"):
            deduplicate_with_index(index, "c.jsonl", "k.jsonl", **wanted)
        assert index.counts()["sum_pages"].tolist() == [2**63 - 1]


def test_a_repeated_id_is_refused_before_the_search(monkeypatch):
    put_rows("a.jsonl", *rows_of(1, 3), {"id": "1-0", "text": "the same id, another text"})
    monkeypatch.setattr("fastlsh.files.tasks.dedup.deduplicate_texts", None)
    said = r"row 4: the id '1-0' is that of a\.jsonl: row 1, too: index needs different ids"
    with Index.open("seen.db", 0.8) as index, pytest.raises(InputError, match=said):
        deduplicate_with_index(index, "a.jsonl", "k.jsonl")
    assert not os.path.exists("k.jsonl")


def test_sources_that_come_one_by_one(location):
    """Sources are counted once, also within a batch, and go and move with their document."""
    rows = [{"id": n, "text": "one text", "source": n % 700} for n in range(900)]
    put_rows("a.jsonl", *rows[:5])
    put_rows("b.jsonl", *rows[3:])
    with Index.open(location, 0.8) as index:
        for name in ("a", "b", "b"):
            deduplicate_with_index(index, f"{name}.jsonl", "k.jsonl", source="source")
            assert index.counts()["sources"].tolist() == [5 if name == "a" else 700]
        store = index._backend.store
        with store.reading():
            assert len(store.sources({0: []})[0]) == 700
        index.copy_to("copy.ix")
        index.remove(0)
        with store.reading():
            assert store.sources({0: []}) == {0: []}
    with Index.open("copy.ix") as index:
        assert index.counts()["sources"].tolist() == [700]
        deduplicate_with_index(index, "b.jsonl", "k.jsonl", source="source")
        assert index.counts()["sources"].tolist() == [700]


def test_lost_sources_are_noticed(redis_address):
    import redis

    put_rows("a.jsonl", {"id": 1, "text": "one text", "source": "a"})
    put_rows("b.jsonl", {"id": 2, "text": "one text", "source": "b"})
    with redis.Redis.from_url(redis_address) as client:
        client.flushdb()
        with Index.open(f"{redis_address}#counts", 0.8) as index:
            deduplicate_with_index(index, "a.jsonl", "k.jsonl", source="source")
            assert client.delete("fastlsh:{counts}:s:0") == 1
            with pytest.raises(ValueError, match="it lacks sources of document 0"):
                deduplicate_with_index(index, "b.jsonl", "k.jsonl", source="source")
