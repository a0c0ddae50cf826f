"""The command line as a user meets it: results and messages."""

import errno
import json
import os
from pathlib import Path

import pytest

from fastlsh.cli import main
from files import NEAR, ONE, OTHER, put_table, table_rows
from files import put_rows as put
from shards import rows_of, write_shards

EXAMPLES = Path(__file__).parents[2] / "examples"


def table(text):
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def three(run):
    return put("a.jsonl", *({"id": i, "text": t} for i, t in enumerate([ONE, NEAR, OTHER])))


FOUND = "a pair at 0.8 is found with probability 0.9817"


# --- pairs


def test_what_is_said_of_the_search_if_asked_for(run, three):
    line = f"fastlsh: 3 documents: 1 pair; {FOUND}"
    *lines, more = run("pairs", three, "--verbose", "--memory", "1.5G")[2]
    assert lines == [line]
    needs = "fastlsh: 17 bands x 7 rows; engine: memory (needs "
    assert more.startswith(needs)
    assert more.endswith("MB, --memory is 1.5G)")
    assert run("pairs", three, "-v")[2][1].startswith(needs)
    assert run("pairs", three, "-v", "-q")[2] == []


@pytest.mark.skipif(not EXAMPLES.exists(), reason="an installed package has no examples")
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_pairs_of_the_examples(run, threshold):
    truth = table((EXAMPLES / "notices.truth.tsv").read_text(encoding="utf-8"))[1:]
    expected = {(*sorted(row[:2]), row[2]) for row in truth if float(row[2]) >= threshold}
    out, _ = run.done("pairs", EXAMPLES / "notices.jsonl", "--threshold", threshold)
    found = {(*sorted(row[:2]), row[2]) for row in table(out)[1:]}
    assert found <= expected
    assert len(found) >= 0.95 * len(expected)


def test_repeated_ids_are_kept_with_a_warning(run):
    put("a.jsonl", *[{"id": "x", "text": ONE}] * 3)
    out, err = run.done("pairs", "a.jsonl", "-q")
    assert table(out)[1:] == [["x", "x", "1.000000"]] * 3
    said = "fastlsh: warning: documents that repeat the id of an earlier one: "
    assert err == [said + "2, such as 'x' in a.jsonl"]
    put("b.jsonl", {"id": 7, "text": OTHER}, {"text": OTHER})
    put("c.jsonl", {"id": 7, "text": ONE})
    for command in (["pairs"], ["dedup", "-o", "kept.jsonl"], ["evaluate"]):
        err = run(command[0], "b.jsonl", "c.jsonl", *command[1:], "-q")[2]
        assert err == [said + "1, such as 7 in b.jsonl, c.jsonl"]


def test_skipped_rows_are_told(run):
    Path("a.jsonl").write_text("x\n" * 12 + json.dumps({"text": ""}) + "\n")
    _, err = run.done("pairs", "a.jsonl", "--on-error", "skip")
    assert err[0].startswith("fastlsh: warning: skipped: a.jsonl: row 1: not JSON")
    assert err[10:12] == [
        "fastlsh: warning: skipped: 2 more rows",
        f"fastlsh: 1 document, 1 empty, 12 rows skipped: 0 pairs; {FOUND}",
    ]


def test_the_largest_numbers(run, three):
    largest = str(2**63 - 1)
    for option in ("--threads", "--max-pairs"):
        assert run("pairs", three, option, largest)[0] == 0
    assert run("dedup", three, "-o", "b.jsonl", "--max-candidates", largest)[0] == 0
    assert run("evaluate", three, "--sample", largest)[0] == 0


def test_too_many_open_files(three, monkeypatch, capfd):
    def fail(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))  # as os.pipe does

    monkeypatch.setattr("fastlsh.cli.pairs.near_duplicate_files", fail)
    assert main(["pairs", three]) == 1
    assert capfd.readouterr().err == "fastlsh: Too many open files\n"


# --- dedup


def test_what_is_left_out_is_told_once(run):
    put("in/a.jsonl", {"text": ONE})
    put("in/deep/b.jsonl", {"text": OTHER})
    Path("in/_SUCCESS").touch()
    _, err = run.done("dedup", "in", "-o", "out/", "--against", "in/deep", "-q")
    assert err == [
        "fastlsh: warning: passed over in in: 1 without rows, by their names (_SUCCESS)",
        "fastlsh: warning: left out of in: directories, which --recursive reads: deep",
    ]


