"""Ctrl-C: the message says how a run on disk continues, and the next run says from where."""

import io
import os
import sys

import pytest

from fastlsh import deduplicate_files
from fastlsh.files.disk import decide, link, sign, write
from fastlsh.files.run.run import Run
from fastlsh.files.tasks import dedup as on_disk
from fastlsh.parallel import Display
from shards import rows_of, small_budget, write_shards


class Terminal(io.StringIO):
    def isatty(self):
        return True


STAGES = [
    (sign, "sign_block", "documents are signed"),
    (link, "_families", "finished are signing; linking follows"),
    (Run, "reread", "finished are signing, linking; gathering follows"),
    (decide, "answers", "finished are signing, linking, gathering; decisions follows"),
    (write, "_rewriting", "finished are signing, linking, gathering, decisions; writing follows"),
]


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("stage", "restart"), [*zip(STAGES, [0, 1, 0, 1, 0], strict=True)])
def test_the_same_command_continues(tmp_path, monkeypatch, run, stage, restart):
    module, name, said = stage
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(1, 60), 2)
    command = ["dedup", *inputs, "-o", "o.jsonl", "--engine", "disk", "--threads", "1"]
    with monkeypatch.context() as patch:
        patch.setattr(module, name, interrupt)
        status, _, err = run(*command, *(["--restart"] if restart else []))
    without = ", without --restart" if restart else ""
    assert status == 130
    assert err[-1] == (
        f"fastlsh: interrupted: run the same command again{without}, which goes on with the"
        " finished work in o.jsonl.work"
    )
    _, err = run.done(*command)
    (line,) = (line for line in err if "continuing" in line)
    assert line.startswith("fastlsh: continuing the run in o.jsonl.work: ")
    assert line.endswith(said)
    assert not any("continuing" in line for line in run(*command)[2])


def test_python_is_told_as_well(tmp_path, monkeypatch):
    inputs = write_shards(tmp_path, rows_of(1, 30), 1)
    with monkeypatch.context() as patch:
        patch.setattr(on_disk, "decide_parts", interrupt)
        with pytest.raises(KeyboardInterrupt, match="goes on with the finished work in"):
            deduplicate_files(inputs, tmp_path / "o.jsonl", engine="disk")
    messages = []
    deduplicate_files(inputs, tmp_path / "o.jsonl", engine="disk", on_message=messages.append)
    assert "continuing the run" in messages[1]


def test_in_memory_nothing_is_kept(tmp_path, monkeypatch, run):
    inputs = write_shards(tmp_path, rows_of(1, 30), 1)
    monkeypatch.setattr("fastlsh.files.tasks.dedup.deduplicate_texts", interrupt)
    status, _, err = run("dedup", *inputs, "-o", "o.jsonl", "-q")
    assert (status, err) == (130, ["fastlsh: interrupted"])


def test_with_a_pipe_nothing_goes_on(tmp_path, monkeypatch, run):
    reading, writing = os.pipe()
    os.write(writing, b'{"text": "a"}\n')
    os.close(writing)
    monkeypatch.setattr(on_disk, "decide_parts", interrupt)
    words = ["dedup", f"/dev/fd/{reading}", "--format", "jsonl", "-o", "o.jsonl"]
    status, _, err = run(*words, "--engine", "disk")
    assert (status, err[-1]) == (130, "fastlsh: interrupted")


def test_no_message_in_a_line_of_progress(tmp_path, monkeypatch, run):
    inputs = write_shards(tmp_path, rows_of(1, 30), 1)

    def halfway(*_, **__):
        Display(live=True)("decisions", 1, 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(on_disk, "decide_parts", halfway)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run("dedup", *inputs, "-o", "o.jsonl", "--engine", "disk")[0] == 130
    *_, before, after, end = terminal.getvalue().split("\n")
    assert before.split("\r")[-1].startswith("decisions: 50% of 2")
    assert (after.startswith("fastlsh: interrupted: "), end) == (True, "")
