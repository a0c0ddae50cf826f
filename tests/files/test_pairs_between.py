"""Pairs of files with other files: memory and disk write the same bytes, those of `matches`."""

import json

import pytest

from combinations import covering
from fastlsh import Shingler, exact_pairs, matches, near_duplicate_files
from shards import rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk


def both(folder, inputs, name="pairs.tsv", **keywords):
    """Run both engines; return the result and what both have written."""
    written, results = [], []
    for engine in ("memory", "disk"):
        place = folder / engine
        place.mkdir(exist_ok=True)
        result = near_duplicate_files(
            inputs,
            place / name,
            engine=engine,
            memory="300M",
            work=folder / "work",
            threads=1,
            **keywords,
        )
        assert result.engine == engine
        results.append((result.documents, result.empty, result.n_pairs, result.repeated_ids))
        written.append((place / name).read_bytes())
    assert results[0] == results[1]
    assert written[0] == written[1]
    return result, written[0]


@pytest.mark.parametrize(
    ("name", "best", "search"),
    covering(
        ["pairs.tsv", "pairs.jsonl", "pairs.parquet"], [False, True],
        [{}, {"shingler": Shingler("word", 2), "estimates": True}],
    ),
)  # fmt: skip
def test_same_bytes(tmp_path, monkeypatch, name, best, search):
    small_budget(monkeypatch)
    rows = rows_of(21, 48)
    known = write_shards(tmp_path, rows[:22], 3, "known")
    inputs = write_shards(tmp_path, rows[22:], 2)
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
        lines = [json.loads(line) for line in written.splitlines()]
        assert [(row["id_a"], row["id_b"], row["jaccard"]) for row in lines] == list(found)
    if name == "pairs.tsv":
        head = ["id_a", "id_b", "jaccard", *(["estimate"] if found.estimate is not None else [])]
        assert written.decode().splitlines()[0].split("\t") == head


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", [{"block": 1, "run": 8, "rows": 50, "part": 1, "pending": 0}])
def test_parts_of_one_family(tmp_path, monkeypatch, sizes):
    small_budget(monkeypatch, **sizes)
    rows = rows_of(22, 24)
    known, inputs = (
        write_shards(tmp_path, rows[:10], 1, "known"),
        write_shards(tmp_path, rows[10:], 2),
    )
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
    rows = rows_of(24, 120)
    known, inputs = (
        write_shards(tmp_path, rows[:60], 1, "known"),
        write_shards(tmp_path, rows[60:], 2),
    )
    result, _ = both(tmp_path, inputs, against=known, limit=10, threshold=0.6)
    assert result.documents == 10
    assert result.n_pairs


def test_a_work_directory_of_another_question_is_refused(tmp_path):
    rows = rows_of(25, 60)
    known, inputs = (
        write_shards(tmp_path, rows[:30], 1, "known"),
        write_shards(tmp_path, rows[30:], 2),
    )
    how = {"engine": "disk", "work": tmp_path / "work", "keep_work": True}
    near_duplicate_files(inputs, tmp_path / "a.tsv", against=known, **how)
    with pytest.raises(ValueError, match="best was False, and is True"):
        near_duplicate_files(inputs, tmp_path / "a.tsv", against=known, best=True, **how)


def test_exact_pairs_of_files(tmp_path):
    rows = rows_of(26, 120)
    inputs = write_shards(tmp_path, rows, 2)
    result = near_duplicate_files(inputs, tmp_path / "pairs.jsonl", 0.4, exact=True)
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
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
    rows = rows_of(21, 48)
    known = write_shards(tmp_path, rows[:22], 3, "known")
    inputs = write_shards(tmp_path, rows[22:], 2)
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
