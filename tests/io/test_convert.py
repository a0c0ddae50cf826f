"""Rows in another format: values, nesting, types that do not agree."""

import csv
import datetime
import decimal
import json
import math
import os

import numpy as np
import pytest

from combinations import covering
from fastlsh.io import InputError, read, write_rows
from fastlsh.io.convert.rows import table_rows
from files import check_rows_output, get, load_table, put, put_rows, put_table, save_table


def convert(inputs, output, to, kept=None, **keywords):
    if to == "parquet":
        pytest.importorskip("pyarrow")
    found = read(inputs, mixed=True, **keywords)
    flags = np.ones(len(found), bool) if kept is None else np.array(kept, bool)
    check_rows_output(inputs, output, convert=to)
    write_rows(found, flags, output, convert=to)


NESTED = [
    {"text": "a", "n": 1, "meta": {"tags": ["x"], "deep": {"k": 1}}, "f": True},
    {"text": "b", "n": 2.5, "meta": {"tags": [], "more": "m"}, "list": [{"p": 1}, {"q": None}]},
    {"text": None, "n": None, "meta": None, "list": []},
]


# --- to Parquet


def test_nested_json_stays_nested(here):
    put_rows("a.jsonl", *NESTED)
    convert("a.jsonl", "a.parquet", "parquet")
    table = load_table("a.parquet")
    assert table.column_names == ["text", "n", "meta", "f", "list"]
    assert str(table.schema.field("n").type) == "double"
    rows = table.to_pylist()
    assert rows[0]["meta"] == {"tags": ["x"], "deep": {"k": 1}, "more": None}
    assert rows[1]["list"] == [{"p": 1, "q": None}, {"p": None, "q": None}]
    assert rows[2] == {"text": None, "n": None, "meta": None, "f": None, "list": []}
    assert read("a.parquet").texts.to_pylist() == ["a", "b", None]


def test_types_are_those_of_the_whole_file(here):
    # Far apart, so that they are in different pieces.
    rows = [{"text": "x" * 100_000, "v": None, "s": {}} for _ in range(100)]
    put_rows("a.jsonl", *rows, {"text": "y", "v": [1], "s": {"k": [[]]}})
    convert("a.jsonl", "a.parquet", "parquet")
    table = load_table("a.parquet")
    assert str(table.schema.field("v").type).startswith("list<")
    assert table.to_pylist()[-1] == {"text": "y", "v": [1], "s": {"k": [[]]}}


@pytest.mark.parametrize(
    ("case", "far"),
    covering([
        ([1, "a"], "row 2: the value of 'v' does not fit: string, but int64 in rows before"),
        ([None, True, 2], "row 3: the value of 'v' does not fit: int64, but bool in rows before"),
        ([{"a": {"b": 1}}, {"a": {"b": "x"}}], "row 2: the value of 'v.a.b' does not fit: string"),
        ([[[1]], [["x"]]], "row 2: the value of 'v[][]' does not fit: string, but int64"),
        ([[1], {"a": 1}], "row 2: the value of 'v' does not fit: struct<a: int64>, but list<"),
        ([1, [1, "a"]], "row 2: the value of 'v' does not fit: Could not convert 'a'"),
        ([2**63], "row 1: the value of 'v' does not fit: an integer is beyond int64: write .jsonl"),
        ([2**60 + 1, 0.5], "row 1: the value of 'v' does not fit: Integer value"),
        ([0.5, 2**60 + 1], "row 2: the value of 'v' does not fit: Integer value"),
        (["a", "\ud800"], "row 2: the value of 'v' does not fit: "),
        ([{}, {}], "all objects of 'v' are empty, which Parquet does not have"),
    ], [0, 2_500_000]),
)  # fmt: skip
def test_types_that_do_not_agree(here, case, far):
    values, reason = case
    rows = [{"text": "x" * far, "v": value} for value in values]
    put_rows("a.jsonl", *rows)
    with pytest.raises(InputError) as caught:
        convert("a.jsonl", "out/", "parquet")
    path = "a.jsonl" if reason.startswith("row") else os.path.join("out/", "a.parquet")
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert os.listdir() == ["a.jsonl"]


def test_arrow_becomes_parquet(here):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["a", "b"], "when": pa.array([1, None], pa.timestamp("ms"))})
    save_table(table, "a.arrow")
    convert("a.arrow", "a.parquet", "parquet", [1, 0])
    assert load_table("a.parquet").equals(table.slice(0, 1))
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    save_table(pa.table({"text": ["a"], "u": union}), "u.arrow")
    with pytest.raises(InputError, match=r"u\.parquet: "):
        convert("u.arrow", "u.parquet", "parquet")


