"""The page about Spark runs, and so does the job among the examples."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fastlsh
from pages import run_here


def test_the_page_runs(spark, tmp_path):
    page = run_here("docs/spark.md", tmp_path)
    assert page.ran == 4
    assert not page.left_out


def test_the_job_runs(installed, examples, tmp_path):
    if not examples.is_dir():
        pytest.skip("no examples here")
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyspark

    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = [
        "spark.ui.enabled=false",
        "spark.sql.shuffle.partitions=2",
        "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    ]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    job = subprocess.run(
        [str(submit), "--master", "local[2]", *(f"--conf={setting}" for setting in settings),
         str(examples / "spark_job.py"), str(tmp_path / "in.parquet"), str(tmp_path / "out")],
        env=environment, capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    assert job.returncode == 0, job.stderr[-4000:]
    assert "94 of 352 documents removed" in job.stdout
    result = fastlsh.deduplicate([row["text"] for row in rows])
    kept = pq.read_table(tmp_path / "out").sort_by("id").to_pylist()
    assert kept == [rows[i] for i in result.selected]
