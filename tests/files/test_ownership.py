"""Files of other people in a work directory, or a directory of theirs: all of them stay."""

import os
import shutil
import sys
from contextlib import suppress
from functools import partial

import pytest

from combinations import every, first, rounds
from fastlsh import (
    InputError,
    decontaminate_files,
    deduplicate_files,
    deduplicate_line_files,
    deduplicate_span_files,
    near_duplicate_files,
    overlap_files,
)
from fastlsh.files.disk import decide
from fastlsh.files.run import ownership
from fastlsh.files.run.manifest import join
from fastlsh.files.run.ownership import check_ours, is_ours
from fastlsh.files.run.workdir import WorkDirectory
from killed_runs import stopped_in
from shards import contents, rows_of, small_budget, write_shards

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def keywords(tmp_path, monkeypatch):
    """The keywords of a run on disk; what it reads is tried once."""
    small_budget(monkeypatch)
    (tmp_path / "out").mkdir()
    return {
        "inputs": write_shards(tmp_path, rows_of(1, 30), 2), "output": tmp_path / "out/o.jsonl",
        "memory": "300M", "threads": 1, "work": tmp_path / "work",
    }  # fmt: skip


def stopped(keywords, monkeypatch, **more):
    """Stop a run before it decides."""
    more |= {"engine": "disk", **keywords}
    stopped_in(monkeypatch, decide, "decide_part", 0, deduplicate_files, **more)


