"""Options that say what a document is: split texts, keys inside keys, names that tell no format."""

import gzip
import json
from pathlib import Path

import pytest

from files import ONE, OTHER, put, put_rows, put_table, table_rows

# ---- one text file, several documents

LINES = f"\n{ONE}\n{OTHER}\r\n\n \n{ONE}"


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_lines(run, engine):
    put("a.txt", LINES)
    assert run("pairs", "a.txt", "--split", "lines", "-q")[1].splitlines()[1:] == [
        "a.txt:2\ta.txt:6\t1.000000"
    ]
    more = ["--split", "lines", "-q", "--engine", engine]
    assert run("dedup", "a.txt", "-o", "b.txt", *more) == (0, "", [])
    assert Path("b.txt").read_bytes() == f"{ONE}\n{OTHER}\r\n".encode()
    assert run("dedup", "a.txt", "-o", "b.jsonl", *more, "--keep", "last")[0] == 0
    assert table_rows("b.jsonl") == [
        {"id": "a.txt:3", "text": OTHER},
        {"id": "a.txt:6", "text": ONE},
    ]


def test_one_text_of_many_lines_is_warned_of(run):
    put("a.txt", f"{ONE}\n" * 20)
    put("c.txt.gz", gzip.compress(f"{ONE}\n".encode() * 19 + b"x"))
    put_rows("old.jsonl", {"text": OTHER})
    for name, *more in (["a.txt"], ["a.txt", "--against", "old.jsonl"], ["c.txt.gz"]):
        _, _, err = run("pairs", name, "-q", *more)
        assert err == [
            f"fastlsh: warning: {name} is read as one document, although it has 20 lines or more:"
            " --split lines or --split paragraphs makes several of it"
        ]
    put("c.txt", f"{ONE}\n" * 19)
    assert run("pairs", "c.txt", "-q")[2] == []
    assert run("dedup", "a.txt", "-o", "d.txt", "--by", "line", "-q")[2] == []
    put("b.txt", ONE)
    assert run("pairs", "a.txt", "b.txt", "-q")[2] == []
    assert run("pairs", "a.txt", "-q", "--split", "paragraphs")[2] == []


# ---- keys inside keys


NESTED = [{"meta": {"n": i}, "doc": {"body": {"text": t}}} for i, t in enumerate([ONE, ONE, OTHER])]


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow"])
def test_a_text_inside_other_keys(run, kind):
    name = f"a.{kind}"
    put_table(name, NESTED)
    where = ["--text", "doc.body.text", "--id", "meta.n", "-q"]
    assert run("pairs", name, *where)[1].splitlines()[1:] == ["0\t1\t1.000000"]
    assert run("dedup", name, "-o", f"b.{kind}", *where, "--priority", "meta.n")[0] == 0
    assert run("pairs", f"b.{kind}", *where)[1].splitlines()[1:] == []
    assert "'doc.body.no' (there is: " in run.refused("pairs", name, "--text", "doc.body.no")
    assert "doc" in run("pairs", name, "--text", "doc.body")[2][0]


def test_a_key_with_a_dot_comes_first(run):
    put_rows("a.jsonl", {"a.b": ONE, "a": {"b": OTHER}}, {"a": {"b": ONE}})
    out = run("pairs", "a.jsonl", "--text", "a.b", "-q")[1]
    assert out.splitlines()[1:] == ["a.jsonl:1\ta.jsonl:2\t1.000000"]


# ---- names that tell no format


@pytest.mark.parametrize("name", ["a.json.gz", "a.json", "part-0000", "a.dump"])
def test_formats_that_a_name_does_not_tell(run, name):
    data = "".join(json.dumps({"id": i, "text": ONE}) + "\n" for i in range(2)).encode()
    put(name, gzip.compress(data) if name.endswith(".gz") else data)
    assert run("pairs", name, "--format", "jsonl", "-q")[1].splitlines()[1:] == ["0\t1\t1.000000"]
    kept = name.replace("a.", "kept.").replace("part", "kept")
    assert run("dedup", name, "--format", "jsonl", "-o", kept, "-q") == (0, "", [])
    found = Path(kept).read_bytes()
    found = gzip.decompress(found) if name.endswith(".gz") else found
    assert found == data.splitlines(True)[0]
    assert run("dedup", name, "--format", "jsonl", "-o", "kept.xyz", "-q")[0] == 2
