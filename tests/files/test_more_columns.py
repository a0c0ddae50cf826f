"""What tables of pairs have besides ids: pairs that are chosen, columns of rows, and components."""

import pytest

from combinations import covering
from fastlsh import InputError, matches, near_duplicate_files, near_duplicates
from files import put_table, table_rows
from in_stages import ENGINES, run_with
from shards import rows_of, small_budget, write_shards

parquet = pytest.importorskip("pyarrow.parquet")


def run(folder, how, inputs, **keywords):
    """Write pairs.jsonl in one of three ways; return the result and its rows."""
    keywords |= {"work": folder / "work", "threshold": 0.6}
    result = run_with(how, near_duplicate_files, inputs, folder / "pairs.jsonl", **keywords)
    return result, table_rows(folder / "pairs.jsonl")


@pytest.mark.parametrize(("how", "estimates"), covering(ENGINES, [False, True]))
def test_one_to_one_takes_the_most_similar_pair_first(tmp_path, monkeypatch, how, estimates):
    small_budget(monkeypatch)
    rows = rows_of(31, 150)
    for row in rows:
        row["id"] = int(row["id"][1:])
    inputs, known = (
        write_shards(tmp_path, some, 2, name)
        for some, name in ((rows[70:], "in"), (rows[:70], "known"))
    )
    result, found = run(tmp_path, how, inputs, against=known, one_to_one=True, estimates=estimates)
    texts = [row["text"] for row in rows]
    every = sorted(matches(texts[70:], texts[:70], 0.6), key=lambda pair: (-pair[2], pair[:2]))
    expected, left, right = [], set(), set()
    for a, b, similarity in every:
        if a not in left and b not in right:
            left.add(a)
            right.add(b)
            expected.append((a + 70, b, similarity))
    assert [(row["id_a"], row["id_b"], row["jaccard"]) for row in found] == sorted(expected)
    assert ("estimate" in found[0]) == estimates
    assert result.n_pairs == result.documents_in_pairs == len(expected) < len(every)
    chosen = matches(texts[70:], texts[:70], 0.6, one_to_one=True)
    assert [(a + 70, b, s) for a, b, s in chosen] == sorted(expected)


VALUES = {
    "n": [3, None, -4],
    "price": [1.5, 2, None],
    "tags": [["a", None], [], None],
    "m": [{"k": "ä\n"}, {}, None],
}


@pytest.mark.parametrize(
    ("how", "suffix", "group"), covering(ENGINES, ["jsonl", "csv", "parquet"], [False, True])
)
def test_columns_of_both_rows(tmp_path, monkeypatch, how, suffix, group):
    small_budget(monkeypatch)
    rows = rows_of(32, 90)
    for number, row in enumerate(rows):
        row |= {name: values[number % 3] for name, values in VALUES.items()}
    names = ["n", "price", "tags", "m.k"]
    if suffix == "csv":
        rows = [{"id": row["id"], "text": row["text"] or "", "n": str(row["n"])} for row in rows]
        names = ["n"]
    paths = [put_table(tmp_path / f"in.{suffix}", rows)]
    known = write_shards(tmp_path, rows[:20], 1, "known") if group else ()
    _, found = run(tmp_path, how, paths, columns=names, against=known)
    assert len(found) > 10
    by_id = {row["id"]: row for row in rows}
    for row in found:
        for side in "ab":
            truth = by_id[row[f"id_{side}"]]
            truth = {**truth, "m.k": (truth.get("m") or {}).get("k")}
            assert {name: row[f"{name}_{side}"] for name in names} == {n: truth[n] for n in names}
    assert list(found[0])[3:] == [f"{name}_{side}" for name in names for side in "ab"]
    if how == "memory":
        with pytest.raises(InputError, match="no row of a pair has a column 'prize'"):
            run(tmp_path, how, paths, columns="prize")


@pytest.mark.parametrize(
    ("name", "types"),
    [("p.tsv", ["3", "", "1.5", "2", '["a", null]', "[]", "ä\\n", ""]), ("p.parquet", None)],
)
def test_values_in_tables(tmp_path, name, types):
    rows = [{"text": "the same text", **{n: v[i] for n, v in VALUES.items()}} for i in range(2)]
    paths = write_shards(tmp_path, rows, 1)
    columns = ["n", "price", "tags", "m.k"]
    near_duplicate_files(paths, tmp_path / name, columns=columns)
    if types:
        assert (tmp_path / name).read_text().splitlines()[1].split("\t")[3:] == types
    else:
        table = parquet.read_table(tmp_path / name)
        kinds = ["int64"] * 2 + ["double"] * 2 + ["string"] * 4
        assert [str(field.type) for field in table.schema][3:] == kinds
        found = [*table.to_pylist()[0].values()][3:]
        assert found == [3, None, 1.5, 2.0, '["a", null]', "[]", "ä\n", None]


@pytest.mark.parametrize(("how", "group"), covering(ENGINES, [False, True]))
def test_the_table_of_components(tmp_path, monkeypatch, how, group):
    small_budget(monkeypatch)
    rows = rows_of(33, 140)
    paths = write_shards(tmp_path, rows, 3)
    target = tmp_path / "components.jsonl"
    keywords = {"components": target}
    if group:
        keywords["group"] = "id"
    result, found = run(tmp_path, how, paths, **keywords)
    pairs = near_duplicates([row["text"] for row in rows], 0.6)
    expected = [f"d{number}" for number in pairs.components().tolist()]
    table = table_rows(target)
    assert [row["id"] for row in table] == [row["id"] for row in rows]
    assert [row["component"] for row in table] == expected
    assert len(found) == len(pairs)
    inside = {*pairs.left.tolist(), *pairs.right.tolist()}
    assert result.documents_in_pairs == len(inside) > len(set(expected)) / 3
