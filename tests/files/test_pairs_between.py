"""Pairs of files with other files: memory and disk write the same bytes, those of `matches`."""

import json

import pytest

from combinations import covering
from fastlsh import Shingler, exact_pairs, matches, near_duplicate_files
from files import table_rows
from in_stages import both_engines
from shards import SIZES, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk


def both(folder, inputs, name="pairs.tsv", **keywords):
    """Run both engines; return the result and what both have written."""
    result, written = both_engines(near_duplicate_files, folder, inputs, name, **keywords)
    return result, written[name]


def collections(folder, seed, n, known, shards=1):
    """Write two collections; return the paths of the known one, those of the other, and rows."""
    rows = rows_of(seed, n)
    against = write_shards(folder, rows[:known], shards, "known")
    return against, write_shards(folder, rows[known:], 2), rows


@pytest.mark.parametrize(
    ("name", "best", "search"),
    covering(
        ["pairs.tsv", "pairs.jsonl", "pairs.parquet"], [False, True],
        [{}, {"shingler": Shingler("word", 2), "estimates": True}],
    ),
)  # fmt: skip
def test_same_bytes(tmp_path, monkeypatch, name, best, search):
    small_budget(monkeypatch)
    known, inputs, rows = collections(tmp_path, 21, 48, 22, 3)
    result, written = both(
        tmp_path, inputs, name, against=known, best=best, threshold=0.6, **search
    )
    found = matches(
        [row["text"] for row in rows[22:]], [row["text"] for row in rows[:22]], 0.6, best=best,
        ids=[row["id"] for row in rows[22:]], against_ids=[row["id"] for row in rows[:22]],
        **search,
    )  # fmt: skip
    assert result.documents == 26
    assert result.n_pairs == len(found) > 4
    if name == "pairs.jsonl":
        lines = map(json.loads, written.splitlines())
        assert [(row["id_a"], row["id_b"], row["jaccard"]) for row in lines] == list(found)
    if name == "pairs.tsv":
        head = ["id_a", "id_b", "jaccard", *(["estimate"] if found.estimate is not None else [])]
        assert written.decode().splitlines()[0].split("\t") == head


@pytest.mark.exhaustive
def test_parts_of_one_family(tmp_path, monkeypatch):
    small_budget(monkeypatch, **SIZES[1])
    known, inputs, _ = collections(tmp_path, 22, 24, 10)
    result, _ = both(tmp_path, inputs, against=known)
    best, _ = both(tmp_path, inputs, against=known, best=True)
    assert 0 < best.n_pairs < result.n_pairs


def test_ids_of_another_kind_in_the_other_collection(tmp_path):
    rows = rows_of(23, 60)
    for number, row in enumerate(rows[:30]):
        row["id"] = number
    known, inputs = (
        write_shards(tmp_path, rows[:30], 1, "known"),
        write_shards(tmp_path, rows[30:], 2),
    )
    both(tmp_path, inputs, "pairs.parquet", against=known, threshold=0.6)


def test_a_limit_is_for_the_inputs(tmp_path):
    known, inputs, _ = collections(tmp_path, 24, 120, 60)
    result, _ = both(tmp_path, inputs, against=known, limit=10, threshold=0.6)
    assert result.documents == 10
    assert result.n_pairs


def test_exact_pairs_of_files(tmp_path):
    rows = rows_of(26, 120)
    inputs = write_shards(tmp_path, rows, 2)
    result = near_duplicate_files(inputs, tmp_path / "pairs.jsonl", 0.4, exact=True)
    lines = table_rows(tmp_path / "pairs.jsonl")
    found = exact_pairs([row["text"] for row in rows], 0.4, ids=[row["id"] for row in rows])
    assert [(row["id_a"], row["id_b"], row["jaccard"]) for row in lines] == list(found)
    assert (result.n_pairs, result.documents, result.params) == (len(lines), 120, None)
    assert len(lines) > 20


def test_exact_pairs_that_do_not_fit_into_the_memory(tmp_path):
    inputs = write_shards(tmp_path, [{"text": "lines and lines " * 500_000}], 1)
    target = tmp_path / "pairs.tsv"
    how = {"exact": True, "memory": "400M"}
    with pytest.raises(ValueError, match=r"exact=True works in memory, where about .*"):
        near_duplicate_files(inputs, target, **how)
    assert not target.exists()
    words = Shingler("word", 3)  # of which there are fewer
    assert near_duplicate_files(inputs, target, shingler=words, **how).documents == 1
    assert near_duplicate_files(inputs, target, engine="memory", **how).documents == 1


def test_similarities_of_signatures_are_called_estimates(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    known, inputs, _ = collections(tmp_path, 21, 48, 22, 3)
    for against in ({}, {"against": known}):
        for more in ({}, {"estimates": True}):
            _, written = both(
                tmp_path, inputs, "pairs.tsv", threshold=0.6, verify="signature", **against, **more
            )
            assert written.splitlines()[0] == b"id_a\tid_b\testimate"
            assert len(written.splitlines()) > 1


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ({"best": True}, "best=True chooses pairs with another collection: give against="),
        ({"one_to_one": True}, "one_to_one=True chooses pairs with another collection"),
        ({"one_to_one": True, "best": True, "against": "a.jsonl"}, "in two ways: give one"),
        ({"components": "c.tsv", "against": "a.jsonl"}, "components= divides one collection"),
        ({"columns": "n", "group": "g"}, "group= makes documents of several rows"),
        ({"columns": ["n", "id"]}, "the table has id_a and id_b"),
        ({"most": 3}, "most= is the number of pairs in a report"),
        ({"most": -1, "report": "r.html"}, "most must be at least 0"),
        ({"exact": True, "against": "a.jsonl"}, "exact=True finds the pairs of one collection"),
        ({"exact": True, "estimates": True}, "exact=True makes no signatures"),
        ({"report": "a.html", "engine": "disk"}, "report= works in memory only"),
        ({"exact": True, "engine": "disk"}, "exact=True works in memory only"),
        ({"exact": True, "work": "w"}, "work= has no effect with exact=True"),
        ({"exact": True, "keep_work": True}, "keep_work= has no effect with exact=True"),
        ({"report": "r.html", "restart": True}, "restart= has no effect with report="),
        ({"best": True, "against": "a.jsonl", "verify": "none"}, "best=True needs similarities"),
    ],
    ids=str,
)
def test_contradictions(tmp_path, keywords, reason):
    with pytest.raises(ValueError, match=reason):
        near_duplicate_files(tmp_path / "a.jsonl", tmp_path / "pairs.tsv", **keywords)
    assert not list(tmp_path.iterdir())
