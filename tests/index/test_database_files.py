"""The file of an index in SQLite, and the files that SQLite keeps beside it."""

import errno
import json
import os
import signal
import subprocess
import sys

import pytest

from fastlsh import Index, deduplicate_files
from fastlsh.files import build_index
from fastlsh.index import forget
from fastlsh.io import database_files, give_name, read
from fastlsh.parameters import SearchParams
from index_model import OPERATIONS
from refusals import refuses

TEXTS = ["a text of the new index", "something else, quite unlike it", "and a third document"]
NAMES = ["new0", "new1", "new2"]

KILLED = """
import os, signal, sys
from fastlsh import Index
index = Index.open(sys.argv[1], 0.8)
index.insert_many(range(5), [f"an old document, number {i * 7919}" for i in range(5)])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "index")


@pytest.fixture
def log_of_another(path):
    """What a killed process has left beside an index that was deleted afterwards."""
    done = subprocess.run([sys.executable, "-c", KILLED, path])
    assert done.returncode == -signal.SIGKILL
    os.unlink(path)
    assert os.path.getsize(path + "-wal") > 0
    return path + "-wal"


def makers(folder):
    """Return every way to make an index in a file, given a directory."""
    memory = Index(0.8)
    memory.insert_many(NAMES, TEXTS)
    given = folder / "in.jsonl"
    given.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))

    def opened(path):
        with Index.open(path, 0.8) as index:
            index.insert_many(NAMES, TEXTS)

    return (
        opened,
        memory.copy_to,
        lambda path: build_index(path, "full", read(given), SearchParams.of(0.8), 1),
        lambda path: deduplicate_files(given, folder / "out.jsonl", save_index=path),
    )


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_the_log_of_another_database_is_no_part_of_a_new_one(tmp_path, path, log_of_another):
    link = tmp_path / "link"
    link.symlink_to(path)
    opened, copy, *others = makers(tmp_path)
    ways = [(make, path) for make in (opened, copy, *others)]
    for make, place in [*ways, (opened, link), (copy, link)]:
        with pytest.raises((ValueError, OSError), match="delete it, move it") as error:
            make(place)
        assert log_of_another in str(error.value)
        assert os.path.getsize(log_of_another) > 0
        assert not os.path.exists(path)
    os.unlink(log_of_another)  # what is left is a table of contents
    for make in makers(tmp_path):
        make(path)
        with Index.open(path, read_only=True) as index:  # leaves a log without entries
            assert len(index) == 3
        assert os.path.getsize(log_of_another) == 0
        os.unlink(path)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_file_of_somebody_else_stays(tmp_path, path, ending):
    with open(path + ending, "w") as file:
        file.write("notes of the user")
    for make in makers(tmp_path):
        refuses((ValueError, OSError), "delete it, move it", make, path)
    with open(path + ending) as file:
        assert file.read() == "notes of the user"


def test_an_index_that_is_forgotten_leaves_nothing(tmp_path, path):
    index, other = Index.open(path, 0.8), Index.open(path)
    assert all(map(os.path.exists, database_files(path)[:2]))
    forget(index)
    assert os.listdir(tmp_path) == []
    other.close()
    assert os.listdir(tmp_path) == []


def test_no_index_is_saved_over_a_database_that_is_in_use(tmp_path, path):
    link = tmp_path / "link"
    link.symlink_to(path)
    with Index.open(path, 0.8) as index:
        index.insert("a", TEXTS[0])
        for saved in (index, index.copy()):
            for place in (path, link):
                refuses(FileExistsError, "in use or was not closed", saved.save, place)
        index.save(tmp_path / "saved")
        index.insert("b", TEXTS[1])
    with Index.open(path) as index:
        assert list(index) == ["a", "b"]
    index = Index.load(tmp_path / "saved")
    index.save(path)  # nobody uses it any more
    assert list(Index.load(path)) == ["a"]


@pytest.mark.parametrize("lost", ["deleted", "replaced", "log"])
def test_a_file_that_is_deleted_or_replaced_is_noticed(tmp_path, path, lost):
    other = tmp_path / "other"
    index = Index.open(path, 0.8)
    index.insert("a", TEXTS[0])
    os.rename(path + "-wal" if lost == "log" else path, other)
    if lost == "replaced":
        Index(0.8).save(path)
    for call in OPERATIONS.values():
        with pytest.raises(OSError, match="deleted or replaced: open the index anew") as error:
            call(index)
        assert error.value.filename == path

    def in_a_batch():
        with index.batch():
            index.insert("c", TEXTS[0])
            os.unlink(path)

    if lost == "deleted":  # it is the same file again
        os.rename(other, path)
        index.insert("b", TEXTS[1])
        assert list(index) == ["a", "b"]
        refuses(OSError, "deleted or replaced", in_a_batch)


def test_a_file_system_without_hard_links(tmp_path, path, monkeypatch):
    def refused(source, target):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), source, None, target)

    monkeypatch.setattr(os, "link", refused)
    for name, make in (("opened", makers(tmp_path)[0]), ("copy", makers(tmp_path)[1])):
        make(path + name)
        with Index.open(path + name) as index:
            assert list(index) == NAMES
    with pytest.raises(FileExistsError):
        give_name(path + "opened", path + "copy")
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


def as_if_killed(path, place):
    """Copy an index that is open, with its log, as a process that is killed leaves it."""
    for ending in ("", "-wal"):
        with open(path + ending, "rb") as file, open(f"{place}{ending}", "wb") as copy:
            copy.write(file.read())


def test_a_moved_index_does_not_take_up_the_log_of_another(tmp_path, path):
    other, moved, log = str(tmp_path / "other"), tmp_path / "moved", tmp_path / "index-wal"
    with Index.open(other, 0.8) as index:
        index.insert_many(["old0", "old1"], TEXTS[:2])
        index.insert("old2", TEXTS[2])
        as_if_killed(other, path)
    makers(tmp_path)[1](moved)
    content, entries = moved.read_bytes(), log.read_bytes()
    os.replace(moved, path)
    for read_only in (True, False):
        with pytest.raises(ValueError, match="replace those of the index: delete it") as error:
            Index.open(path, read_only=read_only)
        assert str(error.value).startswith(str(log))
    assert log.read_bytes() == entries
    with open(path, "rb") as file:
        assert file.read() == content
    for torn in (entries[:5000], entries[:56], b"", bytes(100), entries[:32] + bytes(20_000)):
        log.write_bytes(torn)  # entries that SQLite leaves out, too
        with Index.open(path, read_only=True) as index:
            assert list(index) == NAMES
    log.unlink(missing_ok=True)
    (tmp_path / "index-journal").write_bytes(b"a journal")
    refuses(ValueError, "index-journal: another database", Index.open, path)


def test_an_index_takes_up_its_own_log(tmp_path, path):
    with Index.open(path, 0.8) as index:
        for number, text in enumerate(TEXTS):
            index.insert(number, text)
            as_if_killed(path, tmp_path / f"copy{number}")
        index.compact()
        index.insert(3, "a text after the log began anew")
        as_if_killed(path, tmp_path / "copy3")
        index.discard(3)
        as_if_killed(path, tmp_path / "copy4")
    for number, count in enumerate((1, 2, 3, 4, 3)):
        with Index.open(tmp_path / f"copy{number}") as copy:
            assert list(copy) == list(range(count))


OTHER = """
import sys
from fastlsh import Index
with Index.open(sys.argv[1]) as index:
    index.insert("other", "a text of another process")
"""


def test_an_index_that_is_opened_again_keeps_its_locks(tmp_path, path):
    index = Index.open(path, 0.8)
    index.insert("a", TEXTS[0])
    again = Index.open(path)
    with pytest.raises(FileExistsError):
        again.save(path)
    subprocess.run([sys.executable, "-c", OTHER, path], check=True)
    assert os.path.exists(path + "-wal")  # otherwise what follows is in no file
    for number, each in enumerate((index, again)):
        each.insert(number, TEXTS[1])
    copy = tmp_path / "copy"
    again.copy_to(copy)
    assert list(Index.open(copy)) == ["a", "other", 0, 1]


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_no_index_has_the_name_of_a_file_beside_another(tmp_path, path, ending):
    for make in (*makers(tmp_path), Index().save):
        refuses(ValueError, f"index{ending}: an index cannot have a name", make, path + ending)
        assert not os.path.exists(path + ending)
