"""A full or read-only disk in every stage: one line, status 2, and the run goes on later."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from combinations import every
from fastlsh.cli import main
from fastlsh.files import answers
from fastlsh.files.disk import decide, gather, link, segments
from fastlsh.files.disk import write as disk_writing
from fastlsh.files.run import workdir
from fastlsh.files.tasks import dedup as on_disk
from fastlsh.files.tasks import spans as passages
from fastlsh.io import Replacements
from fastlsh.io import rows as rewriting
from shards import contents, small_budget, write_shards
from shards import rows_of as all_rows

pytest.importorskip("pyarrow")

PAGE = 4096
FULL = "No space left on device: free some space and run the same command again"


def rows_of(seed, n):
    """Return rows without those of which a warning would say that they are short."""
    return [row for row in all_rows(seed, n) if not 0 < len(row["text"] or "") < 9]


def fill(folder, left=0):
    """Take all room of a disk but so many pages."""
    data = b"\0" * PAGE
    with suppress(OSError), open(folder / "filler", "ab", buffering=0) as file:
        while True:
            file.write(data)
    size = os.path.getsize(folder / "filler")
    os.truncate(folder / "filler", max(size - size % PAGE - left * PAGE, 0))


def filling(monkeypatch, folder, room, name, left=0, call=1):
    """Let the disk be full when a function of a room is called for the so manieth time."""
    original = getattr(room, name)
    calls = []

    def work(*arguments, **keywords):
        calls.append(1)
        if len(calls) == call:
            fill(folder, left)
        return original(*arguments, **keywords)

    monkeypatch.setattr(room, name, work)
    return calls


STAGES = {
    "the manifest": (workdir.WorkDirectory, "locked", 1),
    "the first run of keys": (segments, "save_array", 1),
    "a later run of keys": (segments, "begin_array", 3),
    "linking": (link, "link_sorted", 1),
    "families so far": (link, "link_sorted", 9),
    "dividing": (link, "_divided", 1),
    "gathering": (gather, "_TextsWriter", 1),
    "later while gathering": (gather._TextsWriter, "_write", 4),
    "deciding": (decide, "decide_part", 1),
    "a later part": (decide, "decide_part", 2),
    "the whole answer": (decide, "save_blocks", 1),
    "who is kept": (on_disk, "kept_documents", 1),
    "tables": (answers, "write_table", 1),
    "clusters": (answers, "write_table", 2),
    "outputs": (rewriting, "Conversion", 1),
    "a later output": (rewriting, "Conversion", 2),
    "directory": (Replacements, "_make_folder", 1),
}
FULL_IN = [(stage, "k/") for stage in STAGES]
FULL_IN += [(stage, "k.jsonl") for stage in ("who is kept", "tables", "clusters", "outputs")]
"""The stages, and the output: a folder, or a file, which the last stages write in another way."""


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Files, and what is written of them as a file and as files, by the folder of the command."""
    folder = tmp_path_factory.mktemp("collection")
    inputs = write_shards(folder, rows_of(1, 60), 3)
    expected = {}
    for output in ("k.jsonl", "k/"):
        place = folder / f"expected {output[:-1]}"
        place.mkdir()
        assert main(command_of(inputs, place, output, "memory")) == 0
        expected[output] = contents(place)
    return inputs, expected


def command_of(inputs, folder, output, engine="disk"):
    return ["dedup", *inputs, "-o", f"{folder}/{output}", "--removed", f"{folder}/r.tsv",
            "--clusters", f"{folder}/c.jsonl", "--engine", engine, "-q"]  # fmt: skip


@pytest.mark.parametrize("case", every(5, FULL_IN), ids=str)
def test_a_disk_that_is_full_in_a_stage(collection, small_disk, monkeypatch, capfd, case):
    stage, output = case
    left = list(STAGES).index(stage) % 2 * 2  # pages
    small_budget(monkeypatch, segment=15, rows=200)
    monkeypatch.setattr(link, "EVERY", 0)
    inputs, expected = collection
    room, name, call = STAGES[stage]
    folder = small_disk(4_000)
    command = command_of(inputs, folder, output)
    with monkeypatch.context() as patch:
        calls = filling(patch, folder, room, name, left, call)
        status = main(command)
        line = capfd.readouterr().err
    assert len(calls) >= call
    assert status or left  # so much room may have been enough
    if status:
        assert (status, line.count("\n")) == (2, 1), line
        assert line.startswith(f"fastlsh: {folder}/")
        assert FULL in line
        assert ".tmp" not in line
    whole = {"filler", "k.jsonl.work", "k.work", "k"} if status else {*os.listdir(folder)}
    assert set(os.listdir(folder)) <= whole | ({"r.tsv", "c.jsonl"} if output == "k/" else set())
    (folder / "filler").unlink()
    assert main(command) == 0
    assert capfd.readouterr().err == ""
    assert contents(folder) == expected[output]


