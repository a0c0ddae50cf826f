"""Files of several formats in one output: arrays, lines, CSV, Parquet, and the keys of paths."""

import json
import warnings
from pathlib import Path

import pytest

from combinations import every
from fastlsh import InputError, deduplicate_files
from files import put_table, table_rows
from in_stages import ENGINES, both_engines

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SUFFIXES = ("json", "jsonl", "csv", "tsv", "parquet", "arrow")
NULL = "__HIVE_DEFAULT_PARTITION__"
ROWS = [
    {"id": 1, "text": "the first of the rows, with\na line break", "n": 1.5, "more": {"a": [1]}},
    {"id": 2, "text": "the second of them, with a \u2028 and a \\ in it", "n": None, "more": None},
    {"id": 3, "text": "the third one", "n": 3.0, "more": {"a": []}},
]
PLAIN = [{"id": row["id"], "text": row["text"]} for row in ROWS]


def read(path):
    """Return the rows of a file; fields of CSV are text, and None if they are empty."""
    rows = table_rows(path)
    if path.suffix in (".csv", ".tsv"):
        return [{name: value or None for name, value in row.items()} for row in rows]
    if path.suffix in (".json", ".jsonl"):
        assert path.read_text().startswith("[\n") == (path.suffix == ".json")
    return rows


def as_text(rows):
    """Return rows as CSV has them."""

    def cell(value):
        return value if value is None or isinstance(value, str) else json.dumps(value)

    return [{name: cell(value) for name, value in row.items()} for row in rows]


def alike(inputs, folder, suffix, **more):
    """Return the rows of an output that is the same on every engine."""
    name = f"kept.{suffix}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "columns are missing")
        both_engines(deduplicate_files, folder, inputs, name, engines=ENGINES, rule="equal", **more)
    return read(folder / "memory" / name)


@pytest.mark.filterwarnings("ignore:columns are missing")
def test_an_array_becomes_every_format_and_is_made_of_every_format(tmp_path):
    array = put_table(tmp_path / "in.json", ROWS, indent=1)
    for suffix in SUFFIXES:
        made = tmp_path / f"made.{suffix}"
        deduplicate_files(array, made, rule="equal")
        rows = as_text(ROWS) if suffix in ("csv", "tsv") else ROWS
        assert read(made) == rows, suffix
        back = tmp_path / f"{suffix}.json"
        if suffix == "jsonl":  # lines of JSON stay lines, whatever their name is
            deduplicate_files(
                [made, put_table(tmp_path / "more.csv", PLAIN[:1])], back, rule="equal"
            )
            assert read(back)[:3] == ROWS
        else:
            deduplicate_files(made, back, rule="equal")
            assert [{n: v or None for n, v in row.items()} for row in read(back)] == rows, suffix


@pytest.mark.parametrize("suffix", every(2, SUFFIXES))
def test_arrays_and_lines_and_csv_and_parquet(tmp_path, suffix):
    inputs = [
        put_table(tmp_path / "in" / "0.json", ROWS[:1], indent=1),
        put_table(tmp_path / "in" / "1.jsonl", [{"text": "a line of JSON", "id": 4, "new": True}]),
        put_table(
            tmp_path / "in" / "2.parquet", [{"id": 5, "text": "of Parquet", "n": 5.0}, PLAIN[0]]
        ),
    ]
    rows = [
        {**ROWS[0], "new": None},
        {"id": 4, "text": "a line of JSON", "n": None, "more": None, "new": True},
        {"id": 5, "text": "of Parquet", "n": 5.0, "more": None, "new": None},
    ]
    if suffix in ("csv", "tsv", "json", "jsonl"):  # where all is text, or has its own keys
        inputs.append(put_table(tmp_path / "in" / "3.csv", [{"text": "of CSV", "extra": "x"}]))
        rows = [{**row, "extra": None} for row in rows]
        last = dict.fromkeys(rows[0]) | {"text": "of CSV", "extra": "x"}
        rows.append(last)
    found = alike(inputs, tmp_path, suffix)
    if suffix in ("json", "jsonl"):
        assert [{n: v for n, v in row.items() if v is not None} for row in found] == [
            {n: v for n, v in row.items() if v is not None} for row in rows
        ]
    else:
        assert found == (as_text(rows) if suffix in ("csv", "tsv") else rows)


