"""The page about Spark runs, its code answers as memory does, and the job of the examples runs."""

import json
import random
from pathlib import Path

import pytest

import fastlsh
from contaminated_files import WORDS, collection
from made_texts import made
from pages import run_here
from spark_collections import SHORT_LIVED, divided, rows_of, started


@pytest.fixture(scope="module")
def page(spark, tmp_path_factory):
    """The page, which has run: its functions are those that a reader copies."""
    return run_here("docs/spark.md", tmp_path_factory.mktemp("page"))


def test_the_page_runs(page):
    assert page.ran == 5
    assert not page.left_out


def frame(spark, rows, *columns):
    """Return a DataFrame with the rows in any order."""
    return divided(spark, dict(zip(columns, zip(*rows, strict=True), strict=True)), pieces=3)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"min_share": 0.3, "min_run": 15},
        {"sample": 40, "boilerplate_documents": 2, "boilerplate_share": 0.01},
        {"sample": 40, "boilerplate_documents": 2, "boilerplate_share": 0.01, "min_share": 0.3},
    ],
)
def test_its_decontamination_is_that_of_memory(page, spark, rules):
    rows, items = collection(3, 160)
    notice = " ".join(WORDS[:16])
    items[0]["question"] += f" {' '.join(WORDS[20:60])} {notice}"
    for row in rows[::3]:
        row["text"] = f"{row['text'] or ''}\n{notice}"
    rows = [(number, row["text"]) for number, row in enumerate(rows)]
    items = [{name: item[name] for name in ("question", "answer")} for item in items]
    expected = fastlsh.decontaminate([text for _, text in rows], items, **rules)
    assert bool(expected.boilerplate) == ("sample" in rules)
    assert 0 < expected.kept.sum() < len(rows)
    df = frame(spark, rows, "id", "text")
    left = rows_of(page.names["without_items"](df, items, **rules))
    assert left == [row for row, kept in zip(rows, expected.kept, strict=True) if kept]


@pytest.mark.parametrize("search", [{"threshold": 0.6}, {"shingler": fastlsh.Shingler("word", 2)}])
def test_its_counts_of_data_sets_are_those_of_memory(page, spark, search):
    draw = random.Random(3)
    texts = [draw.choice([text, text, text, "", None, " ☃ 𝔘"]) for text in made(150, 3)]
    rows = [(number, text, draw.choice("zyxw")) for number, text in enumerate(texts)]
    data_sets = {}
    for _, text, name in rows:
        data_sets.setdefault(name, []).append(text)
    found = fastlsh.overlap(data_sets, **search)
    expected = {
        (row["data_set"], row["other"], row["shared_documents"], row["shared_characters"])
        for row in (dict(zip(found.columns(), row, strict=True))
                    for row in zip(*found.columns().values(), strict=True))
        if row["shared_documents"]
    }  # fmt: skip
    assert len(expected) > 10
    df = frame(spark, rows, "id", "text", "crawl")
    counts = page.names["shared_documents"](df, "crawl", **search)
    assert {tuple(row) for row in counts.collect()} == expected


def test_the_job_runs(installed, examples, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyspark

    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    settings = [
        "spark.ui.enabled=false",
        "spark.sql.shuffle.partitions=2",
        f"spark.driver.extraJavaOptions={SHORT_LIVED}",
    ]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    job = started(
        tmp_path, submit, "--master", "local[2]", *(f"--conf={setting}" for setting in settings),
        examples / "spark_job.py", tmp_path / "in.parquet", tmp_path / "out",
    )  # fmt: skip
    assert job.returncode == 0, job.stderr[-4000:]
    assert "94 of 352 documents removed" in job.stdout
    result = fastlsh.deduplicate([row["text"] for row in rows])
    kept = pq.read_table(tmp_path / "out").sort_by("id").to_pylist()
    assert kept == [rows[i] for i in result.selected]
