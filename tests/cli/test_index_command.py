"""`fastlsh index`, and `fastlsh dedup --index`: output and index change both, or neither."""

import csv
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fastlsh import Index, deduplicate
from fastlsh.index import publishing


def rows_of(day, n=40):
    draw = random.Random(day)
    rows = []
    for number in range(n):
        base = random.Random(draw.randrange(300))
        text = " ".join(str(base.randrange(1000)) for _ in range(30))
        rows.append({"id": f"{day}-{number}", "text": text + draw.choice(["", "", " 1"])})
    return rows


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_thirty_days_are_one_collection(run, write):
    days = [rows_of(day) for day in range(30)]
    everything = [row for day in days for row in day]
    expected = deduplicate([row["text"] for row in everything], 0.7)
    write("none.jsonl", "")
    assert run("index", "build", "seen.ix", "none.jsonl", "--threshold", 0.7, "-q")[0] == 0
    kept, proofs = [], []
    for number, rows in enumerate(days):
        name = write(f"day {number}.jsonl", jsonl(rows))
        status, _, err = run(
            "dedup", name, "--index", "seen.ix", "-o", "kept.jsonl", "--removed", "removed.tsv",
        )  # fmt: skip
        assert status == 0, err
        with open("kept.jsonl") as file:
            kept += [json.loads(line)["id"] for line in file]
        with open("removed.tsv") as file:
            proofs += [line.split("\t")[:2] for line in list(file)[1:]]
    assert kept == [everything[d]["id"] for d in expected.selected]
    assert proofs == [
        [everything[d]["id"], everything[expected.kept_index[d]]["id"]] for d in expected.filtered
    ]
    assert expected.filtered.size
    assert err[-1] == f"fastlsh: seen.ix has {len(kept)} documents"
    with Index.open("seen.ix") as index:
        assert list(index) == kept
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_the_other_commands(run, write):
    name = write("a.jsonl", jsonl(rows_of(1)))
    assert run("index", "build", "i.ix", name, "--lowercase", "--size", 5)[0] == 0
    status, out, err = run("index", "query", "i.ix", name, "--limit", 1)
    assert status == 0
    assert out.splitlines()[0] == "id\tmatch\tjaccard"
    assert out.splitlines()[1] == "1-0\t1-0\t1.000000"
    assert err[-1].startswith("fastlsh: 40 documents, 40 with a match")
    assert run("index", "remove", "i.ix", "1-0", "1-5")[2] == [
        "fastlsh: 2 documents removed; i.ix has 38"
    ]
    status, out, err = run("index", "info", "i.ix")
    told = json.loads(out)
    assert told["documents"] == 38
    assert "size=5, lowercase=True" in told["shingler"]
    more = write("b.jsonl", jsonl(rows_of(2)))
    assert run("index", "add", "i.ix", more)[2][-1].endswith("i.ix has 78")
    assert run("index", "add", "i.ix", more, "--replace", "-q")[0] == 0


def test_kept_rows_are_converted(run, write):
    seen, new = write("a.jsonl", jsonl(rows_of(1))), write("b.jsonl", jsonl(rows_of(2)))
    assert run("index", "build", "i.ix", seen, "-q")[0] == 0
    status, _, _ = run("dedup", new, "--index", "i.ix", "-o", "k.csv", "--convert-to", "csv")
    assert status == 0
    with open("k.csv", newline="", encoding="utf-8") as file:
        kept = [row["id"] for row in csv.DictReader(file)]
    told = json.loads(run("index", "info", "i.ix")[1])
    assert len(kept) == told["documents"] - 40 > 0


def test_what_is_refused(run, write):
    name = write("a.jsonl", jsonl(rows_of(1)))
    assert run("index", "build", "i.ix", name, "-q")[0] == 0
    before = Path("i.ix").read_bytes()
    for arguments, said in (
        (["index", "build", "i.ix", name], "i.ix: it exists already"),
        (["index", "add", "none.ix", name], "none.ix: there is no index"),
        (["index", "add", "i.ix", name], "id '1-0' is in the index already"),
        (["index", "query", name, name], "a.jsonl: it is not an index of fastlsh"),
        (["index", "add", "i.ix", name, "--threshold", "0.5"], "threshold=0.8, not 0.5"),
        (["index", "remove", "i.ix", "1-3", "none"], "no document has the id none"),
        (["dedup", name, "--index", "i.ix", "-o", "k.jsonl", "--against", name],
         "--index and --against cannot be given together"),
        (["dedup", name, "--index", "i.ix", "-o", "k.jsonl", "--log", "l.jsonl"],
         "--index and --log cannot be given together"),
        (["dedup", name, "--index", "i.ix", "-o", "k.jsonl", "--engine", "disk"],
         "--index and --engine disk cannot be given together"),
        (["dedup", name, "--index", "i.ix", "-o", "k.csv", "--convert-to", "jsonl"],
         "rows are converted to .jsonl, so the output must be .jsonl"),
        (["dedup", name, "--index", "i.ix", "-o", "i.ix"], "i.ix"),
        (["dedup", name, "--index", "i.ix", "-o", "folder/"], "must be a plain file"),
        (["dedup", name, "--index", "i.ix", "-o", "k.jsonl", "--size", "7"], "the shingler"),
    ):  # fmt: skip
        status, _, err = run(*arguments)
        assert status == 2, arguments
        assert len(err) == 1
        assert said in err[0]
    assert Path("i.ix").read_bytes() == before
    assert sorted(os.listdir()) == ["a.jsonl", "i.ix"]


KILLED = """
import os, sys
from fastlsh import cli
from fastlsh.index import publishing
def die(*_):
    os._exit(9)
{where}
sys.exit(cli.main(["dedup", "b.jsonl", "--index", "i.ix", "-o", "k.jsonl", "--removed", "r.tsv"]))
"""


@pytest.mark.parametrize(
    ("where", "done"),
    [
        ("publishing.finish_moves = die", True),
        ("os.rmdir = die", True),  # one of two files is renamed
        ("publishing._store_of = die", False),
        ("from fastlsh.index.sqlite import SqliteStore; SqliteStore.note_moves = die", False),
    ],
)
def test_a_kill_between_output_and_index(run, write, where, done):
    name = write("a.jsonl", jsonl(rows_of(1)))
    run("index", "build", "i.ix", name, "-q")
    write("b.jsonl", jsonl(rows_of(2)))
    write("k.jsonl", "as it was")
    code = KILLED.format(where=where)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    status, out, err = run("index", "info", "i.ix")
    assert status == 0
    documents = json.loads(out)["documents"]
    with open("k.jsonl") as file:
        kept = file.read()
    assert (documents > 40) == done
    assert (kept != "as it was") == done
    assert os.path.exists("r.tsv") == done
    if done:
        assert len(kept.splitlines()) == documents - 40
        assert "completed the output of an interrupted command" in err[0]
        assert not [each for each in os.listdir() if each.startswith(".")]
    assert publishing.finish_moves(Index.open("i.ix")) == []