@pytest.mark.parametrize("suffix", every(2, SUFFIXES))
def test_keys_of_paths_are_joined_with_columns(tmp_path, suffix):
    folder = tmp_path / "in"
    put_table(folder / f"lang=de/year={NULL}" / "a.json", PLAIN[:1], indent=1)
    own = [{"lang": "en", "text": "its own language", "id": 7}, {"text": "the path's", "id": 8}]
    put_table(folder / "lang=en/year=2023" / "b.jsonl", own)
    put_table(folder / "lang=en/year=2024" / "c.parquet", [{"year": 2024, "text": "its own year"}])
    put_table(folder / "lang=en/year=2025" / "d.csv", [{"text": "neither", "kind": "k"}])
    order = ("id", "text", "lang", "year", "kind")
    rows = [dict(zip(order, row, strict=True)) for row in (
        (1, ROWS[0]["text"], "de", None, None),
        (7, "its own language", "en", 2023, None),
        (8, "the path's", "en", 2023, None),
        (None, "its own year", "en", 2024, None),
        (None, "neither", "en", 2025, "k"),
    )]  # fmt: skip
    found = alike(folder, tmp_path, suffix, annotate=True)
    for row in found:
        assert (row.pop("duplicate_of"), row.pop("similarity")) == (None, None)
        assert int(row.pop("cluster_size")) == 1
    if suffix in ("json", "jsonl"):
        found = [{name: row.get(name) for name in order} for row in found]
    assert found == (as_text(rows) if suffix in ("csv", "tsv") else rows)


def test_keys_of_paths_that_some_files_do_not_have(tmp_path):
    folder = tmp_path / "in"
    plain = put_table(tmp_path / "plain.csv", PLAIN[:1])
    put_table(folder / "lang=en" / "b.csv", [{"id": 9, "text": "below a key"}])
    output = tmp_path / "kept.csv"
    with pytest.warns(UserWarning, match=r"missing in 1 of 2 files, .*plain.csv: .*value of lang"):
        deduplicate_files([plain, folder], output, rule="equal")
    assert [row["lang"] for row in read(output)] == [None, "en"]


def test_a_key_of_a_path_that_is_no_number_elsewhere(tmp_path):
    folder = tmp_path / "in"
    put_table(folder / "year=2023" / "a.parquet", [{"id": 1, "text": "the path has it"}])
    put_table(folder / "year=2024" / "b.parquet", [{"id": 2, "text": "it has it", "year": "2024"}])
    message = r"b.parquet: the column 'year' is string, but int64 in .*a.parquet"
    for engine in ("memory", "disk"):
        with pytest.raises(InputError, match=message):
            deduplicate_files(folder, tmp_path / "kept.parquet", rule="equal", engine=engine)
    assert not (tmp_path / "kept.parquet").exists()


def test_an_id_that_is_in_the_path_of_each_converted_file(tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    put_table(folder / "lang=en" / "a.parquet", PLAIN)
    output.mkdir()
    deduplicate_files(folder, output, rule="equal", within="lang", id="lang", convert_to="jsonl")
    assert read(output / "lang=en" / "a.jsonl") == PLAIN


def test_plain_text_before_other_files(tmp_path):
    text = tmp_path / "in" / "0.txt"
    lines = put_table(tmp_path / "in" / "1.jsonl", [{"id": "2", "text": "a line", "more": 1}])
    text.write_text("a whole file")
    for suffix in ("jsonl", "json", "parquet", "csv"):
        found = alike([text, lines], tmp_path, suffix)
        assert found[0]["text"] == "a whole file"
        assert Path(found[0]["id"]).name == "0.txt"
        assert str(found[1]["more"]) == "1"
