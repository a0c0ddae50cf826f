"""Files that are broken, change or vanish: one line, and what was done before stays done."""

import gzip
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from combinations import every
from fastlsh import (
    InputError,
    deduplicate_files,
    deduplicate_span_files,
    near_duplicate_files,
    overlap_files,
)
from fastlsh.cli import main
from fastlsh.files.disk import gather, link, sign
from fastlsh.files.run.run import Run
from fastlsh.files.tasks import dedup as on_disk
from in_stages import stages_of
from jobs import JOBS, Job
from refusals import refuses
from shards import content_of, contents, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("wrong", [5, None, b"a.jsonl", [b"a.jsonl"]])
def test_what_is_no_path(wrong):
    named = "paths must be str or os.PathLike, one or several, got (int|NoneType|bytes)$"
    refuses(TypeError, named, deduplicate_files, wrong)


@pytest.mark.parametrize("message", [
    "text must name a column, not 5.0", "id must name a column, not 5.0",
    "delimiter must be one character and no quote or line end, not 5.0",
    "memory must be a number of bytes or a text like '4G', got 5.0",
    "within= each option for columns must name a column, not 5.0",
    "report= expected str, bytes or os.PathLike object, not float",
    "shingler must be a Shingler, got float",
])  # fmt: skip
def test_values_of_another_type(tmp_path, message):
    path = tmp_path / "a.csv"
    path.write_text("text\na\na\n")
    name = message.split()[0]
    function = deduplicate_span_files if name == "shingler" else deduplicate_files
    wrong, reason = {name.rstrip("="): 5.0}, message.partition("= ")[2] or message
    refuses((TypeError, ValueError), reason, function, path, tmp_path / "o.csv", **wrong)
    assert [*tmp_path.iterdir()] == [path]
    refuses(InputError, "column '3'", near_duplicate_files, path, tmp_path / "o.tsv", columns=[3])


def test_an_output_is_not_a_list(tmp_path):
    inputs = outputs = [tmp_path / "a", tmp_path / "b"]
    for function in (near_duplicate_files, overlap_files):
        refuses(TypeError, "got list", function, inputs, outputs)


@pytest.fixture
def nine(tmp_path, monkeypatch):
    """Nine compressed shards, a command, and what it must write."""
    small_budget(monkeypatch, segment=14)
    inputs = []
    for path in map(Path, write_shards(tmp_path, rows_of(4, 63), 9)):
        packed = path.with_suffix(".jsonl.gz")
        packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
        inputs.append(packed)
    command = ["dedup", *map(str, inputs), "-o", f"{tmp_path}/k/", "--threads", "1", "-q"]
    assert main([*command, "--engine", "memory"]) == 0
    expected = contents(tmp_path / "k")
    for path in (tmp_path / "k").iterdir():
        path.unlink()
    return inputs, [*command, "--engine", "disk"], expected


def signed_files(monkeypatch):
    """Return a set to which the files with blocks that are cut from now on are added."""
    seen = set()
    cut = sign.read_blocks

    def seeing(source, *arguments, **keywords):
        for block in cut(source, *arguments, **keywords):
            seen.add(Path(source.path).name)
            yield block

    monkeypatch.setattr(sign, "read_blocks", seeing)
    return seen


def truncated(path):
    path.write_bytes(path.read_bytes()[:-40])
    return "truncated: "


def with_a_bad_row(path):
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join([*lines[:5], b'{"text": 5}\n', *lines[5:]])))
    return "row 6: "


@pytest.mark.parametrize("damage", every(2, [truncated, with_a_bad_row]))
def test_shard_7_of_9_is_damaged(nine, tmp_path, monkeypatch, run, damage):
    inputs, command, expected = nine
    whole = inputs[6].read_bytes()
    said = damage(inputs[6])
    for _ in range(2):  # as it is, it gives the same error again
        assert run.refused(*command).startswith(f"fastlsh: {inputs[6]}: {said}")
        assert os.listdir(tmp_path / "k") == []
    inputs[6].write_bytes(whole)
    seen = signed_files(monkeypatch)
    assert main(command) == 0
    assert seen == {"in6.jsonl.gz", "in7.jsonl.gz", "in8.jsonl.gz"}
    assert contents(tmp_path / "k") == expected
    assert not (tmp_path / "k.work").exists()


def test_only_what_was_broken_may_be_mended(nine, tmp_path, run):
    inputs, command, expected = nine
    whole = [path.read_bytes() for path in inputs]
    truncated(inputs[6])
    run.refused(*command)
    inputs[6].write_bytes(whole[6])
    inputs[2].write_bytes(whole[3])
    assert "in2.jsonl.gz has changed since. Give --restart" in run.refused(*command)
    inputs[2].write_bytes(whole[2])
    os.utime(inputs[2], ns=(0, 0))
    assert "in2.jsonl.gz has changed since. Give --restart" in run.refused(*command)
    assert "threshold was 0.8, and is 0.7" in run.refused(*command, "--threshold", "0.7")
    assert main([*command, "--restart"]) == 0
    assert contents(tmp_path / "k") == expected


