"""What the tests with Spark share: DataFrames, what memory answers for them, and jobs."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import fastlsh

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a JVM that ends before a better compiler would pay."""

JOB = Path(__file__).with_name("spark_job.py")

IN_PLAN = "spark.sql.execution.arrow.localRelationThreshold"


def divided(spark, columns, seed=0, pieces=2):
    """Return a DataFrame with the rows of Arrow columns in any order, in so many partitions.

    Spark makes a partition of each Arrow batch that it does not take into the plan. After
    `repartition`, rows are shuffled anew each time that a search reads them.
    """
    import pyarrow as pa

    table = pa.table(columns)
    order = random.Random(seed).sample(range(len(table)), len(table))
    table = pa.concat_tables([table.take(order[piece::pieces]) for piece in range(pieces)])
    spark.conf.set(IN_PLAN, 0)
    try:
        return spark.createDataFrame(table)
    finally:
        spark.conf.unset(IN_PLAN)


def expected_proofs(result, ids, against_ids=None):
    """Return the rows of `proofs` as `fastlsh.deduplicate` found them."""
    proofs = result.proofs()
    rows = []
    for i, (removed, similarity) in enumerate(zip(proofs.document, proofs.similarity, strict=True)):
        against = bool(proofs.against[i])
        kept = (against_ids if against else ids)[proofs.kept_document[i]]
        second = () if proofs.also_similarity is None else (float(proofs.also_similarity[i]),)
        told = () if against_ids is None else (against,)
        rows.append((ids[removed], kept, float(similarity), *second, *told))
    return sorted(rows)


def memory_proofs(texts, ids, *arguments, **options):
    """Return the proofs of texts that are sorted by their ids."""
    return expected_proofs(fastlsh.deduplicate(texts, *arguments, **options), ids)


def rows_of(df):
    """Return the rows of a DataFrame as sorted tuples."""
    return sorted(map(tuple, df.collect()))


def started(folder, *command, python=sys.executable):
    """Run a command in a folder, with a Python for the workers of Spark."""
    environment = {**os.environ, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("FASTLSH_KEY_FILE", None)
    return subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=500, check=False,
    )  # fmt: skip


def run_job(folder, **settings):
    """Run `spark_job.py`; return its answers, and what it has said."""
    job = started(folder, sys.executable, JOB, json.dumps(settings))
    assert job.returncode == 0, job.stderr[-4000:]
    answers = json.loads(job.stdout.splitlines()[-1])
    return [list(map(tuple, answer)) for answer in answers], job.stderr