def test_a_full_disk_when_all_is_done(tmp_path, small_disk, monkeypatch, capfd):
    """What has come into place needs no further room, not even to say so."""
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(1, 40), 2)
    folder = small_disk(4_000)
    filling(monkeypatch, folder, workdir.WorkDirectory, "empty")
    assert main(["dedup", *inputs, "-o", f"{folder}/k.jsonl", "--engine", "disk", "-q"]) == 0
    assert capfd.readouterr().err == ""
    assert sorted(os.listdir(folder)) == ["filler", "k.jsonl"]


def command_with_work(inputs, output, work):
    return ["dedup", *inputs, "-o", output, "--engine", "disk", "-q", "--work", work]


@pytest.mark.parametrize("output", every(2, ["k.jsonl", "k/"], 1))
def test_outputs_on_another_full_disk(tmp_path, small_disk, monkeypatch, run, output):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(1, 100), 3)
    folder = small_disk(8)
    command = command_with_work(inputs, f"{folder}/{output}", f"{tmp_path}/work")
    line = run.refused(*command)
    assert line.startswith(f"fastlsh: {folder}/k")
    assert f"{FULL}, which goes on with the finished work in {tmp_path}/work" in line
    assert set(os.listdir(folder)) <= {"k"}
    small_disk(4_000, "remount")
    monkeypatch.setattr(decide, "decide_part", None)  # all of this is done
    run.done(*command)
    assert not (tmp_path / "work").exists()
    assert "filler" not in contents(folder)
    (tmp_path / "memory").mkdir()
    run.done("dedup", *inputs, "-o", f"{tmp_path}/memory/{output}", "-q")
    assert contents(folder) == contents(tmp_path / "memory")


def test_a_work_directory_that_is_read_only(tmp_path, small_disk, monkeypatch, run):
    """Before the run, or from then on: as file systems become after an error of the device."""
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(1, 40), 2)
    folder = small_disk(4_000)
    command = command_with_work(inputs, f"{tmp_path}/k.jsonl", f"{folder}/work")

    def spoil(*arguments):
        raise OSError(30, "Read-only file system", f"{folder}/work/kept.npy")

    with monkeypatch.context() as patch:  # a run that is there, half done
        patch.setattr(on_disk, "kept_documents", spoil)
        assert run.refused(*command) == (
            f"fastlsh: {folder}/work/kept.npy: Read-only file system: make it writable and run the"
            f" same command again, which goes on with the finished work in {folder}/work"
        )
    small_disk(4_000, "remount", "ro")
    for work in ("work", "new"):
        assert run.refused(*command[:-1], f"{folder}/{work}") == (
            f"fastlsh: {folder}/{work}: cannot be used as a work directory: Read-only file system:"
            " give another one as --work"
        )
    assert not (tmp_path / "k.jsonl").exists()
    small_disk(4_000, "remount", "rw")
    run.done(*command)
    assert os.listdir(folder) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("by", "more"), [("line", []), ("span", [(passages, "cut_rows")])])
