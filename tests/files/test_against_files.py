"""The files of `against`: columns of other names, and the table that says where a copy is."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

import fastlsh
from combinations import covering
from fastlsh import deduplicate_files, deduplicate_line_files, deduplicate_span_files
from files import put_rows, put_table, table_rows
from refusals import refuses

TEXTS = [f"{word} text that nobody else has written down before" * 2 for word in ("One", "Its")]
COLUMNS = {"against_text": "question", "against_id": "key"}


@pytest.fixture
def inputs(here):
    """Two documents, the second of which is in each of the reference collections."""
    rows = [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)]
    for suffix in ("jsonl", "csv", "parquet"):
        other = [{"key": "q", "hint": TEXTS[0], "question": TEXTS[1]}]
        put_table(f"known.{suffix}", other)
    return put_rows("in.jsonl", *rows)


@pytest.mark.parametrize(
    ("suffix", "engine"), covering(["jsonl", "csv", "parquet"], ["memory", "disk"])
)
def test_every_job_reads_them(inputs, engine, suffix):
    some = {"against": f"known.{suffix}", "engine": engine, "memory": "300M", **COLUMNS}
    for run in (
        partial(fastlsh.deduplicate_files, inputs, "kept.jsonl"),
        partial(fastlsh.deduplicate_line_files, inputs, "kept.jsonl"),
        partial(fastlsh.deduplicate_span_files, inputs, "kept.jsonl", 60, keep_least=1),
    ):
        run(removed="gone.jsonl", **some)
        kept = [json.loads(line) for line in Path("kept.jsonl").read_text().splitlines()]
        assert [row["id"] for row in kept if row["text"]] == ["0"]
        (gone,) = map(json.loads, Path("gone.jsonl").read_text().splitlines())
        assert (gone["id"], gone["kept_id"], gone["against"]) == ("1", "q", True)
        if "start" not in gone:
            (pair,) = fastlsh.audit_files(
                inputs, "gone.jsonl", against=some["against"], **COLUMNS
            ).pairs
            assert (pair.text, pair.kept_text) == (TEXTS[1], TEXTS[1])
    fastlsh.near_duplicate_files(inputs, "pairs.tsv", **some)
    assert Path("pairs.tsv").read_text() == "id_a\tid_b\tjaccard\n1\tq\t1.000000\n"


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_several_columns_with_messages(here, engine):
    chats = [
        [{"role": "user", "content": text}, {"role": "tool", "content": str(n)}]
        for n, text in enumerate([*TEXTS, TEXTS[1]])
    ]
    put_rows("in.jsonl", *({"a": a, "b": b} for a, b in zip(TEXTS, chats, strict=False)))
    put_rows("known.jsonl", {"q": TEXTS[1], "chat": chats[2]})
    result = fastlsh.deduplicate_files(
        "in.jsonl", "kept.jsonl", text=["a", "b"], against="known.jsonl", roles=["user"],
        against_text=["q", "chat"], engine=engine,
    )  # fmt: skip
    assert result.n_kept == 1
    assert json.loads(Path("kept.jsonl").read_text())["a"] == TEXTS[0]


def test_another_column_is_another_run(inputs):
    put_rows("both.jsonl", {"key": "q", "hint": TEXTS[0], "question": TEXTS[1]})
    run = partial(fastlsh.deduplicate_files, inputs, "k.jsonl", against="both.jsonl", engine="disk")
    kept = [run(against_text=name, keep_work=True, work=name).n_kept for name in ("hint", "key")]
    assert kept == [1, 2]
    refuses(fastlsh.InputError, "run of another job", run, against_text="question", work="hint")


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_messages(inputs, suffix):
    run = partial(fastlsh.deduplicate_files, inputs, "k.jsonl", against=f"known.{suffix}")
    for columns, said in (
        ({}, rf"known.{suffix}: .*no (key|column) 'text' .*; against_text= names the column"),
        ({"id": "id", "against_text": "hint"}, "no .* 'id' .*; against_id= names the column"),
    ):
        refuses(fastlsh.InputError, said, run, **columns)
    with pytest.raises(fastlsh.InputError, match=r"no key 'other' \(there is: 'id', 'text'\)$"):
        run(text="other", **COLUMNS)
    for name in COLUMNS:
        with pytest.raises(ValueError, match=f"{name}= names a column of the reference files"):
            fastlsh.deduplicate_files(inputs, "k.jsonl", **{name: "question"})
    with pytest.raises(ValueError, match="group= names the documents: leave out against_id="):
        run(group="id", against_id="key")


HERE = ["a line that only the inputs have, twice", "a line of the reference collection alone"]


def table(path):
    """Return (id, kept_id, against) of each row, with Python's values."""
    rows = table_rows(path)
    if path.endswith("sv"):
        words = {"true": True, "false": False}
        for row in rows:
            row.update(
                id=int(row["id"]), kept_id=int(row["kept_id"]), against=words[row["against"]]
            )
    assert all(list(row)[-1] == "against" for row in rows)
    return [(row["id"], row["kept_id"], row["against"]) for row in rows]


@pytest.fixture
def collections(here):
    """Two collections with the ids 0, 1 and 2."""
    texts = [HERE[0], HERE[1], HERE[0]]
    put_rows("in.jsonl", *({"id": n, "text": text} for n, text in enumerate(texts)))
    put_rows("old.jsonl", {"id": 0, "text": HERE[1]})
    return here


@pytest.mark.parametrize(
    ("engine", "suffix", "by"),
    covering(["memory", "disk"], ["tsv", "csv", "jsonl", "parquet"], [None, "line"]),
)
def test_which_collection_the_kept_document_is_in(collections, engine, suffix, by):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    name = f"removed.{suffix}"
    shared = {"against": "old.jsonl", "removed": name, "engine": engine}
    if by is None:
        deduplicate_files("in.jsonl", "kept.jsonl", **shared)
    else:
        deduplicate_line_files("in.jsonl", "kept.jsonl", by, **shared)
    assert table(name) == [(1, 0, True), (2, 0, False)]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_one_warning_if_the_reference_collection_leaves_nothing(collections, engine):
    shutil.copy("in.jsonl", "copy.jsonl")
    for function, name, more in (
        (deduplicate_files, "document", {}),
        (deduplicate_files, "document", {"copies_per": ("text", 1)}),
        (deduplicate_line_files, "line", {}),
        (deduplicate_span_files, "document", {"min_length": 30, "keep_least": 1}),
    ):
        with pytest.warns(UserWarning, match="because of against=") as said:
            function("in.jsonl", "k.jsonl", against="copy.jsonl", engine=engine, **more)
        (message,) = [str(each.message) for each in said]
        assert message.startswith(f"every {name} of the inputs is removed because of against=")
        assert table_rows("k.jsonl") == [] or name == "line"
    put_rows("more.jsonl", *table_rows("in.jsonl"), {"id": 9, "text": "quite another text"})
    deduplicate_files("more.jsonl", "k.jsonl", against="copy.jsonl", engine=engine)
    assert [row["id"] for row in table_rows("k.jsonl")] == [9]


def test_nothing_is_removed(collections):
    put_rows("other.jsonl", {"id": 0, "text": "quite another text"})
    for engine in ("memory", "disk"):
        deduplicate_files(
            "old.jsonl", "kept.jsonl", against="other.jsonl", removed="r.tsv", engine=engine
        )
        with open("r.tsv", encoding="utf-8") as file:
            assert file.read() == "id\tkept_id\tjaccard\tagainst\n"
