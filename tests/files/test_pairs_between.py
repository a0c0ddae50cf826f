"""Pairs of files with other files: memory and disk write the same bytes, those of `matches`."""

import pytest

from fastlsh import Shingler, near_duplicate_files
from in_stages import both_engines
from shards import rows_of, small_budget, write_shards

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


def test_ids_of_another_kind_in_the_other_collection(tmp_path):
    rows = rows_of(23, 60)
    for number, row in enumerate(rows[:30]):
        row["id"] = number
    known, inputs = (
        write_shards(tmp_path, rows[:30], 1, "known"),
        write_shards(tmp_path, rows[30:], 2),
    )
    both(tmp_path, inputs, "pairs.parquet", against=known, threshold=0.6)


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