def put(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


OTHERS = {
    "result.json": "{}", "answer.npy": "data", "run-1/model.bin": "weights", "thesis.tex": "years",
    "segment-000000-000000/blocks.json": "{}", "a.0123456789abcdef.tmp": "half", "links-1.npy": "",
}  # fmt: skip
"""Files of other programs, most of them with names that a run uses."""

MARKS = [
    {}, {"finished.json": '{"run": "exp-7", "status": "ok"}'}, {"over.json": "done"},
    {"finished.json": "{}"}, {"over.json": ""}, {"manifest.json": ""}, {"manifest.json": "{}"},
    {"manifest.json": "{ // a browser extension\n}"}, {"manifest.json": '{"run": 7}'},
    {"manifest.json": '{"run": "0123456789abcdef"}'}, {"lock": "pid 4711 on node7\n"},
]  # fmt: skip


def runs(keywords):
    """Yield the calls of all jobs with a work directory, and options that change what they do."""
    rows = {key: value for key, value in keywords.items() if key != "output"}
    table = keywords["output"].with_suffix(".tsv")
    yield deduplicate_files, {**keywords, "engine": "disk"}
    yield deduplicate_files, {**keywords, "engine": "disk", "restart": True}
    yield deduplicate_files, {**keywords, "stage": "sign"}
    yield deduplicate_files, {**keywords, "stage": "rows", "group": "id"}
    yield deduplicate_line_files, {**keywords, "engine": "disk", "restart": True}
    yield deduplicate_span_files, {**keywords, "stage": "sign", "min_length": 40}
    yield near_duplicate_files, {**rows, "output": table, "engine": "disk", "restart": True}
    yield overlap_files, {**rows, "output": table, "stage": "sign"}
    items = keywords["output"].with_name("items.jsonl")
    shutil.copy(keywords["inputs"][0], items)
    evals = {**keywords, "evals": items}
    yield decontaminate_files, evals
    yield decontaminate_files, {**evals, "restart": True}
    yield decontaminate_files, {**evals, "stage": "sample"}


@pytest.mark.parametrize("more", first({}, OTHERS))
def test_a_directory_of_something_else(keywords, more):
    work = keywords["work"]
    for number, mark in enumerate(MARKS):
        if not {**mark, **more}:
            continue
        keywords["work"] = work.with_name(f"work{number}")
        put(keywords["work"], {**more, **mark})
        before = contents(keywords["work"])
        for function, given in runs(keywords):
            with pytest.raises(InputError, match="not a work directory of fastlsh") as caught:
                function(**given)
            assert "restart" not in str(caught.value)
            assert contents(keywords["work"]) == before, (mark, function, given)


@needs_links
def test_an_empty_lock_is_taken_and_left_and_the_directory_may_be_a_link(keywords, tmp_path):
    put(tmp_path / "disk", {"lock": ""})
    keywords["work"].symlink_to("disk")
    for keep_work in (True, False):
        deduplicate_files(**keywords, engine="disk", keep_work=keep_work)
    assert contents(tmp_path / "disk") == {"lock": b""}


PLANTED = {
    "run-1": "home", "segment-000000-000000": "home", "lock": "home/.hushlogin",
    "manifest.json": "home/draft.tmp", "signed.json": "home/draft.tmp", "answer.npy": "nowhere",
    "manifest.json.0123456789abcdef.tmp": "home/draft.tmp",
}  # fmt: skip
"""Links that somebody has put into a work directory, and where they lead."""


@needs_links
@pytest.mark.parametrize("name", every(2, PLANTED))
def test_no_link_in_a_work_directory_is_followed(keywords, tmp_path, monkeypatch, name):
    home = tmp_path / "home"
    put(home, {"draft.tmp": "precious", "old.tmp/thesis.tex": "precious", "a.json": "1"})
    before = contents(home)
    for work in ("new", "begun", "kept"):
        keywords["work"] = tmp_path / work
        if work == "begun":
            stopped(keywords, monkeypatch)
        elif work == "kept":
            deduplicate_files(**keywords, engine="disk", keep_work=True)
        keywords["work"].mkdir(exist_ok=True)
        path = keywords["work"] / name
        if path.is_dir():
            path.rename(tmp_path / f"{work}-{name}")
        path.unlink(missing_ok=True)
        path.symlink_to(tmp_path / PLANTED[name])
        for more in ({}, {"restart": True}, {"keep_work": True}):
            with suppress(InputError):
                deduplicate_files(**keywords, engine="disk", **more)
            assert contents(home) == before
            assert path.is_symlink()


@needs_links
@pytest.mark.parametrize("folder", ["", "search-in-documents"])
def test_a_link_is_refused_before_anything_is_removed(keywords, tmp_path, monkeypatch, folder):
    stopped(keywords, monkeypatch, group="id")
    (keywords["work"] / folder / "segment-000009-000000").symlink_to(tmp_path)
    before = contents(keywords["work"])
    for restart in (False, True):
        with pytest.raises(InputError, match="segment-000009-000000: is a link"):
            deduplicate_files(**keywords, engine="disk", group="id", restart=restart)
        assert contents(keywords["work"]) == before


@needs_links
@pytest.mark.parametrize("name", ["manifest.json", "finished.json", "over.json", "lock", "a.tmp"])
def test_no_pipe_in_a_work_directory_is_opened(keywords, name):
    keywords["work"].mkdir()
    os.mkfifo(keywords["work"] / name)
    for function, given in runs(keywords):
        with pytest.raises(InputError, match=r"not a work directory|not a regular file"):
            function(**given)
    assert os.listdir(keywords["work"]) == [name]


def test_files_of_others_in_a_work_directory_of_ours(keywords, monkeypatch):
    """Whatever they are called, no end of a run removes them."""
    others = {
        **OTHERS, "lock.txt": "", "finished.json": "{}", "over.json": "{}", "totals.npy": "mine",
        "segment-000000-000000/notes.txt": "mine", "search-in-documents/notes.txt": "mine",
        "other.work/lock": "",
    }  # fmt: skip
    others = {name: text for name, text in others.items() if "blocks.json" not in name}
    mine = {name: text.encode() for name, text in others.items()}
    for ending in ({}, {"restart": True}, {"keep_work": True}, {"restart": True}):
        if not keywords["work"].exists():
            stopped(keywords, monkeypatch)
        put(keywords["work"], {name: text for name, text in others.items() if name != "answer.npy"})
        deduplicate_files(**keywords, engine="disk", **ending)
        there = contents(keywords["work"])
        assert {name: there.get(name) for name in mine if name != "answer.npy"} == {
            name: text for name, text in mine.items() if name != "answer.npy"
        }
        if not ending.get("keep_work"):
            for name in os.listdir(keywords["work"]):
                assert not is_ours(keywords["work"] / name)
            stopped_anew = keywords["work"].with_name(f"work-{len(there)}-{sorted(ending)}")
            keywords["work"] = stopped_anew


def test_a_file_in_the_way_comes_back(keywords, monkeypatch):
    work = keywords["work"]
    deduplicate_files(**keywords, engine="memory")
    expected = keywords["output"].read_bytes()
    stopped(keywords, monkeypatch)
    put(work, {"answer.npy": "mine", "signed.json": "mine"})
    with pytest.raises(InputError, match=r"signed\.json: the file is damaged: start over with re"):
        deduplicate_files(**keywords, engine="disk")
    stopped(keywords, monkeypatch, restart=True)
    deduplicate_files(**keywords, engine="disk", restart=True)
    assert keywords["output"].read_bytes() == expected
    assert contents(work) == {"answer.npy": b"mine", "signed.json": b"mine"}


@pytest.mark.parametrize("content", [None, b"", b"{", b"\n", "cut"])
def test_a_manifest_that_is_damaged_or_missing(keywords, content):
    deduplicate_files(**keywords, engine="disk", keep_work=True)
    path = keywords["work"] / "manifest.json"
    whole = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(whole[:-20] if content == "cut" else content)
    before = contents(keywords["work"])
    with pytest.raises(InputError, match=r"manifest\.json: .*: start over with restart=True"):
        deduplicate_files(**keywords, engine="disk")
    assert contents(keywords["work"]) == before
    deduplicate_files(**keywords, engine="disk", restart=True)
    assert not keywords["work"].exists()


def test_a_search_in_rows_goes_with_what_it_was_made_for(keywords, monkeypatch):
    stopped(keywords, monkeypatch, group="id")
    assert (keywords["work"] / "search-in-documents" / "manifest.json").exists()
    deduplicate_files(**keywords, engine="disk", restart=True)
    assert not keywords["work"].exists()


def test_another_work_directory_in_a_directory_is_no_seal(keywords, tmp_path):
    """A user works in `experiment`, where a run has left its work."""
    work = tmp_path / "experiment"
    put(work, {"notes.txt": "mine"})
    deduplicate_files(**{**keywords, "work": work / "o.work"}, engine="disk", keep_work=True)
    before = contents(work)
    for restart in (False, True):
        with pytest.raises(InputError, match=r"not a work directory of fastlsh.*notes\.txt"):
            deduplicate_files(**{**keywords, "work": work}, engine="disk", restart=restart)
    assert contents(work) == before


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_sixteen_processes_that_begin_one_run_all_go_on(tmp_path):
    """Half of them with other memory, so that they would fix other units."""
    for attempt in range(rounds(3)):
        folder = tmp_path / str(attempt)
        start, go = os.pipe()
        children = []
        for number in range(16):
            child = os.fork()
            if not child:
                status = 1
                with suppress(BaseException):
                    os.close(go)
                    os.read(start, 1)  # until all have begun
                    work = WorkDirectory(folder, shared=True)
                    planned = {"units": number % 2}
                    join(work, {"job": "dedup"}, planned, stage="sign", first="sign")
                    work.write(f"limited-{number}.json", number)
                    status = 0
                os._exit(status)
            children.append(child)
        os.close(go)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 16
        os.close(start)
        check_ours(folder)
        assert len(os.listdir(folder)) == 17


@pytest.mark.parametrize("when", ["opened", "listed"])
def test_a_run_that_ends_while_another_begins_leaves_it_a_directory(tmp_path, monkeypatch, when):
    # The second run has opened a file that the first one then removes: its lock keeps nobody out.
    folder, ended = tmp_path / "work", []

    def end_first(function, *arguments):
        result = None if when == "listed" else function(*arguments)
        if not ended:
            ended.append(True)
            shutil.rmtree(folder)
        return function(*arguments) if when == "listed" else result

    name = {"opened": "try_lock", "listed": "check_ours"}[when]
    monkeypatch.setattr(ownership, name, partial(end_first, getattr(ownership, name)))
    with ownership.held(folder):
        assert ended
        assert os.listdir(folder) == ["lock"]
        with pytest.raises(InputError, match="another run is using"), ownership.held(folder):
            pass
    assert not folder.exists()
