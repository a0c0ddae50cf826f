"""A work directory that several processes begin, write and remove at the same time."""

import errno
import os
import shutil

import pytest

from fastlsh.files.run.workdir import MANIFEST, WorkDirectory


def test_a_manifest_that_gets_its_name_while_another_process_looks(tmp_path, monkeypatch):
    original, seen = os.listdir, []

    def listed(path):
        names = original(path)
        if not seen:  # as the other process writes; from then on, the file has its own name
            seen.append(path)
            WorkDirectory(tmp_path / "work").begin({"a": 1})
            return [f"{MANIFEST}.0123456789abcdef.tmp", *names]
        return names

    (tmp_path / "work").mkdir()
    monkeypatch.setattr(os, "listdir", listed)
    WorkDirectory(tmp_path / "work", shared=True).begin({"a": 1})
    assert seen


def test_a_directory_that_is_removed_goes_at_last(tmp_path, monkeypatch):
    """However often the process that removes it is killed."""

    def killed(*_):
        raise KeyboardInterrupt

    work = WorkDirectory(tmp_path, shared=True)
    work.begin({})
    with work.replacing("found-000000") as folder:
        folder.mkdir()
        (folder / "a.json").write_text("1", "utf-8")
    monkeypatch.setattr(shutil, "rmtree", killed)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            WorkDirectory(tmp_path, shared=True).empty()
        left, over = sorted(os.listdir(tmp_path))
        assert left.startswith("found-000000.")
        assert (left.endswith(".tmp"), over) == (True, "over.json")
    monkeypatch.undo()
    WorkDirectory(tmp_path, shared=True).empty()
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("links", [True, False])
def test_of_two_processes_that_begin_at_once_the_first_decides(tmp_path, monkeypatch, links):
    """They may have other memory, and so fix other units."""
    if not links:

        def refused(*_):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refused)
    first, second = (WorkDirectory(tmp_path, shared=True) for _ in range(2))
    write, begun = second.write, []

    def late(*arguments):
        begun.append(first.begin({"memory": 1}))
        write(*arguments)

    monkeypatch.setattr(second, "write", late)
    second.begin({"memory": 2})
    assert begun
    for each in (first, second):
        assert each.read(MANIFEST)["memory"] == 1
    with second.replacing("folder") as late:
        with first.replacing("folder") as early:
            early.mkdir()
            (early / "a").write_text("1", encoding="utf-8")
        late.mkdir()
        (late / "a").write_text("2", encoding="utf-8")
    assert (tmp_path / "folder" / "a").read_text("utf-8").startswith("1")
    assert sorted(os.listdir(tmp_path)) == ["folder", MANIFEST]
