"""Indexes that keep no texts read them again in the files that they came from."""

import gzip
import json
import os
import random
import re
from pathlib import Path

import pytest

from combinations import covering
from fastlsh import Index, Shingler, deduplicate_files, deduplicate_with_index
from fastlsh.errors import InputError
from files import put_rows

WORDS = [f"word{number}" for number in range(400)]


def rows_of(day, n=300):
    draw = random.Random(day)
    rows = []
    for number in range(n):
        words = random.Random(draw.randrange(250)).choices(WORDS, k=30)
        for _ in range(draw.randrange(4)):
            words[draw.randrange(30)] = draw.choice(WORDS)
        rows.append({"id": f"{day}-{number}", "text": " ".join(words), "title": words[0]})
    rows[7]["text"] = None
    return rows


def write(name, rows):
    """Write rows as the suffix says."""
    if name.endswith((".jsonl", ".jsonl.gz")):
        code = "".join(json.dumps(row) + "\n" for row in rows).encode()
        Path(name).write_bytes(gzip.compress(code) if name.endswith("gz") else code)
    elif name.endswith(".csv"):
        lines = ["id,text,title", *(f"{r['id']},{r['text'] or ''},{r['title']}" for r in rows)]
        Path(name).write_text("\n".join(lines), encoding="utf-8")
    else:
        table = pytest.importorskip("pyarrow").Table.from_pylist(rows)
        if name.endswith(".parquet"):
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, name, row_group_size=70)
        else:
            import pyarrow.feather

            pyarrow.feather.write_feather(table, name, chunksize=70)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("suffix", "engine"),
    covering(["jsonl", "jsonl.gz", "csv", "parquet", "arrow"], ["memory", "disk"]),
)
def test_the_answers_are_those_of_an_index_with_texts(engine, suffix):
    for day in range(4):
        write(f"{day}.{suffix}", rows_of(day))
    given = {"engine": engine, "work": "w" if engine == "disk" else None}
    given |= {"shingler": Shingler("word", 2, lowercase=True), "text": ["title", "text"]}
    kept = {}
    for texts in ("full", "none"):
        deduplicate_files(
            [f"0.{suffix}", f"1.{suffix}"], f"{texts}-1/", 0.6, save_index=f"{texts}.ix",
            index_texts=texts, removed=f"{texts}-1.tsv", **given,
        )  # fmt: skip
        for day in (2, 3):
            with Index.open(f"{texts}.ix") as index:
                deduplicate_with_index(
                    index, f"{day}.{suffix}", f"{texts}-{day}/", removed=f"{texts}-{day}.tsv",
                    text=["title", "text"],
                )  # fmt: skip
        with Index.open(f"{texts}.ix", read_only=True) as index:
            assert index.search_params.verify == "exact"
            items = dict(index.items())
            answers = index.query_many(list(items.values()))
        tables = [Path(f"{texts}-{day}.tsv").read_text(encoding="utf-8") for day in (1, 2, 3)]
        kept[texts] = items, answers, tables
    assert kept["full"] == kept["none"]
    assert len(kept["none"][0]) > 400
    with Index.open("none.ix") as index:
        index.copy_to("copy.ix")
    os.unlink(f"2.{suffix}")
    with Index.open("copy.ix") as index:  # this one has texts
        assert dict(index.items()) == kept["full"][0]


def test_containment():
    rows = rows_of(1)
    put_rows("a.jsonl", *rows)
    put_rows(
        "b.jsonl",
        *({"id": f"b{n}", "text": (row["text"] or "")[20:120]} for n, row in enumerate(rows)),
    )
    tables = []
    for texts in ("full", "none"):
        deduplicate_files(
            "a.jsonl", "k.jsonl", rule="contained", search="containment", save_index=f"{texts}.ix",
            index_texts=texts,
        )  # fmt: skip
        with Index.open(f"{texts}.ix") as index:
            deduplicate_with_index(index, "b.jsonl", "k2.jsonl", removed="r.tsv")
            tables.append((Path("r.tsv").read_text(encoding="utf-8"), dict(index.items())))
    assert tables[0] == tables[1]
    assert tables[0][0].count("true") > 100


