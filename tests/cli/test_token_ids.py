"""Documents of token ids on the command line: the answer of the API, and bad rows."""

import numpy as np
import pytest

import fastlsh
from files import put_rows as put
from files import put_table, table_rows


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


SHINGLER = fastlsh.Shingler("token", 3)


def documents():
    draw = np.random.default_rng(3)
    originals = [draw.integers(0, 60_000, n).tolist() for n in (0, 2, 30, 40, 90, 200)]
    copies = [[*ids[: len(ids) // 2], 2**64 - 1, *ids[len(ids) // 2 :]] for ids in originals]
    return [*originals, *copies, [2**64 - 1, 0, 7], []]


def table(found):
    lines = [f"{a}\t{b}\t{similarity:.6f}" for a, b, similarity in found]
    return "\n".join(["id_a\tid_b\tjaccard", *lines, ""])


def as_file(pa, kind):
    if kind == "jsonl":
        return put("a.jsonl", *({"id": i, "ids": ids} for i, ids in enumerate(documents())))
    ids = pa.array(documents(), pa.large_list(pa.uint64()))
    how = {"arrow": {"max_chunksize": 4}, "parquet": {"row_group_size": 5}}[kind]
    return put_table(f"a.{kind}", pa.table({"id": range(len(ids)), "ids": ids}), **how)


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow"])
def test_the_same_pairs_as_by_the_api(run, pa, kind, engine):
    expected = fastlsh.near_duplicates(documents(), 0.6, shingler=SHINGLER)
    assert len(expected) >= 3
    name = as_file(pa, kind)
    status, out, err = run(
        "pairs", name, "--text", "ids", "--unit", "token", "--size", 3, "--threshold", 0.6,
        "--engine", engine, "--work", "work", "-o", "out.tsv",
    )  # fmt: skip
    assert (status, out) == (0, ""), err
    with open("out.tsv", encoding="utf-8") as file:
        assert file.read() == table(expected)


def test_explain_and_evaluate(run):
    put("a.jsonl", {"id": "a", "text": [1, 2, 3, 4]}, {"id": "b", "text": [1, 2, 3, 5]})
    given = ("--unit", "token", "--size", 2)
    out, _ = run.done("explain", "a.jsonl", "a", "b", *given)
    assert "0.5000 (2 of 4 shingles)" in out
    status, out, _ = run("evaluate", "a.jsonl", *given)
    assert (status, out.splitlines()[0]) == (0, "2 documents, 0 empty")


IDS = "expected whole numbers from 0 to 2**64 - 1"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([1, -2], f"'text' has -2 among its ids, {IDS}"),
        ([1, 2.0], f"'text' has 2.0 among its ids, {IDS}"),
        ([1, None], f"'text' has null among its ids, {IDS}"),
        ([True], f"'text' has true among its ids, {IDS}"),
        ([[1]], f"'text' has an array among its ids, {IDS}"),
        ([{}], f"'text' has an object among its ids, {IDS}"),
        (["1"], f"'text' has a string among its ids, {IDS}"),
        ([2**64], f"'text' has {2**64} among its ids, {IDS}"),
        ("1 2", "'text' is no array of token ids"),
        (7, "'text' is no array of token ids"),
    ],
)
def test_bad_rows_of_json(run, value, reason):
    put("a.jsonl", {"text": [1, 2]}, {"text": value}, {"text": None})
    status, out, err = run("pairs", "a.jsonl", "--unit", "token", "-q")
    assert (status, out, err) == (2, "", [f"fastlsh: a.jsonl: row 2: {reason}"])
    _, err = run.done("pairs", "a.jsonl", "--unit", "token", "--size", 2, "--on-error", "skip")
    assert err[1].startswith("fastlsh: 2 documents, 1 empty, 1 row skipped: 0 pairs; ")


@pytest.mark.parametrize(
    ("rows", "kind", "reason"),
    [
        ([[1], [2, -3, -4], [-5]], "int32", f"row 2: 'text' has the id -3, {IDS}"),
        ([[], None, [1], [2, None]], "int64", f"row 4: 'text' has null among its ids, {IDS}"),
        ([[None]], "null", f"row 1: 'text' has null among its ids, {IDS}"),
        ([[1.5]], "double", "column 'text' is list<item: double>, not lists of token ids, which"
         " are whole numbers"),
        ([["a"]], "string", "column 'text' is list<item: string>, not lists of token ids, which"
         " are whole numbers"),
    ],
)  # fmt: skip
def test_bad_columns(run, pa, rows, kind, reason):
    column = pa.array(rows, pa.list_(pa.field("item", pa.type_for_alias(kind))))
    put_table("a.parquet", pa.table({"text": column}))
    status, out, err = run("pairs", "a.parquet", "--unit", "token", "-q")
    assert (status, out) == (2, "")
    # pyarrow writes the one name or the other.
    assert [line.replace("element: ", "item: ") for line in err] == [
        f"fastlsh: a.parquet: {reason}"
    ]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_files_without_lists(run, name):
    with open(name, "w", encoding="utf-8") as file:
        file.write("text\n1 2 3\n")
    status, _, err = run("pairs", name, "--unit", "token", "-q")
    assert status == 2
    kind = name.partition(".")[2]
    wrong = f"a {kind} file has no lists of token ids: give .parquet, .arrow or .jsonl"
    assert err == [f"fastlsh: {name}: {wrong}"]


def test_who_forgets_the_unit_is_told(run):
    put("a.jsonl", {"text": [1]})
    assert run("pairs", "a.jsonl")[2][-1].endswith("not a string (token ids need --unit=token)")
    put_table("a.parquet", [{"text": [1]}])
    told = run("pairs", "a.parquet")[2][-1]
    assert told.endswith("not text (lists of token ids need --unit=token)")


def test_many_ids_in_pieces(monkeypatch, pa):
    from fastlsh.io import record_texts

    monkeypatch.setattr(record_texts, "MOST_IDS", 5)
    rows = [[1, 2, 3], [], None, [4] * 9, [5, None], [6], [-7, 8]]
    words, bad = record_texts.words_of_column("x", pa.chunked_array([rows[:2], rows[2:]]))
    assert words.to_pylist()[:4] == ["1 2 3", "", "", "4 4 4 4 4 4 4 4 4"]
    assert {row: reason.partition(",")[0] for row, reason in bad.items()} == {
        4: "'x' has null among its ids", 6: "'x' has the id -7",
    }  # fmt: skip


def test_indexes(run):
    size = ["--unit", "token", "--size", 3, "--threshold", 0.6]
    rows = [{"id": str(i), "text": ids} for i, ids in enumerate(documents())]
    put("a.jsonl", *rows[:6])
    put("b.jsonl", *rows[6:], {"id": "none", "text": None})
    assert run("index", "build", "a.ix", "a.jsonl", *size, "-q")[0] == 0
    index = fastlsh.Index(0.6, shingler=SHINGLER)
    index.insert_many([row["id"] for row in rows[:6]], documents()[:6])
    expected = [
        f"{row['id']}\t{match}\t{similarity:.6f}"
        for row in rows[6:]
        for match, similarity in index.query(row["text"])
    ]
    assert len(expected) >= 3
    for options in ([], size):  # the index knows what its documents are
        status, out, err = run("index", "query", "a.ix", "b.jsonl", *options)
        assert (status, out.splitlines()[1:]) == (0, expected), err
    outputs = ["-o", "k.jsonl", "--report", "r.html"]
    _, err = run.done("dedup", "b.jsonl", "--index", "a.ix", *outputs)
    kept = [row["id"] for row in table_rows("k.jsonl")]
    found = {line.split("\t")[0] for line in expected}
    assert kept == [row["id"] for row in rows[6:] if row["id"] not in found] + ["none"]
    put("c.jsonl", {"id": "large", "text": [2**64 - 1, 2**63, 0]})
    assert run("index", "add", "a.ix", "c.jsonl", "-q")[0] == 0
    with fastlsh.Index.open("a.ix", shingler=SHINGLER, threshold=0.6) as saved:
        assert saved.query([2**64 - 1, 2**63, 0]) == [("large", 1.0)]
