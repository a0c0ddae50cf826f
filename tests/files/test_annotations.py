"""Rows that say of which cluster they are: against a count by hand, in memory and on disk."""

from collections import Counter

import pytest

from combinations import every
from fastlsh import InputError, deduplicate_files
from files import put_table, table_rows
from in_stages import both_engines
from shards import rows_of, small_budget, write_shards

parquet = pytest.importorskip("pyarrow.parquet")


def annotated(folder, inputs, output="all.jsonl", **keywords):
    """Run both engines, which write the same bytes; return the result and where it is."""
    tables = ("removed.jsonl",)
    keywords["annotate"] = True
    result, _ = both_engines(deduplicate_files, folder, inputs, output, *tables, **keywords)
    return result, folder / "disk"


def check(rows, proofs, originals, outside=()):
    """Compare rows with the table of removed documents."""
    gone = {proof["id"]: proof for proof in proofs}
    size = Counter(proof["kept_id"] for proof in proofs)
    assert len(gone) == len(proofs)
    assert len(rows) == len(originals)
    for row, original in zip(rows, originals, strict=True):
        proof = gone.get(row["id"], {"kept_id": None, "jaccard": None})
        cluster = proof["kept_id"] or row["id"]
        assert row == {
            **original, "duplicate_of": proof["kept_id"], "similarity": proof["jaccard"],
            "cluster_size": 1 + size[cluster],
        }  # fmt: skip


@pytest.mark.parametrize(
    "search", every(4, [{}, {"keep": "last"}, {"rule": "equal"}, {"verify": "none"}], 1)
)
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_rows_of_one_file(tmp_path, monkeypatch, search):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(3, 50), 3)
    result, place = annotated(tmp_path, inputs, threshold=0.7, **search)
    originals = [row for path in inputs for row in table_rows(path)]
    rows, proofs = table_rows(place / "all.jsonl"), table_rows(place / "removed.jsonl")
    assert len(proofs) == result.n_removed > 0
    check(rows, proofs, originals)


def test_the_kept_rows_are_those_of_a_plain_run(tmp_path):
    inputs = write_shards(tmp_path, rows_of(4, 50), 2)
    deduplicate_files(inputs, tmp_path / "kept.jsonl", 0.7)
    _, place = annotated(tmp_path, inputs, "all/", threshold=0.7)
    kept = [row["id"] for row in table_rows(tmp_path / "kept.jsonl")]
    shards = [path for path in sorted((place / "all").iterdir()) if path.suffix == ".jsonl"]
    assert [r["id"] for path in shards for r in table_rows(path) if not r["duplicate_of"]] == kept


def test_duplicates_of_a_reference_collection(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(6, 48), 2)
    (tmp_path / "old").mkdir()
    (against,) = write_shards(tmp_path / "old", rows_of(6, 18), 1)
    rows = [{**row, "id": f"old-{row['id']}"} for row in table_rows(against)]
    put_table(against, rows)
    _, place = annotated(tmp_path, inputs, threshold=0.7, against=against)
    rows, proofs = table_rows(place / "all.jsonl"), table_rows(place / "removed.jsonl")
    assert {proof["against"] for proof in proofs} == {True, False}
    check(rows, proofs, [row for path in inputs for row in table_rows(path)])


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


@pytest.mark.parametrize(
    "more", every(3, [{}, {"keep": "last"}, {"priority": "score"}], 2), ids=str
)
def test_some_documents_of_each_cluster_stay(tmp_path, monkeypatch, more):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(8, 28), 2)
    _, place = annotated(tmp_path, inputs, threshold=0.6, **more)
    rows = table_rows(place / "all.jsonl")
    score = {"keep": lambda n: n, "priority": lambda n: (rows[n]["score"], -n)}
    rank = score.get(next(iter(more), ""), lambda n: -n)
    members = {}
    for number in sorted(range(len(rows)), key=rank, reverse=True):
        row = rows[number]
        members.setdefault(row["duplicate_of"] or row["id"], []).append(number)
    largest = max(map(len, members.values()))
    assert largest > 3
    for copies in (1, 2, largest):
        stay = {rows[n]["id"] for numbers in members.values() for n in numbers[:copies]}
        for engine in ("memory", "disk"):
            out = tmp_path / f"{copies}-{engine}.jsonl"
            result = deduplicate_files(
                inputs, out, 0.6, max_copies=copies, engine=engine, work=tmp_path / "work",
                removed=tmp_path / "removed.jsonl", **more,
            )  # fmt: skip
            assert {row["id"] for row in table_rows(out)} == stay
            assert (result.n_kept, result.n_removed) == (len(stay), len(rows) - len(stay))
            removed = {row["id"] for row in table_rows(tmp_path / "removed.jsonl")}
            assert removed == {row["id"] for row in rows} - stay


def test_copies_and_annotations_contradict_each_other(tmp_path):
    with pytest.raises(ValueError, match="max_copies has no effect"):
        deduplicate_files("a.jsonl", tmp_path / "b.jsonl", max_copies=2, annotate=True)
    with pytest.raises(ValueError, match="max_copies"):
        deduplicate_files("a.jsonl", tmp_path / "b.jsonl", max_copies=0)
