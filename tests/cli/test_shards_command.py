"""Shards on the command line: directories, patterns, one output for each input."""

import os
from pathlib import Path

import pytest

from files import put_rows

ONE = "the quick brown fox jumps over the lazy dog and runs away"
OTHER = "something else altogether, long enough to have shingles"
PASSED = "fastlsh: warning: passed over in in: 1 without rows, by their names (_SUCCESS)"


@pytest.fixture
def shards(run):
    """Two shards, of which the second has a copy of what is in the first."""
    os.makedirs("in/deep")
    put_rows("in/a.jsonl", {"id": 1, "text": ONE}, {"id": 2, "text": OTHER})
    put_rows("in/deep/b.jsonl", {"id": 3, "text": ONE})
    Path("in/_SUCCESS").touch()
    return "in"


def tree(folder="."):
    return sorted(path.as_posix() for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("inputs", [["in", "--recursive"], ["in/**/*.jsonl"]])
def test_dedup_shard_by_shard(run, shards, inputs):
    _, err = run.done("dedup", *inputs, "-o", "out/", "--removed", "removed.tsv")
    assert err[-1].startswith("fastlsh: 3 documents: 2 kept, 1 removed ")
    assert tree("out") == ["out/a.jsonl", "out/deep/b.jsonl"]
    assert Path("out/a.jsonl").read_bytes() == Path("in/a.jsonl").read_bytes()
    assert Path("out/deep/b.jsonl").read_bytes() == b""
    # Once more, in the other direction: outputs of the run before are replaced.
    run("dedup", *inputs, "-o", "out", "--keep", "last", "-q")
    assert Path("out/a.jsonl").read_text().count("\n") == 1
    assert Path("out/deep/b.jsonl").read_text().count("\n") == 1


def test_what_is_left_out_is_told_once(run, shards):
    _, err = run.done("dedup", "in", "-o", "out/", "--against", "in/deep", "-q")
    assert err == [
        PASSED,
        "fastlsh: warning: left out of in: directories, which --recursive reads: deep",
    ]


def test_several_formats(run, shards):
    Path("in/c.csv").write_text(f"id,text\n4,{ONE}\n")
    assert run("dedup", "in", "--recursive", "-o", "kept.jsonl", "-q")[:2] == (0, "")
    assert len(Path("kept.jsonl").read_text().splitlines()) == 2
    one_stream = run("dedup", "in", "--recursive", "-o", "-")[2]
    assert "one file of no format: give --convert-to; a directory" in one_stream[-1]
    assert len(run("pairs", "in", "--recursive", "-q")[1].splitlines()) == 1 + 3
    assert run("evaluate", "in", "--recursive", "-q")[0] == 0
    assert run("explain", "in", 1, 4, "--recursive", "-q")[0] == 0
    run("dedup", "in", "--recursive", "-o", "out/", "-q")
    assert Path("out/c.csv").read_text() == "id,text\n"
    _, err = run.done("pairs", "in", "--recursive", "--format", "jsonl")
    assert err[-1].startswith("fastlsh: 3 documents: 1 pair; ")
