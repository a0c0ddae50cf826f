"""Directories like ``lang=en``: the same answer in memory, on disk and in stages."""

import shutil

import pytest

import fastlsh
from combinations import every
from files import put_table, table_rows
from in_stages import both_engines

NULL = "__HIVE_DEFAULT_PARTITION__"
ONE = "the quick brown fox jumps over the lazy dog and runs away"
TWO = "something else altogether, long enough to have many shingles"
PLACES = {
    f"lang=de/year={NULL}": [(1, ONE)],
    "lang=en/year=2023": [(2, ONE), (3, TWO)],
    "lang=en/year=2024": [(4, ONE)],
}
ROWS = [
    {"id": 1, "text": ONE, "lang": "de", "year": None},
    {"id": 2, "text": ONE, "lang": "en", "year": 2023},
    {"id": 3, "text": TWO, "lang": "en", "year": 2023},
    {"id": 4, "text": ONE, "lang": "en", "year": 2024},
]


def write(path, rows):
    put_table(path, [{"id": n, "text": text} for n, text in rows])


def rows_in(path):
    """Return the rows of a file; of CSV, with whole numbers and with None for empty fields."""
    rows = table_rows(path)
    if path.suffix != ".csv":
        return rows
    return [{k: int(v) if v.isdecimal() else v or None for k, v in row.items()} for row in rows]


@pytest.fixture
def made(tmp_path):
    def make(suffix):
        for place, rows in PLACES.items():
            write(tmp_path / "in" / place / f"part.{suffix}", rows)
        return tmp_path / "in"

    return make


WHICH = [
    ({}, [1, 3]),
    ({"within": "lang"}, [1, 2, 3]),
    ({"within": "year"}, [1, 2, 3, 4]),
    ({"within": "lang", "priority": "year"}, [1, 3, 4]),
    ({"priority": "year"}, [3, 4]),
    ({"copies_per": ("lang", 1)}, [1, 2, 3]),
]


@pytest.mark.parametrize("suffix", every(4, ["jsonl", "parquet", "arrow", "csv", "jsonl.gz"]))
def test_one_output_has_the_columns(tmp_path, made, suffix):
    inputs = made(suffix)
    for number, (how, kept) in enumerate(WHICH):
        folder, name = tmp_path / f"{number}", f"k.{suffix}"
        both_engines(fastlsh.deduplicate_files, folder, inputs, name, **how)
        assert rows_in(folder / "disk" / name) == [row for row in ROWS if row["id"] in kept], how


@pytest.mark.parametrize("suffix", every(2, ["jsonl", "parquet", "arrow", "csv"]))
def test_a_missing_column_names_those_of_the_path(tmp_path, made, suffix):
    inputs = made(suffix)
    for output in (None, tmp_path / f"out.{suffix}", tmp_path / "out.jsonl", tmp_path / "out.csv"):
        with pytest.raises(
            fastlsh.InputError, match=r"'language' \(there is: .*'text', 'lang', 'year'\)"
        ):
            fastlsh.deduplicate_files(inputs, output, within="language")


def test_a_key_that_has_the_name_of_an_annotation(tmp_path):
    write(tmp_path / "taken" / "cluster_size=2" / "a.jsonl", [(1, ONE)])
    with pytest.raises(fastlsh.InputError, match="there is a column 'cluster_size' already"):
        fastlsh.deduplicate_files(tmp_path / "taken", tmp_path / "t.jsonl", annotate=True)


@pytest.mark.parametrize("suffix", every(2, ["jsonl", "parquet"], 1))
def test_the_other_jobs(tmp_path, made, suffix):
    inputs, table = made(suffix), tmp_path / "t.jsonl"
    shutil.copytree(inputs / "lang=de", tmp_path / "others" / "lang=de")
    found = {}
    for engine in ("memory", "disk"):
        how = {"engine": engine}
        overlap = fastlsh.overlap_files(inputs, table, source="year", **how).overlap
        assert (overlap.names, overlap.documents.tolist()) == (["null", "2023", "2024"], [1, 2, 1])
        fastlsh.near_duplicate_files(inputs, table, within="lang", **how)
        assert [[row["id_a"], row["id_b"]] for row in rows_in(table)] == [[2, 4]]
        fastlsh.near_duplicate_files(
            inputs, table, against=tmp_path / "others", within="lang", **how
        )
        assert [[row["id_a"], row["id_b"]] for row in rows_in(table)] == [[1, 1]]
        output = tmp_path / f"{engine}.{suffix}"
        grouped = fastlsh.deduplicate_files(inputs, output, group="year", removed=table, **how)
        assert (grouped.documents, grouped.n_kept) == (3, 2)
        assert [row["id"] for row in rows_in(table)] == [2024]
        null = inputs / f"lang=de/year={NULL}/part.{suffix}"
        assert [row["kept_id"] for row in rows_in(table)] == [f"{null}:1"]
        fastlsh.deduplicate_line_files(inputs, output, **how)
        found[engine] = output.read_bytes()
        kept = [row for row in rows_in(output) if row["text"]]
        assert [(row["id"], row["lang"], row["year"]) for row in kept] == [
            (1, "de", None), (3, "en", 2023),
        ]  # fmt: skip
    assert found["memory"] == found["disk"]


