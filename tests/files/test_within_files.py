"""Groups in files: the same answer in memory, on disk and in stages, as of each group alone."""

import numpy as np
import pytest

from combinations import covering, every, first
from fastlsh import InputError, deduplicate_files, near_duplicate_files
from files import put_table, table_rows
from in_stages import ENGINES, both_engines
from shards import rows_of, small_budget

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
LANGUAGES = ["en", "de", "fr"]


def grouped(seed, n, languages=LANGUAGES):
    rows = rows_of(seed, n)
    return [
        {**row, "id": f"{seed}-{n}", "language": languages[n * n % 7 % len(languages)]}
        for n, row in enumerate(rows)
    ]


HOW = [
    {}, {"rule": "equal"}, {"keep": "last"}, {"priority": "score"},
    {
        "rule": "contained", "search": "containment", "containment": 0.9, "keep": "longest",
        "num_perm": 48, "recall": 0.8,
    },
]  # fmt: skip


@pytest.mark.parametrize("how", first(*HOW))
@pytest.mark.parametrize("suffix", every(2, ["parquet", "jsonl"]))
def test_the_answer_of_each_group(tmp_path, monkeypatch, suffix, how):
    small_budget(monkeypatch)
    rows, others = grouped(3, 36), grouped(4, 12) + grouped(3, 8)
    inputs = [put_table(tmp_path / f"in{n}.{suffix}", rows[n::2]) for n in range(2)]
    against = put_table(tmp_path / f"against.{suffix}", others)
    alone = []
    for language in LANGUAGES:
        mine = [
            [row for row in part if row["language"] == language] for part in (rows[::2], rows[1::2])
        ]
        paths = [put_table(tmp_path / f"{language}{n}.jsonl", part) for n, part in enumerate(mine)]
        theirs = put_table(
            tmp_path / f"{language}-against.jsonl",
            [row for row in others if row["language"] == language],
        )
        table = tmp_path / f"{language}.tsv"
        deduplicate_files(
            paths, tmp_path / f"kept-{language}.jsonl", against=theirs, removed=table,
            engine="memory", **how,
        )  # fmt: skip
        alone += table_rows(table)
    both_engines(
        deduplicate_files, tmp_path, inputs, f"kept.{suffix}", "removed.tsv", engines=ENGINES,
        against=against, within="language", **how,
    )  # fmt: skip
    table = table_rows(tmp_path / "memory" / "removed.tsv")
    assert len(table) > 5
    assert sorted(map(str, table)) == sorted(map(str, alone))


@pytest.mark.parametrize("crossing", every(2, [False, True], 1))
def test_pairs_within_a_group(tmp_path, monkeypatch, crossing):
    small_budget(monkeypatch)
    rows, others = grouped(3, 36), grouped(4, 12) + grouped(3, 20)
    language = {row["id"]: row["language"] for row in rows + others}
    path = put_table(tmp_path / "in.jsonl", rows)
    more = {"against": put_table(tmp_path / "against.jsonl", others)} if crossing else {}
    tables = []
    for within in (None, "language"):
        given = near_duplicate_files, tmp_path, path, "pairs.tsv"
        both_engines(*given, within=within, **more)
        tables.append(table_rows(tmp_path / "memory" / "pairs.tsv"))
    every, found = tables
    same = [row for row in every if language[row["id_a"]] == language[row["id_b"]]]
    assert 0 < len(same) < len(every)
    assert found == same


def test_what_cannot_be_grouped(tmp_path, run):
    path = put_table(tmp_path / "in.jsonl", [{"text": "a", "x": "b"}, {"text": "a", "x": []}])
    words = ["dedup", path, "-o", "kept.jsonl", "--within"]
    missing = f"{path}: row 1: no key 'y' (there is: 'text', 'x'); a row without a value must"
    for command, said in (
        ([*words, "x"], f"{path}: row 2: 'x' is an array"),
        ([*words, "y"], missing),
        ([*words, "x", "--by", "line"], "--within"),
        ([*words, "x", "--by", "span"], "--within"),
        ([*words, "x", "--index", "i.sqlite"], "--within"),
        (["pairs", path, "--within", "x", "--exact"],
         "--exact compares all documents, and has no groups: leave out --within"),
    ):  # fmt: skip
        assert said in run.refused(*command)
    assert list(tmp_path.iterdir()) == [path]


OPTIONS = [
    {"within": "x"}, {"group": "x"}, {"source": "x", "annotate": True}, {"copies_per": ("x", 1)},
]  # fmt: skip
SUFFIXES = ["jsonl", "parquet", "dictionary.parquet", "half.parquet"]


@pytest.mark.parametrize(
    ("suffix", "engine", "option"), covering(SUFFIXES, ["memory", "disk"], OPTIONS)
)
def test_nan_is_no_value(tmp_path, suffix, engine, option):
    path, output = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix.split('.')[-1]}"
    values = [0.5, float("nan"), None, 0.5]
    if suffix == "jsonl":
        rows = [{"text": "a few words", "x": value} for value in [*values, True, float("inf")]]
        put_table(path, rows)
    else:
        missing = np.array([value is None for value in values])
        column = pa.array(np.array([value or 0 for value in values], np.float16), mask=missing)
        if suffix != "half.parquet":
            column = column.cast(pa.float64())
        if suffix == "dictionary.parquet":
            column = column.dictionary_encode()
        put_table(path, pa.table({"text": ["a few words"] * 4, "x": column}))
    how = {"engine": engine, **option}
    with pytest.raises(InputError, match="row 2: 'x' is NaN, not a text or a number"):
        deduplicate_files(path, output, **how)
    result = deduplicate_files(path, output, on_error="skip", **how)
    assert result.skipped == 1
    values = 4 if suffix == "jsonl" else 2  # of which null is one
    assert result.n_kept == {"source": 1, "group": 2}.get(next(iter(option)), values)
