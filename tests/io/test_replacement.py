"""Several files that appear together."""

import json
import os
import signal
import stat
import threading
from pathlib import Path

import pytest

from fastlsh.io import journal, replacing_together, write_text
from fastlsh.io.recovery import recover
from files import get, put

RUN = "1-0123456789abcdef"


def write(together, *names, folders=True):
    for name in names:
        with together.file(name, folders=folders) as temporary:
            put(temporary, name)


def failing(*names, then=lambda together: None):
    """Write, do something and fail."""

    def work():
        with replacing_together() as together:
            write(together, *names)
            then(together)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()


@pytest.mark.parametrize("count", [1, 3, 100])
def test_all_appear_at_the_end(here, count):
    names = [f"o/{i % 7}/{i}" for i in range(count)]
    with replacing_together() as together:
        write(together, *names)
        assert not any(map(os.path.exists, names))
    assert [get(name).decode() for name in names] == names
    assert not [name for _, _, files in os.walk(".") for name in files if name.endswith(".tmp")]


def test_what_is_last_appears_behind_the_others(here, monkeypatch):
    replaced, replace = [], os.replace
    monkeypatch.setattr("os.replace", lambda a, b: (replaced.append(b), replace(a, b)))
    with replacing_together() as together:
        for name, last in (("kept", True), ("removed", False), ("more", True), ("clusters", False)):
            with together.file(name, place=int(last)) as temporary:
                put(temporary, name)
    assert list(map(os.path.basename, replaced)) == ["removed", "clusters", "kept", "more"]


def test_only_a_file_that_is_given_the_others_waits_for_them(here):
    with replacing_together() as together:
        write_text("alone", "1")
        write_text("waits", "2", together)
        assert (os.path.exists("alone"), os.path.exists("waits")) == (True, False)
    assert get("waits") == b"2"


def test_an_error_takes_all_back(here):
    put("there/a", "earlier")
    failing("there/a", "there/new/b", "other/c/d")
    assert (os.listdir(), os.listdir("there"), get("there/a")) == (["there"], ["a"], b"earlier")


def test_what_another_puts_into_a_new_folder_stays(here):
    failing("o/a", then=lambda _: put("o/theirs", "x"))
    assert os.listdir("o") == ["theirs"]


def test_no_folder_is_made_unless_asked_for(here):
    with pytest.raises(FileNotFoundError), replacing_together() as together:
        write(together, "o/a", folders=False)
    assert os.listdir() == []


def test_a_file_that_must_be_absent_goes_with_the_others(here):
    put("a", "earlier")
    with replacing_together() as together:
        write(together, "b")
        together.absent("a")
        together.absent("never")
        assert sorted(name for name in os.listdir() if len(name) == 1) == ["a"]
    assert os.listdir() == ["b"]
    put("a", "earlier")
    failing(then=lambda together: together.absent("a"))
    assert get("a") == b"earlier"


def test_the_next_run_completes_what_a_rename_that_failed_has_left(here, monkeypatch):
    rename = os.replace

    def fails(source, target):
        if target.endswith("b"):
            raise OSError(5, "it fails")
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(OSError, match="it fails"), replacing_together() as together:
            write(together, "a", "b", "c")
    assert {name for name in os.listdir() if name[0] != "."} == {"a"}
    with pytest.warns(UserWarning, match="completed the outputs of a run that was killed"):
        recover([os.getcwd()])
    assert sorted(os.listdir()) == ["a", "b", "c"]


def test_a_journal_whose_last_line_is_cut(here):
    put(f".fastlsh-{RUN}-1.tmp", "complete or not")
    put(f".fastlsh-{RUN}-1.tmp-journal", "of SQLite")
    lines = json.dumps({"lead": None, "made": False}) + '\n{"files": [["a.t'
    put(f".fastlsh-{RUN}.journal", lines)
    with pytest.warns(UserWarning, match="removed temporary files of a run that was killed: 2"):
        recover([os.getcwd()])
    assert os.listdir() == []


@pytest.mark.skipif(os.name == "nt", reason="what is open cannot be removed there")
def test_a_journal_that_another_run_took_for_abandoned_is_made_anew(here, monkeypatch):
    try_lock, taken = journal.try_lock, []

    def late(number):
        if not taken:
            taken.extend(os.listdir())
            os.unlink(taken[0])
        return try_lock(number)

    monkeypatch.setattr(journal, "try_lock", late)
    with replacing_together() as together:
        write(together, "a")
        assert [name for name in os.listdir() if name.endswith(".journal")] == taken
    assert (len(taken), os.listdir()) == (1, ["a"])


