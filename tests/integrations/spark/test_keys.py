"""A key reaches executors, which are processes of their own here, by their environment alone."""

import json
import os
import subprocess
import sys

import pytest

from fastlsh import Key
from spark_collections import made, memory_proofs

SECRET = bytes(range(32))
N = 60
JOB = """
import json, sys, traceback
from pyspark.sql import SparkSession
from fastlsh import Key
from fastlsh.integrations.spark import near_duplicates, proofs

given, *settings = sys.argv[1:]
builder = SparkSession.builder.master("local-cluster[1,1,1024]")
for setting in settings:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
df = spark.createDataFrame([tuple(row) for row in json.load(open(given))], "id string, text string")
key = Key(bytes(range(32)))
options = {"threshold": 0.6, "num_perm": 32, "bands": 8, "rows": 4, "key": key}
removed = proofs(df, **options)
plan = removed._jdf.queryExecution().toString()
rows = {
    "proofs": [list(row) for row in removed.collect()],
    "pairs": near_duplicates(df, **options).count(),
    "plan": plan,
}
print("ANSWER", json.dumps(rows))
spark.stop()
"""


@pytest.fixture(scope="module")
def run(installed, tmp_path_factory):
    """Return what runs the job on a cluster whose executors have these settings."""
    folder = tmp_path_factory.mktemp("keys")
    documents = [(f"d{i:04}", text) for i, text in enumerate(made(N))]
    (folder / "documents.json").write_text(json.dumps(documents))
    (folder / "job.py").write_text(JOB)

    def run_job(*more):
        settings = [
            "spark.ui.enabled=false",
            "spark.sql.shuffle.partitions=2",
            "spark.task.maxFailures=1",
            "spark.driver.memory=600m",
            "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            *more,
        ]
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        environment.pop("FASTLSH_KEY_FILE", None)
        command = [sys.executable, "job.py", "documents.json", *settings]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run_job


def test_executors_with_the_file_of_the_key(run, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    job = run(f"spark.executorEnv.FASTLSH_KEY_FILE={path}")
    assert job.returncode == 0, job.stderr[-4000:]
    answer = json.loads(job.stdout.split("ANSWER", 1)[1])
    ids = [f"d{i:04}" for i in range(N)]
    options = {"num_perm": 32, "bands": 8, "rows": 4}
    expected = memory_proofs(made(N), ids, 0.6, key=Key(SECRET), **options)
    assert expected
    assert sorted(map(tuple, answer["proofs"])) == expected
    assert answer["pairs"] >= len(expected)
    for secret in (SECRET.hex(), repr(SECRET)):
        assert secret not in answer["plan"] + job.stderr


def test_executors_without_it(run):
    job = run()
    assert job.returncode == 1
    assert "LockedKeyError" in job.stderr
    for secret in (SECRET.hex(), repr(SECRET)):
        assert secret not in job.stderr