def test_pieces_go_on_too(tmp_path, small_disk, monkeypatch, run, by, more):
    small_budget(monkeypatch)
    common = [f"the line {n} that occurs in every seventh of the texts of it" for n in range(7)]
    rows = [{"id": n, "text": f"one\n{common[n % 7]}\nand {n}"} for n in range(42)]
    inputs = write_shards(tmp_path, rows, 3)
    folder = small_disk(4_000)
    options = ["--by", by, "--min-length", "40", "--engine", "disk", "-q"]
    options += ["--snap", "line"] * (by == "span")
    command = ["dedup", *inputs, "-o", f"{folder}/k/", *options]
    for room, name in [(gather, "_TextsWriter"), *more, (rewriting, "Conversion")]:
        with monkeypatch.context() as patch:
            filling(patch, folder, room, name)
            assert FULL in run.refused(*command)
        (folder / "filler").unlink()
    run.done(*command)
    assert os.listdir(folder) == ["k"]
    run.done("dedup", *inputs, "-o", f"{tmp_path}/m/", *options)
    assert contents(folder / "k") == contents(tmp_path / "m")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_log_on_a_full_disk(tmp_path, run):
    inputs = write_shards(tmp_path, rows_of(1, 40), 2)
    line = "fastlsh: /dev/full: No space left on device: the log cannot be written"
    command = ["dedup", *inputs, "-o", f"{tmp_path}/k.jsonl", "-q", "--log", "/dev/full"]
    assert run.refused(*command) == line
    assert not (tmp_path / "k.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("output", ["k.jsonl", "k/"])
def test_a_disk_of_every_size(tmp_path, small_disk, output):
    """Whole processes, and a disk two pages larger each time; tells where how many have failed."""
    inputs = write_shards(tmp_path, rows_of(1, 150), 3)
    here = Path(__file__).resolve().parent
    environment = {**os.environ, "PYTHONPATH": f"{here.parent}:{here}"}
    folder = small_disk(4_000)
    words = ["dedup", *inputs, "--removed", f"{folder}/r.tsv", "--engine", "disk", "-q",
             "--log", f"{tmp_path}/log", "-o"]  # fmt: skip
    memory = tmp_path / "m"
    memory.mkdir()
    expected = [word.replace(str(folder), str(memory)) for word in words]
    expected[expected.index("disk")] = "memory"
    assert main([*expected, f"{memory}/{output}"]) == 0
    failed = {}
    for pages in range(1, 10_000, 2):
        small_disk(PAGE // 1024 * pages, "remount")
        code = "import crash; crash.small()"
        command = [sys.executable, "-c", code, *words, f"{folder}/{output}"]
        (tmp_path / "log").unlink(missing_ok=True)
        full = subprocess.run(command, capture_output=True, text=True, env=environment)
        if full.returncode == 0:
            break
        assert (full.returncode, full.stderr.count("\n")) == (2, 1), full.stderr
        assert re.match(rf"fastlsh: {re.escape(str(folder))}/[^ ]+: ", full.stderr)
        assert FULL in full.stderr or "cannot be used" in full.stderr or "are free" in full.stderr
        events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        stage = next((e["stage"] for e in reversed(events) if e["event"] == "progress"), "begin")
        failed[stage] = failed.get(stage, 0) + 1
        small_disk(4_000, "remount")
        more = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert (more.returncode, more.stderr) == (0, "")
        assert contents(folder) == contents(memory)
        for path in folder.rglob("*"):
            if path.is_file():
                path.unlink()
    print(failed)
    assert len(failed) > 4


def test_arrays_for_which_there_is_no_room(small_disk):
    folder = small_disk(64)
    with pytest.raises(OSError, match="No space left on device"):
        workdir.new_array(folder / "a.npy", np.uint64, (1 << 20,))
    with pytest.raises(OSError, match="No space left on device"):
        workdir.save_array(folder / "b.npy", np.zeros(1 << 20))


def test_only_outputs_that_are_recorded_are_not_written_again(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    monkeypatch.setattr(disk_writing, "_OUTPUTS", 2)
    inputs = write_shards(tmp_path, rows_of(1, 40), 5)
    command = ["dedup", *inputs, "-o", f"{tmp_path}/k/", "--engine", "disk", "-q", "--keep-work"]
    assert main(command) == 0
    outputs = sorted((tmp_path / "k").iterdir())
    records = sorted((tmp_path / "k.work").glob("written-*.json"))
    assert (len(outputs), len(records)) == (5, 3)
    first = [(path.read_bytes(), path.stat().st_ino) for path in outputs]
    records[2].unlink()
    outputs[1].unlink()
    assert main(command) == 0
    again = [(path.read_bytes(), path.stat().st_ino) for path in outputs]
    assert [data for data, _ in again] == [data for data, _ in first]
    # The second and the last one are new; the others are those of the first run.
    assert [again[i] == first[i] for i in (0, 2, 3)] == [True] * 3
    assert again[4] != first[4]
    assert main(command[:-1]) == 0
    assert not (tmp_path / "k.work").exists()


def test_queries_on_a_disk_that_cannot_be_written_to(small_disk, capfd):
    folder = small_disk(4_000)
    rows, index = str(folder / "a.jsonl"), str(folder / "a.index")
    Path(rows).write_text(json.dumps({"text": "a text that is long enough"}) + "\n")
    assert main(["index", "build", index, rows, "-q"]) == 0
    small_disk(4_000, "remount", "ro")
    assert main(["index", "query", index, rows]) == 1
    reason = "its folder is read-only, and SQLite writes there for queries, too"
    assert capfd.readouterr().err == f"fastlsh: {index}: the index cannot be opened: {reason}\n"
    small_disk(4_000, "remount", "rw")
    fill(folder)
    assert main(["index", "query", index, rows]) == 1
    assert capfd.readouterr().err == f"fastlsh: {index}: No space left on device\n"