def test_a_first_rename_that_fails_leaves_nothing(here, monkeypatch):
    def fails(source, target):
        raise OSError(5, "it fails")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="it fails"), replacing_together() as together:
        write(together, "a", "b", "c")
    assert os.listdir() == []


def test_a_kill_after_a_first_rename_that_failed_removes_nothing(here, monkeypatch):
    """The decision was taken back, so that the next run does not go on with it."""
    put("old", "of an earlier run")

    def fails(source, target):
        raise OSError(5, "it fails")

    def run():
        with replacing_together() as together:
            write(together, "a", "b")
            together.absent("old")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        patch.setattr(journal.Journal, "discard", journal.Journal.leave)  # as after a kill
        with pytest.raises(OSError, match="it fails"):
            run()
    recover([os.getcwd()])
    assert os.listdir() == ["old"]


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_an_interrupt_between_renames_waits(here, monkeypatch):
    rename = os.replace
    renamed = threading.Event()

    def slow(source, target):
        rename(source, target)
        os.kill(os.getpid(), signal.SIGINT)
        renamed.wait(0.1)

    monkeypatch.setattr(os, "replace", slow)
    with pytest.raises(KeyboardInterrupt), replacing_together() as together:
        write(together, "a", "b", "c")
    assert sorted(os.listdir()) == ["a", "b", "c"]


def test_modes_stay(here):
    put("a", "earlier")
    os.chmod("a", 0o640)
    with replacing_together() as together:
        write(together, "a", "b")
    assert stat.S_IMODE(os.stat("a").st_mode) == 0o640


@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
@pytest.mark.parametrize("asked", ["a", "b", "new/c"])
def test_a_run_in_several_folders_is_completed_from_any_of_them(here, monkeypatch, renamed, asked):
    """The process ends after some renames, or before the decision, which undoes everything."""
    os.mkdir("a")
    put("b/gone", "earlier")
    replace, done = os.replace, []

    def ends(source, target):
        if len(done) == renamed:
            raise OSError(5, "it ends")
        done.append(target)
        replace(source, target)

    def stays(together):
        together._journal.leave()

    def absent_and_written(together):
        together.absent("b/gone")
        write(together, "a/x", "b/y", "new/c/z", "a/last")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", ends)
        patch.setattr("fastlsh.io.replacement.Replacements.undo", stays)
        with pytest.raises(OSError, match="it ends"), replacing_together() as together:
            absent_and_written(together)
    with pytest.warns(UserWarning, match="completed the outputs of a run that was killed"):
        recover([os.path.realpath(asked)])
    found = {name for _, _, files in os.walk(".") for name in files}
    assert found == {"x", "y", "z", "last"}


def test_a_run_in_several_folders_that_was_not_decided_is_undone_from_any(here, monkeypatch):
    os.mkdir("a")

    def fails(journal):
        journal.leave()
        raise ZeroDivisionError

    for asked in ("a", "new/c"):
        with monkeypatch.context() as patch:
            patch.setattr("fastlsh.io.journal.Journal.decide", fails)
            patch.setattr("fastlsh.io.replacement.Replacements.undo", lambda together: None)
            with pytest.raises(ZeroDivisionError), replacing_together() as together:
                write(together, "a/x", "new/c/z")
        with pytest.warns(UserWarning, match="removed temporary files of a run that was killed: 2"):
            recover([os.path.realpath(asked)])
        assert (os.listdir(), os.listdir("a")) == (["a"], [])


def test_another_process_makes_the_folder_meanwhile(tmp_path, monkeypatch):
    mkdir = os.mkdir

    def late(path, *more):
        mkdir(path, *more)
        mkdir(path, *more)

    monkeypatch.setattr(os, "mkdir", late)
    with replacing_together() as files, files.file(tmp_path / "a/b/c.txt", folders=True) as name:
        Path(name).write_text("text", "utf-8")
    assert (tmp_path / "a/b/c.txt").read_text("utf-8") == "text"
    assert os.listdir(tmp_path / "a/b") == ["c.txt"]
