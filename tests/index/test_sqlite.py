"""An index on disk: it lasts, several processes share it, and nothing is done by halves."""

import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from binascii import crc32
from contextlib import closing

import numpy as np
import pytest

from fastlsh import Index
from fastlsh.index.sqlite import connection, store
from fastlsh.index.sqlite.runs import read_pages
from index_model import TEXTS
from refusals import refuses


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index"


def database(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_change_is_on_the_disk_when_its_call_returns(path, durable):
    Index.open(path, 0.8).close()
    opened = connection.Connection(str(path), read_only=False, wait=1)
    (mode,) = opened.get().execute("PRAGMA synchronous").fetchone()
    opened.close()
    assert mode == 2  # full


def test_files_that_are_something_else(path):
    Index(0.8).save(path)
    refuses(ValueError, r"one file: Index.load\(.*\).copy_to", Index.open, path, 0.8)
    for content in (b"", b"some text", b"SQLite format 3\0"):
        path.write_bytes(content)
        refuses(ValueError, "index: it is not an index of fastlsh", Index.open, path)
    path.unlink()
    database(path, "CREATE TABLE documents (number)")
    refuses(ValueError, "it is another SQLite database", Index.open, path)
    path.unlink()
    Index.open(path, 0.8).close()
    database(path, "PRAGMA user_version = 3")
    refuses(ValueError, "format version 3 is unknown, version 4 is read", Index.open, path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A database with 60 documents, some of which are in a run."""
    path = tmp_path_factory.mktemp("sound") / "index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "RECENT", 32)
        with Index.open(path, 0.7) as index:
            index.insert_many(range(50), TEXTS[:50])
            index.insert_many(range(50, 60), TEXTS[50:])
            index.query_many(TEXTS)
    return path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM state",
        "UPDATE state SET next = NULL",
        "UPDATE state SET runs = 'many'",
        "UPDATE state SET documents = -1",
        "UPDATE documents SET signature = x'00' WHERE number = 59",
        "UPDATE documents SET signature = NULL",
        "UPDATE documents SET content = x'0102'",
        "UPDATE documents SET content = 'text'",
        "UPDATE runs SET last = 'x'",
        "UPDATE runs SET pages = x'00'",
        "UPDATE runs SET pages = zeroblob(8)",
        "UPDATE runs SET least = NULL",
        "UPDATE pages SET entries = x'00'",
        "DELETE FROM pages",
        "UPDATE documents SET id = CAST(x'd1d1' AS TEXT) WHERE number = 59",
        "DELETE FROM pages WHERE page = 2",
        "DELETE FROM parameters",
        "INSERT INTO parameters SELECT * FROM parameters",
    ],
)
def test_a_damaged_database(path, sound, damage, monkeypatch):
    monkeypatch.setattr(store, "RECENT", 32)
    path.write_bytes(sound)
    database(path, damage)

    def ask_one_by_one():
        with Index.open(path) as index:
            return list(map(index.query, TEXTS))

    def ask_together():
        with Index.open(path) as index:
            return index.query_many(TEXTS)

    said = ": malformed: its parameters" if "parameters" in damage else ""
    for ask in (ask_one_by_one, ask_together):
        refuses(ValueError, f"^{re.escape(str(path))}: the index is damaged{said}", ask)


@pytest.mark.parametrize("places", [16, pytest.param(70, marks=pytest.mark.exhaustive)])
def test_damage_anywhere_changes_no_answer(path, places, monkeypatch):
    """Whatever byte is changed: the answer is the same, or the file is refused."""
    monkeypatch.setattr(store, "RECENT", 32)
    with Index.open(path, 0.7) as index:
        index.insert_many(range(50), TEXTS[:50])
        index.remove(3)
        index.insert_many(range(50, 60), TEXTS[50:])
        expected = list(index), index.query_many(TEXTS), [index.text(name) for name in index]
    code, draw, refused = path.read_bytes(), random.Random(1), 0
    for _ in range(places):
        damaged = bytearray(code)
        damaged[draw.randrange(100, len(code))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            with Index.open(path, read_only=True) as index:
                answer = list(index), index.query_many(TEXTS), [*dict(index.items()).values()]
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017
            refused += 1
        else:
            assert answer == expected
    assert refused > places // 7


def test_a_page_that_is_missing_between_others():
    """What lies between the wanted pages is read with them, and does not stand for them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE pages (page INTEGER PRIMARY KEY, entries BLOB, checksum)")
        rows = [(page, bytes(8)) for page in range(9)]
        rows = [(page, code, crc32(code, page)) for page, code in rows]
        connection.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
        assert read_pages(connection, np.array([1, 4, 5])).keys() >= {1, 4, 5}
        connection.execute("DELETE FROM pages WHERE page = 4")
        with pytest.raises(sqlite3.DatabaseError, match="a run lacks pages"):
            read_pages(connection, np.array([1, 4, 5]))


@pytest.mark.parametrize(
    ("text", "damaged"),
    [
        (b"CREATE TABLE state", b"CREATE\xd1TABLE\xd1state"),
        (b"flushed INTEGER", b"flush\x87d INTEGER"),
    ],
)
def test_a_schema_that_is_no_text(path, text, damaged):
    Index.open(path, 0.7).close()
    code = path.read_bytes()
    assert text in code
    path.write_bytes(code.replace(text, damaged))
    with pytest.raises(ValueError, match="the index is damaged"):
        Index.open(path).query("the quick brown fox")


def test_errors_of_the_caller_stay_what_they_are(path):
    with Index.open(path, 0.7) as index, pytest.raises(UnicodeDecodeError), index.batch():
        b"\xff".decode()


def test_documents_without_a_number(path):
    with Index.open(path, 0.7) as index:
        index.insert("a", TEXTS[0])
    database(path, "DROP TABLE documents")
    database(path, "CREATE TABLE documents (number, id, seal, signature, content)")
    database(path, "INSERT INTO documents VALUES (NULL, 'a', 0, x'', x'')")
    said = "the index is damaged: malformed: a document has no number"
    refuses(ValueError, said, Index.open(path).remove, "a")


def test_a_location_without_an_index(path):
    """It becomes one only if a threshold is given, so that no slip of the pen is an empty index."""
    with pytest.raises(FileNotFoundError, match="no index: give a threshold to create one"):
        Index.open(path, num_perm=64)
    assert list(path.parent.iterdir()) == []
    Index.open(path, 0.7).close()
    with Index.open(path) as index:
        assert index.threshold == 0.7
        refuses(ValueError, r"SQLite: Index.open opens", Index.load, path)


def test_folders_that_do_not_do(path):
    refuses(FileNotFoundError, "no such folder", Index.open, path / "deeper" / "index", 0.8)
    refuses(FileNotFoundError, "there is no index", Index.open, path, read_only=True)
    with pytest.raises(IsADirectoryError):
        Index.open(path.parent, 0.8)
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_file(path):
    Index.open(path, 0.8).close()
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        Index.open(path)


@pytest.mark.parametrize("name", [1.5, None, (1,), True, 2**63, "\ud800"])
def test_ids_that_cannot_be_stored(path, name):
    with Index.open(path, 0.8) as index:
        index.insert("a", "a text")
        with pytest.raises(TypeError, match=r"to be saved, and .*: number 1$"):
            index.insert_many(["b", name], ["another text", "a third"])
        assert list(index) == ["a"]


def test_a_batch_in_a_batch(path):
    said = pytest.raises(RuntimeError, match="under way already")
    with Index.open(path, 0.8) as index, index.batch(), said, index.batch():
        pass


def test_an_error_that_undoes_a_batch(path):
    """SQLite may do so where a disk is full, for instance: what follows is no part of a change."""

    def half(index):
        with index.batch():
            index.insert("b", TEXTS[1])
            index._backend.store._sql.execute("ROLLBACK")
            for call in (lambda: index.insert("c", TEXTS[2]), lambda: index.query(TEXTS[0])):
                with pytest.raises(OSError, match="an error has undone the batch") as error:
                    call()
                assert str(path) in str(error.value)

    with Index.open(path, 0.8) as index:
        index.insert("a", TEXTS[0])
        refuses(OSError, "an error has undone the batch", half, index)
        assert list(index) == ["a"]
        index.insert("d", TEXTS[3])
    with Index.open(path) as index:
        assert list(index) == ["a", "d"]
        assert index.query(TEXTS[3]) == [("d", 1.0)]


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_what_a_failed_batch_could_not_compare_is_not_counted(path):
    texts = [f"many words that all of them share, and {n * 7919 % 1000}" for n in range(20)]
    with Index.open(path, 0.98, num_perm=24, bands=24, rows=1) as index:

        def half():
            with index.batch():
                index.insert_unique(range(20), texts, max_candidates=1)
                assert index.limited > 0
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            half()
        assert (len(index), index.limited) == (0, 0)
        index.insert_unique(range(20), texts, max_candidates=1)
        assert index.limited > 0


def test_readers_follow_a_writer(path):
    with Index.open(path, 0.8) as writer, Index.open(path, read_only=True) as reader:
        memory = Index(0.8)
        for first in range(0, 60, 10):
            names = range(first, first + 10)
            for index in (writer, memory):
                index.insert_many(names, TEXTS[first : first + 10])
            assert reader.query_many(TEXTS) == memory.query_many(TEXTS)
            for index in (writer, memory):
                index.remove(first + 3)
            assert reader.query_many(TEXTS) == memory.query_many(TEXTS)
            assert list(reader) == list(memory)


def test_a_full_disk(small_disk):
    folder = small_disk(3_000)
    path = folder / "index"
    with Index.open(path, 0.8, num_perm=64) as index:
        index.insert_many(range(60), TEXTS)
        found = index.query_many(TEXTS)
        for _ in range(2):
            with pytest.raises(OSError, match="No space left on device") as error:
                index.insert_many(
                    range(100, 9100), [f"{d} and more text" * 20 for d in range(9000)]
                )
            assert str(path) in str(error.value)
            assert list(index) == list(range(60))
            assert index.query_many(TEXTS) == found
        index.insert(60, TEXTS[0])
    with Index.open(path) as index:
        assert list(index) == list(range(61))
        with pytest.raises(OSError, match="No space left on device"):
            index.insert_many(range(100, 9100), [f"{d} and more text" * 20 for d in range(9000)])

        def copies():
            for copy in range(100):
                index.copy_to(folder / f"copy {copy}")

        refuses(OSError, "No space left on device", copies)
    for copy in folder.glob("*copy*"):
        with Index.open(copy) as index:
            assert len(index) == 61


WRITER = """
import sys
from fastlsh import Index
index = Index.open(sys.argv[1], 0.8)
print("ready", flush=True)
number = len(index)
for line in sys.stdin:
    size = int(line)
    names = range(number, number + size)
    texts = [f"the text of document {name} and {name % 13}" for name in names]
    if size == 1:
        index.insert(names[0], texts[0])
    else:
        index.insert_many(names, texts)
    number += size
    print(number, flush=True)
"""


@pytest.mark.parametrize(
    "kills",
    [1, pytest.param(3, marks=pytest.mark.exhaustive), pytest.param(200, marks=pytest.mark.slow)],
)
def test_killed_at_any_time(path, kills, monkeypatch):
    """What was acknowledged is there, what was not is there in full or not at all."""
    draw = random.Random(1)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    there = 0
    for _ in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert writer.stdout.readline() == "ready\n"
        sizes = [draw.choice([1, 1, 30, 3000]) for _ in range(draw.randrange(1, 6))]
        for size in sizes[:-1]:
            writer.stdin.write(f"{size}\n")
            writer.stdin.flush()
            there = int(writer.stdout.readline())
        writer.stdin.write(f"{sizes[-1]}\n")
        writer.stdin.flush()
        time.sleep(draw.random() * 0.05)
        writer.kill()
        said = writer.stdout.read()  # perhaps it was as fast
        writer.wait()
        writer.stdin.close()
        writer.stdout.close()
        with Index.open(path, read_only=True) as index:
            count = len(index)
            assert count in ({int(said)} if said else {there, there + sizes[-1]})
            assert list(index) == list(range(count))
            last = count - 1
            if count:
                text = f"the text of document {last} and {last % 13}"
                assert (last, 1.0) in index.query(text)
        there = count