def broken_later(path):
    """Change a file and let its end be no JSON: its first blocks are signed; return what it was."""
    whole = path.read_bytes()
    text = gzip.decompress(whole).replace(b"river", b"brook") * 20
    path.write_bytes(gzip.compress(text + b"{\n"))
    return whole


@pytest.mark.parametrize("size", every(2, [14, 10_000]))
def test_a_mended_file_whose_first_blocks_were_signed(nine, tmp_path, monkeypatch, run, size):
    """They are in a run of their own, or in one with files before, and go in any case."""
    small_budget(monkeypatch, segment=size)
    inputs, command, expected = nine
    whole = broken_later(inputs[6])
    run.refused(*command)
    found = [*(tmp_path / "k.work").glob("segment-*/blocks.json")]
    runs = [content_of(path) for path in found]
    assert {0, 5} < {block[0] for run in runs for block in run["blocks"]}
    assert any(block[0] == 6 for run in runs for block in run["blocks"]) == (size == 14)
    notes = [path.with_name("notes.txt") for path in found]
    for path in notes:
        path.write_text("of somebody else")
    inputs[6].write_bytes(whole)
    assert main(command) == 0
    assert contents(tmp_path / "k") == expected
    assert all(path.read_text() == "of somebody else" for path in notes)


@pytest.mark.exhaustive
def test_a_kill_while_it_goes_what_was_signed_of_a_mended_file(nine, tmp_path, monkeypatch, run):
    inputs, command, expected = nine
    whole = broken_later(inputs[6])
    run.refused(*command)
    inputs[6].write_bytes(whole)

    def killed(path):
        (path / "blocks.json").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        assert main(command) == 130
    assert main(command) == 0
    assert contents(tmp_path / "k") == expected


@pytest.mark.parametrize(
    ("room", "name"),
    [
        (gather, "_TextsWriter"),
        pytest.param(link, "link_sorted", marks=pytest.mark.exhaustive),
        pytest.param(on_disk, "kept_documents", marks=pytest.mark.exhaustive),
    ],
)
def test_a_file_that_vanishes(nine, tmp_path, monkeypatch, run, room, name):
    inputs, command, expected = nine
    before = inputs[6].with_suffix(".away")
    original = getattr(room, name)

    def work(*arguments, **keywords):
        with suppress(FileNotFoundError):  # several threads come here
            inputs[6].rename(before)
        return original(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(room, name, work)
        assert run.refused(*command).startswith(f"fastlsh: {inputs[6]}: No such file or directory")
    assert run.refused(*command).startswith(f"fastlsh: {inputs[6]}: No such file or directory")
    assert os.listdir(tmp_path / "k") == []
    before.rename(inputs[6])
    monkeypatch.setattr(sign, "sign_batch", None)  # this is done
    assert main(command) == 0
    assert contents(tmp_path / "k") == expected


@pytest.mark.exhaustive
def test_a_file_that_changes_while_outputs_are_written(nine, tmp_path, monkeypatch, run):
    inputs, command, _ = nine
    reread = Run.reread

    def spoil(run, records, **more):
        if more.get("all_columns") and records and records[0].source == 6:
            inputs[6].write_bytes(inputs[5].read_bytes())
        return reread(run, records, **more)

    monkeypatch.setattr(Run, "reread", spoil)
    line = run.refused(*command)
    assert line.startswith(f"fastlsh: {inputs[6]}: ")
    assert "changed" in line
    assert set(os.listdir(tmp_path / "k")) <= {f"in{n}.jsonl.gz" for n in range(6)}


@pytest.mark.parametrize("first", ["", '{"id": 0, "text": "a good row"}\n'])
def test_a_run_that_is_refused_at_once_leaves_no_work_directory(tmp_path, first):
    path = tmp_path / "a.jsonl"
    path.write_text(first + '{"id": 1, "text": 5}\n')
    work = tmp_path / "work"
    with pytest.raises(InputError, match="not a string"):
        deduplicate_files(path, tmp_path / "o.jsonl", engine="disk", work=work)
    assert not work.exists()
    work.mkdir()
    with pytest.raises(InputError, match="not a string"):
        deduplicate_files(path, tmp_path / "o.jsonl", engine="disk", work=work)
    path.write_text('{"id": 1, "text": "another row"}\n')
    assert deduplicate_files(path, tmp_path / "o.jsonl", engine="disk", work=work).n_kept == 1


@pytest.mark.parametrize("job", [*JOBS.values(), Job(overlap_files, {"output": "overlap.tsv"})])
def test_a_check_is_what_a_run_would_refuse_and_writes_nothing(tmp_path, monkeypatch, job):
    monkeypatch.chdir(tmp_path)
    keywords = {**job.prepared(tmp_path), **job.named(tmp_path / "out")}
    before = sorted(tmp_path.rglob("*"))
    for more in ({}, {"stage": stages_of(job.function)[0], "work": "w", "memory": "300M"}):
        job.function.check(**{**keywords, **more})
    first, second, *_ = keywords["inputs"]
    for wrong, said in (
        ({"inputs": [first, "absent.jsonl"]}, "absent"),
        ({"output": second}, re.escape(second)),
    ):
        refuses(InputError, said, job.function.check, **{**keywords, **wrong})
    assert sorted(tmp_path.rglob("*")) == before
