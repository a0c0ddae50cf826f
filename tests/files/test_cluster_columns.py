"""Sources, sums and copies for each value, against a count by hand; the same from every engine."""

import json
from collections import defaultdict
from functools import reduce
from operator import add

import pytest

from combinations import covering, every
from fastlsh import Index, InputError, deduplicate_files, deduplicate_with_index
from fastlsh.files.disk import link
from files import table_rows
from in_stages import ENGINES, both_engines
from shards import contents, rows_of, small_budget, write_shards

SITES = ["a.org", "b.org", "é.org", 7]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    small_budget(monkeypatch)
    monkeypatch.setattr(link, "RANGE", 64)


def sites(seed, n):
    """Return rows with a source, and two columns of numbers."""
    return [
        {**row, "site": SITES[number * 7 // 3 % 4], "tokens": number % 7, "share": number / 10}
        for number, row in enumerate(rows_of(seed, n))
    ]


def everywhere(folder, inputs, output="all.jsonl", **keywords):
    """Run memory, disk and stages; they write the same bytes. Return the result and its folder."""
    tables = "removed.jsonl", "clusters.jsonl"
    result, _ = both_engines(
        deduplicate_files, folder, inputs, output, *tables, engines=ENGINES, threshold=0.6,
        **keywords,
    )  # fmt: skip
    return result, folder / "disk"


@pytest.mark.parametrize("outside", every(2, [True, False]))
@pytest.mark.parametrize("keep", every(2, ["first", "last"]))
def test_sources_and_sums_as_by_hand(tmp_path, keep, outside):
    inputs = write_shards(tmp_path, sites(3, 45), 3)
    against = write_shards(tmp_path, rows_of(3, 22)[7:], 1, "old") if outside else ()
    _, place = everywhere(
        tmp_path, inputs, annotate=True, source="site", count=["tokens", "share"], keep=keep,
        against=against,
    )  # fmt: skip
    rows = table_rows(place / "all.jsonl")
    proofs = {row["id"]: row for row in table_rows(place / "removed.jsonl")}
    members = defaultdict(list)
    for row in rows:
        proof = proofs.get(row["id"])
        row["cluster"] = (
            (proof["kept_id"], proof.get("against", False)) if proof else (row["id"], False)
        )
        members[row["cluster"]].append(row)
    assert max(map(len, members.values())) > 3
    assert any(cluster[1] for cluster in members) == outside
    for row in rows:
        own = members[row["cluster"]]
        assert row["cluster_size"] == len(own) + row["cluster"][1]
        assert row["cluster_sources"] == len({each["site"] for each in own})
        assert row["cluster_tokens"] == sum(each["tokens"] for each in own)
        assert row["cluster_share"] == reduce(add, (each["share"] for each in own))
    assert {row["cluster_sources"] for row in rows} >= {1, 2, 3}
    by_id = {row["id"]: row for row in rows}
    table = table_rows(place / "clusters.jsonl")
    assert len(table) == sum(len(own) for c, own in members.items() if len(own) > 1 and not c[1])
    for row in table:
        for name in ("size", "sources", "tokens", "share"):
            assert row[f"cluster_{name}"] == by_id[row["id"]][f"cluster_{name}"]


@pytest.mark.parametrize(
    ("most", "per", "more"),
    covering([2, None], [1, 2], [{"against": True}, {"priority": "score"}, {}]),
)
def test_copies_for_each_value(tmp_path, most, per, more):
    rows = sites(8, 45)
    inputs = write_shards(tmp_path, rows, 2)
    if more.get("against"):
        more = {"against": write_shards(tmp_path, rows_of(8, 22)[11:], 1, "old")}
    table = tmp_path / "plain.jsonl"
    plain = deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, removed=table, **more)
    result, place = everywhere(
        tmp_path, inputs, "kept.jsonl", max_copies=most, copies_per=("site", per), **more
    )
    proofs = {row["id"]: row for row in table_rows(table)}
    members = defaultdict(list)
    rank = (lambda n: (-rows[n]["score"], n)) if "priority" in more else (lambda n: n)
    for n in sorted(range(len(rows)), key=lambda n: (rows[n]["id"] in proofs, rank(n))):
        proof = proofs.get(rows[n]["id"])
        outside = bool(proof) and proof.get("against", False)
        members[(proof["kept_id"] if proof else rows[n]["id"], outside)].append(rows[n])
    stay = set()
    for (_, outside), own in members.items():
        stayed = []
        for row in own:
            same = sum(each["site"] == row["site"] for each in stayed) + outside
            if same < per and (most is None or len(stayed) + outside < most):
                stayed.append(row)
        stay.update(row["id"] for row in stayed)
    assert [row["id"] for row in table_rows(place / "kept.jsonl")] == [
        row["id"] for row in rows if row["id"] in stay
    ]
    assert result.n_kept == len(stay) > plain.n_kept
    assert result.further_copies == result.n_kept - plain.n_kept
    assert plain.further_copies == 0
    removed = table_rows(place / "removed.jsonl")
    assert removed == [proof for name, proof in proofs.items() if name not in stay]
    assert len(removed) == result.n_removed


@pytest.mark.parametrize("kind", every(2, ["parquet", "csv"]))
def test_other_formats_and_names(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    from pyarrow import csv

    table = pa.table({
        "id": [1, 2, 3], "text": ["one text that is here twice"] * 2 + ["another"],
        "site": ["a", "b", "a"], 'a, "b"': [5, 6, 7],
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet")
    csv.write_csv(table, tmp_path / "a.csv")
    expected = {
        "duplicate_of": [None, 1, None], "cluster_size": [2, 2, 1], "cluster_sources": [2, 2, 1],
        'cluster_a, "b"': [11, 11, 7],
    }  # fmt: skip
    _, place = everywhere(
        tmp_path / kind, tmp_path / f"a.{kind}", f"all.{kind}", annotate=True, source="site",
        count='a, "b"',
    )  # fmt: skip
    read = parquet.read_table if kind == "parquet" else csv.read_csv
    found = read(place / f"all.{kind}")
    assert found.select(list(expected)).to_pydict() == expected
    assert str(found.schema.field("duplicate_of").type) == "int64"
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a", "cluster_\\u00e9": 1, "\\u00e9": 2}\n', encoding="utf-8"
    )
    (tmp_path / "a.txt").write_text("a text", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": "a", "cluster_size": 3}\n', encoding="utf-8")
    for engine in ("memory", "disk"):
        for name, more, said in (
            ("a.jsonl", {"count": "é"}, "row 1: there is a column 'cluster_é' already"),
            ("b.jsonl", {}, "row 1: there is a column 'cluster_size' already"),
            ("a.txt", {}, "plain text has no columns"),
        ):
            out = tmp_path / f"{engine}-{name}-{len(more)}"
            with pytest.raises(InputError, match=said):
                deduplicate_files(tmp_path / name, f"{out}/", annotate=True, engine=engine, **more)
            assert not out.exists()


def test_new_files_against_an_index(tmp_path):
    text = "one text that is here three times"
    rows = [("a", text, 3), ("b", text, 4), ("c", "another", 5), ("d", "another", 6)]
    lines = [json.dumps({"text": t, "site": site, "tokens": n}) for site, t, n in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with Index.open(tmp_path / "seen.db", 0.8) as index:
        index.insert("old", text)
        deduplicate_with_index(
            index, tmp_path / "a.jsonl", tmp_path / "all.jsonl", annotate=True, source="site",
            count="tokens",
        )  # fmt: skip
    found = [
        (row["cluster_size"], row["cluster_sources"], row["cluster_tokens"])
        for row in table_rows(tmp_path / "all.jsonl")
    ]
    assert found == [(3, 2, 7), (3, 2, 7), (2, 2, 11), (2, 2, 11)]


@pytest.mark.filterwarnings("error")
def test_a_sum_that_is_no_finite_number_is_null(tmp_path):
    rows = [{"text": "the same text", "n": 1e308}, {"text": "the same text", "n": 1e308}]
    lines = "".join([json.dumps(row) + "\n" for row in [*rows, {"text": "another text", "n": 2}]])
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    _, place = everywhere(tmp_path, tmp_path / "a.jsonl", annotate=True, count="n")
    found = [row["cluster_n"] for row in table_rows(place / "all.jsonl")]
    assert found == [None, None, 2.0]
    assert [row["cluster_n"] for row in table_rows(place / "clusters.jsonl")] == [None, None]
    (tmp_path / "a.jsonl").write_text("", encoding="utf-8")
    result, place = everywhere(tmp_path / "none", tmp_path / "a.jsonl", annotate=True, count="n")
    assert (result.documents, contents(place)["all.jsonl"]) == (0, b"")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"source": "site"}, "source= needs a table"),
        ({"count": ["tokens"]}, "count= needs a table"),
        ({"count": "size", "annotate": True}, "count='size' would give a second column"),
        ({"copies_per": ("site", 1), "annotate": True}, "copies_per has no effect with annotate"),
        ({"copies_per": ("site", 0)}, "copies_per must be at least 1"),
        ({"copies_per": "site"}, "copies_per must be a column and a number, got 'site'"),
        ({"source": "", "annotate": True}, "must name a column, not ''"),
        ({"max_copies": 2, "annotate": True}, "max_copies has no effect"),
        ({"max_copies": 0}, "max_copies"),
    ],
)
def test_wrong_arguments(tmp_path, more, message):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    with pytest.raises((ValueError, TypeError), match=message):
        deduplicate_files(tmp_path / "a.jsonl", tmp_path / "b.jsonl", **more)
    assert not (tmp_path / "b.jsonl").exists()