def test_columns_of_pairs(tmp_path, made):
    inputs = made("parquet")
    write(tmp_path / "in/lang=en/year=2023/more.csv", [(5, TWO)])
    table = tmp_path / "pairs.jsonl"
    wanted = ["lang_a", "lang_b", "year_a", "year_b"]
    for how in ({"engine": "memory"}, {"engine": "disk"}):
        fastlsh.near_duplicate_files(inputs, table, columns=["lang", "year"], **how)
        assert [[row[name] for name in ("id_a", "id_b", *wanted)] for row in rows_in(table)] == [
            [1, 2, "de", "en", None, 2023],
            [1, 4, "de", "en", None, 2024],
            ["5", 3, "en", "en", 2023, 2023],
            [2, 4, "en", "en", 2023, 2024],
        ]
        # A key that all files have, and that no other option names.
        fastlsh.near_duplicate_files(inputs / "lang=en/year=2023", table, columns=["lang"], **how)
        assert [(row["lang_a"], row["lang_b"]) for row in rows_in(table)] == [("en", "en")]


def test_decontamination(tmp_path, made):
    inputs = made("jsonl")
    write(tmp_path / "evals" / "task=a" / "items.jsonl", [(9, TWO)])
    for work in (None, tmp_path / "w"):
        fastlsh.decontaminate_files(inputs, tmp_path / "evals", tmp_path / "o.jsonl", work=work)
        assert rows_in(tmp_path / "o.jsonl") == [ROWS[0], ROWS[1], ROWS[3]]


def test_plain_text(tmp_path):
    for lang, text in (("de", ONE), ("en", ONE), ("en", TWO)):
        path = tmp_path / "in" / f"lang={lang}" / f"{len(text)}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    inputs, table = tmp_path / "in", tmp_path / "pairs.jsonl"
    for engine in ("memory", "disk"):
        output = tmp_path / f"{engine}.jsonl"
        result = fastlsh.deduplicate_files(inputs, output, within="lang", engine=engine)
        assert (result.n_kept, [row["lang"] for row in rows_in(output)]) == (3, ["de", "en", "en"])
        result = fastlsh.deduplicate_files(inputs, output, group="lang", engine=engine)
        assert (result.documents, len(rows_in(output))) == (2, 3)
        lines = {"split": "lines", "engine": engine}
        fastlsh.deduplicate_files(inputs, output, convert_to="jsonl", within="lang", **lines)
        assert [row["lang"] for row in rows_in(output)] == ["de", "en", "en"]
        fastlsh.near_duplicate_files(inputs, table, columns="lang", **lines)
        assert [(row["lang_a"], row["lang_b"]) for row in rows_in(table)] == [("de", "en")]
    with pytest.raises(fastlsh.InputError, match="plain text has no column 'title'"):
        fastlsh.near_duplicate_files(inputs, table, columns=["lang", "title"])


def test_rows_of_json_get_the_keys_that_they_lack(tmp_path):
    lines = [
        '{"text": "a", "k": "x"}', '{"text": "b"}', '{"text": "c", "\\u006b": "x", "j": 2}',
        '{"k": "x", "text": "d", "j": 2}', '{"j": 2, "text": "e"}',
    ]  # fmt: skip
    path = tmp_path / "in" / "k=x" / "j=2" / "a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    _, written = both_engines(fastlsh.deduplicate_files, tmp_path, tmp_path / "in", "k.jsonl")
    assert written["k.jsonl"].decode().splitlines() == [
        lines[0][:-1] + ', "j": 2}', lines[1][:-1] + ', "k": "x", "j": 2}', lines[2], lines[3],
        lines[4][:-1] + ', "k": "x"}',
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_agrees_is_written_once(tmp_path, made, suffix):
    inputs = made(suffix)
    first = tmp_path / f"1.{suffix}"
    fastlsh.deduplicate_files(inputs / "lang=en", first, rule="equal", keep="last")
    assert [*rows_in(first)[0]] == ["id", "text", "year"]
    for year in (2023, 2024):
        rows = [row for row in rows_in(first) if row["year"] == year]
        put_table(tmp_path / "own" / f"year={year}" / f"p.{suffix}", rows)
    fastlsh.deduplicate_files(tmp_path / "own", tmp_path / f"3.{suffix}")
    assert rows_in(tmp_path / f"3.{suffix}") == sorted(rows_in(first), key=lambda row: row["year"])