def test_the_summary_counts_missing_priorities(run):
    dates = ({"day": day} for day in ("2024-01-31", None, "2024-03-02"))
    put("a.jsonl", *({"text": ONE, **date} for date in dates), {"text": OTHER})
    said = "fastlsh: 4 documents, 2 without a value of day: "
    for engine in ("memory", "disk"):
        options = ["--priority", "day", "--engine", engine, "--log", "log.jsonl"]
        _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", *options)
        (line,) = (line for line in err if "without" in line)
        assert line.startswith(said)
        assert [row.get("day") for row in table_rows("b.jsonl")] == ["2024-03-02", None]
        assert table_rows("log.jsonl")[-1]["missing_priorities"] == 2
    status, _, err = run("dedup", "a.jsonl", "-o", "b.jsonl")
    assert (status, [line for line in err if "without" in line]) == (0, [])


def test_too_many_candidates_are_told(run):
    words = ONE.split(" ")
    texts = [" ".join([*words[:i], str(i) * 3, *words[i:]]) for i in range(len(words))]
    put("a.jsonl", *({"text": text} for text in texts))
    arguments = ["--threshold", 0.75, "--num-perm", 64, "--bands", 64, "--rows", 1]
    _, err = run.done("dedup", "a.jsonl", "-o", "b.jsonl", "--max-candidates", 1, *arguments)
    assert any("--max-candidates" in line for line in err)


# --- decontaminate


def texts_of(path):
    return [row["text"] for row in table_rows(path)]


def test_boilerplate_is_named(run):
    notice = "this page may be copied by all who name the author and the year in which it was made"
    rows = [{"text": f"{number} {notice if number % 2 else ''}"} for number in range(300)]
    train = put_table("train.jsonl", rows)
    evals = put_table("evals.jsonl", [{"q": f"{OTHER} {notice}"}])
    given = ("decontaminate", train, "--evals", evals, "-o", "clean.jsonl")
    _, _, err = run(*given)
    assert "boilerplate, in 150 documents of the sample: this page may be copied by" in err[1]
    assert err[-1] == "fastlsh: and 2 more n-grams that are boilerplate"
    assert len(texts_of("clean.jsonl")) == 300
    run(*given, "--no-boilerplate", "-q")
    assert len(texts_of("clean.jsonl")) == 150


def test_items_in_text_without_spaces(run):
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 100)]
    item = "".join(letters[:15]) + "，" + "".join(letters[15:40]) + "？"
    documents = ["".join(letters[40:70]) + item + "".join(letters[70:]), "".join(letters[40:])]
    put_table("train.jsonl", [{"text": text} for text in documents])
    put_table("items.jsonl", [{"question": item}])
    given = ("decontaminate", "train.jsonl", "--evals", "items.jsonl", "-o", "clean.jsonl")
    for options in (
        (), ("--unit", "char"), ("--unit", "char", "--size", "20"), ("--size", "40"),
        ("--words", "unicode", "--size", "3"),
    ):  # fmt: skip
        assert run(*given, *options)[0] == 0, options
        assert texts_of("clean.jsonl") == documents[1:], options
    assert "each has too few words" in run.refused(*given, "--words", "alphanumeric")


# --- memory and disk


@pytest.fixture
def inputs(tmp_path):
    return write_shards(tmp_path, rows_of(3, 200), 2)


def test_options_that_the_engine_has_no_use_for(run, inputs):
    words = ["dedup", *inputs, "-o", "kept.jsonl", "--engine", "memory"]
    _, _, err = run(*words, "--memory", "1G", "--work", "w", "--keep-work", "--restart")
    assert err[:4] == [
        "fastlsh: --work has no effect with --engine=memory, which has no work directory",
        "fastlsh: --keep-work has no effect with --engine=memory, which has no work directory",
        "fastlsh: --restart has no effect with --engine=memory, which has no work directory",
        "fastlsh: --memory limits only the size of a row with --engine=memory",
    ]
    assert not any("no effect" in line for line in run(*words)[2])


def test_the_log_tells_stages_and_result(run, inputs):
    run("dedup", *inputs, "-o", "k.jsonl", "--engine", "disk", "--log", "run.log", "-q")
    events = table_rows("run.log")
    assert events[0]["event"] == "started"
    assert events[-1]["event"] == "done"
    assert events[-1]["documents"] == 200
    ends = {e["stage"] for e in events if e["event"] == "progress" and e["done"] == e["total"]}
    assert {"signing", "linking", "gathering", "decisions", "writing"} <= ends
    assert all("time" in event for event in events)
    assert events[-1]["slow_rows"] == 0
    run("dedup", "nothing.jsonl", "-o", "k.jsonl", "--log", "run.log", "-q")
    last = table_rows("run.log")[-1]
    assert last["event"] == "failed"
    assert "nothing.jsonl" in last["error"]