# --- to JSON lines


def test_columns_become_json(here):
    pa = pytest.importorskip("pyarrow")
    day = datetime.datetime(2020, 1, 2, 3, 4, 5)
    table = pa.table(
        {
            "text": ["a", None],
            "f": [math.nan, 1.5],
            "d": [day, None],
            "b": [b"\xc3\xa9", None],
            "n": [decimal.Decimal("1.10"), None],
            "s": [{"k": [1, None]}, None],
            "m": pa.array([[("x", 1)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    put_table("a.parquet", table)
    convert("a.parquet", "a.jsonl", "jsonl")
    first, second = map(json.loads, get("a.jsonl").splitlines())
    assert first == {
        "text": "a", "f": None, "d": "2020-01-02T03:04:05", "b": "é", "n": "1.10",
        "s": {"k": [1, None]}, "m": {"x": 1},
    }  # fmt: skip
    assert second == {**dict.fromkeys(table.column_names), "f": 1.5}
    put_table("b.parquet", pa.table({"text": ["a", "b"], "b": [b"a", b"\xff"]}))
    with pytest.raises(InputError, match=r"b\.parquet: row 2: the value of 'b' cannot be written"):
        convert("b.parquet", "b.jsonl", "jsonl")


OF_PARIS = "Europe/Paris"

MOMENTS = [
    ("timestamp", ["ns"], 1_700_000_000_000_000_001, "2023-11-14T22:13:20.000000001"),
    ("timestamp", ["ns"], 1_700_000_000_000_001_000, "2023-11-14T22:13:20.000001"),
    (
        "timestamp",
        ["ns", OF_PARIS],
        1_700_000_000_000_000_001,
        "2023-11-14T23:13:20.000000001+01:00",
    ),
    ("timestamp", ["us"], 253_402_300_800_000_001, "10000-01-01T00:00:00.000001"),
    ("timestamp", ["ms", OF_PARIS], 253_402_300_800_000, "10000-01-01T00:00:00+00:00"),
    ("timestamp", ["s"], 10**14, "3170843-11-07T09:46:40"),
    ("date32", [], -(10**7), "-25410-12-06"),
    ("date64", [], 10**7 * 86_400_000, "29349-01-26"),
    ("time64", ["ns"], 86_399_999_999_999, "23:59:59.999999999"),
    ("time64", ["ns"], 1000, "00:00:00.000001"),
    ("duration", ["ns"], 1, "0:00:00.000000001"),
    ("duration", ["ns"], 10**15 + 1001, "11 days, 13:46:40.000001001"),
    ("duration", ["s"], 10**14, "100000000000000 seconds"),
]
"""Functions of pyarrow, their arguments, numbers, and the text in JSON."""


@pytest.mark.parametrize(("name", "arguments", "number", "text"), MOMENTS)
def test_moments_that_python_does_not_have(here, name, arguments, number, text):
    """As text in JSON, with pandas and without it alike; and Python has no year 10000."""
    pa = pytest.importorskip("pyarrow")
    bits = "int32" if name == "date32" else "int64"
    values = pa.array([number, None, 0], bits).cast(getattr(pa, name)(*arguments))
    when = values.filter(pa.array([True, False, True]))
    columns = {
        "text": ["a", "b"], "when": when, "s": pa.StructArray.from_arrays([when], ["when"]),
        "l": pa.ListArray.from_arrays([0, 2, 3], values), "d": when.dictionary_encode(),
        "m": pa.MapArray.from_arrays([0, 1, 2], pa.array(["a", "b"]), when),
    }  # fmt: skip
    save_table(pa.table(columns), "a.arrow")
    convert("a.arrow", "a.jsonl", "jsonl")
    first, _ = map(json.loads, get("a.jsonl").splitlines())
    assert first == {
        "text": "a", "when": text, "s": {"when": text}, "l": [text, None], "d": text,
        "m": {"a": text},
    }  # fmt: skip
    collection = read("a.arrow", id="when", labels=("when",))
    assert str(collection.ids[0]).replace(" ", "T") == text.replace(" ", "T")
    assert len({*collection.labels["when"].tolist()}) == 2


@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_few_rows_of_a_table_are_objects_at_a_time(here, to, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    sizes = [0, 3, 1, 400, 0, 2, 2, 2, 2, 2]
    lists = [[{"a": n}] * size for n, size in enumerate(sizes)]
    table = pa.table({"text": [f"text {n}" for n in range(len(sizes))], "v": lists})
    put_table("in.parquet", table, row_group_size=8)
    convert(["in.parquet"], f"whole.{to}", to)
    counts = []

    def counted(table, start, stop):
        counts.append(stop - start)
        return table_rows(table, start, stop)

    monkeypatch.setattr("fastlsh.io.convert.rows._OBJECTS", 2_500)
    monkeypatch.setattr("fastlsh.io.convert.conversion.table_rows", counted)
    convert(["in.parquet"], f"parts.{to}", to)
    assert get(f"parts.{to}") == get(f"whole.{to}")
    assert counts == [3, 1, 4, 2]


def test_a_map_with_a_key_twice_is_no_object(here, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    maps = pa.array([[("x", 1)], [("x", 1), ("x", 2)]], pa.map_(pa.string(), pa.int64()))
    put_table("a.parquet", pa.table({"text": ["a", "b"], "m": maps}))
    for objects in (1 << 22, 1):  # both rows together, or one after the other
        monkeypatch.setattr("fastlsh.io.convert.rows._OBJECTS", objects)
        with pytest.raises(InputError, match=r"a\.parquet: row 2: a value .*duplicate key was 'x'"):
            convert("a.parquet", "a.jsonl", "jsonl")


def test_texts_become_rows(here):
    pytest.importorskip("pyarrow")
    put("d/a.txt", "x\ny")
    put("d/b.txt", "")
    convert("d", "out/", "jsonl", [1, 0])
    assert json.loads(get("out/a.jsonl")) == {"id": os.path.join("d", "a.txt"), "text": "x\ny"}
    assert get("out/b.jsonl") == b""
    convert("d", "all.parquet", "parquet")
    assert load_table("all.parquet").column("text").to_pylist() == ["x\ny", ""]


# --- to CSV


def test_json_becomes_csv(here):
    put_rows("a.jsonl", *NESTED, {"z": "\r", "text": '"q", é'})
    convert("a.jsonl", "a.csv", "csv")
    with open("a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["text", "n", "meta", "f", "list", "z"]
    assert rows[0] == {
        "text": "a", "n": "1", "meta": '{"tags": ["x"], "deep": {"k": 1}}', "f": "true",
        "list": "", "z": "",
    }  # fmt: skip
    assert json.loads(rows[1]["list"]) == NESTED[1]["list"]
    assert (rows[3]["text"], rows[3]["z"]) == ('"q", é', "\r")
    assert read("a.csv").texts == ["a", "b", "", '"q", é']


def test_lone_surrogates_are_refused(here):
    put("a.jsonl", '{"text": "a"}\n{"text": "\\ud800"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl: row 2: the value of 'text' cannot be written"):
        convert("a.jsonl", "a.csv", "csv")


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_a_message_names_the_row_of_the_input(here, to):
    """Wherever its row would be in the output."""
    pytest.importorskip("pyarrow")
    put_rows("a.jsonl", *[{"text": f"{number}"} for number in range(9)])
    put("b.jsonl", '{"text": "b"}\n\n[]\n{"text": "left out"}\n{"text": "\\ud800"}\n')
    for output in f"all.{to}", "out/":
        kept = [number in (0, 8, 9, 11) for number in range(12)]
        with pytest.raises(InputError, match=r"^b\.jsonl: row 5: the value of 'text' "):
            convert(["a.jsonl", "b.jsonl"], output, to, kept, on_error="skip")


def test_a_null_as_the_only_column_is_a_row(here):
    put_rows("a.jsonl", {"text": None}, {"text": "b"})
    convert("a.jsonl", "a.csv", "csv")
    assert len(read("a.csv")) == 2


# --- all of them


@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("kept", [[0, 0], [0, 1]])
def test_what_is_written_can_be_read(here, to, kept):
    put_rows("d/a.jsonl", {"text": "a"}, {"text": "b"})
    put("d/b.csv", "text\na\nb\n")
    put("d/c.tsv", "text\na\nb\n")
    put("d/e.txt", "b")
    convert("d", "out/", to, [*kept * 3, kept[1]])
    assert sorted(os.listdir("out")) == [f"{name}.{to}" for name in "abce"]
    found = read("out")
    assert list(map(str, found.texts)) == ["b"] * 4 * kept[1]


def test_columns_of_one_name(here):
    pa = pytest.importorskip("pyarrow")
    put_table("a.parquet", pa.table([["a"], [1], [2]], names=["text", "n", "n"]))
    with pytest.raises(InputError, match=r"a\.parquet: 2 columns are named 'n'"):
        convert("a.parquet", "a.csv", "csv")
