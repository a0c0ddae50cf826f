"""Rows that say of which cluster they are: against a count by hand, in memory and on disk."""

import pytest

from fastlsh import InputError, deduplicate_files
from files import put_table, table_rows
from in_stages import both_engines

parquet = pytest.importorskip("pyarrow.parquet")


def annotated(folder, inputs, output="all.jsonl", **keywords):
    """Run both engines, which write the same bytes; return the result and where it is."""
    tables = ("removed.jsonl",)
    keywords["annotate"] = True
    result, _ = both_engines(deduplicate_files, folder, inputs, output, *tables, **keywords)
    return result, folder / "disk"


TEXTS = ["one text that is here twice", "another one", "one text that is here twice", ""]


@pytest.mark.exhaustive
@pytest.mark.parametrize("ids", [[7, 8, 9, 10], ["7", "b,", "9", "10"]])
def test_other_formats(tmp_path, ids):
    rows = [{"id": name, "text": text} for name, text in zip(ids, TEXTS, strict=True)]
    for name in ("a.parquet", "a.csv"):
        put_table(tmp_path / name, rows)
    (tmp_path / "1").mkdir()
    _, place = annotated(tmp_path / "1", tmp_path / "a.parquet", "all.parquet")
    table = parquet.read_table(place / "all.parquet")
    assert table["duplicate_of"].to_pylist() == [None, None, ids[0], None]
    assert str(table.schema.field("duplicate_of").type) == ("int64" if ids[0] == 7 else "string")
    assert table["cluster_size"].to_pylist() == [2, 1, 2, 1]
    (tmp_path / "2").mkdir()
    _, place = annotated(tmp_path / "2", tmp_path / "a.csv", "all.csv")
    rows = table_rows(place / "all.csv")
    assert [(r["duplicate_of"], r["similarity"], r["cluster_size"]) for r in rows] == [
        ("", "", "2"), ("", "", "1"), ("7", "1.0", "2"), ("", "", "1"),
    ]  # fmt: skip


def test_what_cannot_be_annotated(tmp_path):
    (tmp_path / "a.txt").write_text("a text", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"text": "a", "cluster_size": 3}\n', encoding="utf-8")
    for engine in ("memory", "disk"):
        with pytest.raises(InputError, match="plain text has no columns"):
            deduplicate_files(tmp_path / "a.txt", f"{tmp_path}/out/", engine=engine, annotate=True)
        with pytest.raises(InputError, match="row 1: there is a column 'cluster_size' already"):
            deduplicate_files(
                tmp_path / "a.jsonl", tmp_path / "b.jsonl", engine=engine, annotate=True
            )
    assert not (tmp_path / "b.jsonl").exists()
    assert not (tmp_path / "out").exists()


def test_copies_and_annotations_contradict_each_other(tmp_path):
    with pytest.raises(ValueError, match="max_copies has no effect"):
        deduplicate_files("a.jsonl", tmp_path / "b.jsonl", max_copies=2, annotate=True)
    with pytest.raises(ValueError, match="max_copies"):
        deduplicate_files("a.jsonl", tmp_path / "b.jsonl", max_copies=0)