def test_rows_left_out_and_documents_without_a_file():
    rows = rows_of(1)
    Path("a.jsonl").write_text(
        "".join("{bad\n" * (n % 5 == 0) + json.dumps(row) + "\n" for n, row in enumerate(rows)),
        encoding="utf-8",
    )
    deduplicate_files(
        "a.jsonl", "k.jsonl", 0.7, save_index="seen.ix", index_texts="none", on_error="skip"
    )
    with Index.open("seen.ix") as index:
        index.insert_many(["x", "y"], ["a text of no file", ""])
        assert index.insert_unique(["z"], ["a text of no file!"]).tolist() == [False]
        assert index.text("x") == "a text of no file"
        texts = dict(index.items())
    assert texts.pop("y") == ""
    assert texts.pop("x")
    assert texts == {row["id"]: row["text"] or "" for row in rows if row["id"] in texts}


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_file_that_has_changed_is_refused(engine):
    for name in "ab":
        put_rows(f"{name}.jsonl", *rows_of(name, 50))
    given = {"engine": engine, "work": "w", "save_index": "seen.ix", "index_texts": "none"}
    deduplicate_files(["a.jsonl", "b.jsonl"], "k/", 0.7, **given)
    code = Path("b.jsonl").read_bytes()
    with Index.open("seen.ix", read_only=True) as index:
        expected = index.text("b-3")
        for change, said in (
            (lambda: Path("b.jsonl").write_bytes(code + b" "), "it has changed since"),
            (lambda: os.unlink("b.jsonl"), "it is not there any more"),
        ):
            change()
            with pytest.raises(InputError, match=said) as caught:
                index.text("b-3")
            assert str(caught.value).startswith(f"{Path('b.jsonl').absolute()}: ")
            assert index.text("a-3")
        # Of the same size and time, but of other content.
        Path("b.jsonl").write_bytes(code)
        with pytest.raises(InputError, match="it has changed since"):
            index.text("b-3")
        status = os.stat("a.jsonl")
        Path("a.jsonl").write_bytes(Path("a.jsonl").read_bytes().replace(b"word1", b"word2"))
        os.utime("a.jsonl", ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(InputError, match=r"a\.jsonl: it has changed since"):
            index.text("a-3")
    assert expected
    put_rows("c.jsonl", *rows_of("b", 50))
    with Index.open("seen.ix") as index:
        before = list(index)
        with pytest.raises(InputError, match="it has changed since"):
            deduplicate_with_index(index, "c.jsonl", "k2.jsonl")
        assert list(index) == before
    assert not os.path.exists("k2.jsonl")


def test_the_commands(run):
    for name in "abc":
        put_rows(f"{name}.jsonl", *rows_of(name))
    assert run("index", "build", "seen.ix", "a.jsonl", "--texts", "none", "-q")[0] == 0
    assert run("index", "add", "seen.ix", "b.jsonl", "-q")[0] == 0
    put_rows("b2.jsonl", *rows_of("b", 20))
    assert run("index", "add", "seen.ix", "b2.jsonl", "--replace", "-q")[0] == 0
    os.unlink("b.jsonl")
    status, _, err = run("index", "query", "seen.ix", "c.jsonl")
    assert status == 2
    assert re.search(r"b\.jsonl: it is not there any more, and the index keeps no texts", err[-1])
    with Index.open("seen.ix") as index:
        assert index.text("b-3") == rows_of("b")[3]["text"]


@pytest.mark.parametrize(
    "statement",
    ["UPDATE files SET json = '[]'", "DELETE FROM files", "UPDATE blocks SET json = '[]'",
     "DELETE FROM blocks", "UPDATE documents SET content = x'00'"],
)  # fmt: skip
def test_damage(statement):
    import sqlite3

    put_rows("a.jsonl", *rows_of(1, 30))
    deduplicate_files("a.jsonl", "k.jsonl", save_index="seen.ix", index_texts="none")
    file = sqlite3.connect("seen.ix")
    with file:
        file.execute(statement)
    file.close()
    with (
        Index.open("seen.ix", read_only=True) as index,
        pytest.raises(ValueError, match=r"seen\.ix: the index is damaged"),
    ):
        index.text("1-3")
