"""Spark: the same rows by fastlsh and by the job that people copy; bytes shuffled; skew.

The copied job is a minimal one after BigCode's: datasketch hashes in Python, rows are grouped by
band, everything in a bucket is linked to its first document, and of what is connected one stays.
Nothing is verified. Its components are found by the driver, which costs it less than the rounds of
the original. Both sides have the same shingles (9 characters), 128 hashes and 17 bands of 7 rows.

Each run is a process of its own with a fresh JVM; counted is what comes after a first small job,
the processor seconds of Python, the JVM and its workers together. Needs Java 17 and pyspark.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus
from bench.pipelines import spark_jobs as jobs

LENGTH = 1_000
SKEWED = ("identical", "one template", "a third in one family")


def write_rows(folder: Path, name: str, texts: Sequence[str]) -> str:
    """Write Parquet files of about 10,000 rows each; return their folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / name
    path.mkdir()
    pieces = max(len(texts) // 10_000, 4)
    for i in range(pieces):
        ids = list(range(i, len(texts), pieces))
        table = pa.table({"id": ids, "text": [texts[place] for place in ids]})
        pq.write_table(table, path / f"{i:03}.parquet")
    return str(path)


def copied(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Compare with the copied job."""
    count = 1_000 if options.quick else options.documents
    texts = corpus.Writer(11).collection(count, LENGTH)
    rows = write_rows(folder, "copied", texts)
    rounds = [
        {name: common.call(jobs.timed, name, rows, "local[2]") for name in jobs.JOBS}
        for _ in range(common.rounds(options, usual=3, quick=1))
    ]
    whole = fastlsh.deduplicate(texts)
    removed = {name: set(rounds[0][name]["removed"]) for name in jobs.JOBS}
    assert removed["fastlsh"] == set(whole.removed.tolist()), "another answer than in memory"
    results: dict[str, Any] = {"documents": count, "characters": sum(map(len, texts))}
    for name in jobs.JOBS:
        results[name] = {
            "removed": len(removed[name]),
            "removed by fastlsh, too": len(removed[name] & removed["fastlsh"]),
            "seconds": common.summary(r[name]["wall"] for r in rounds),
            "processor seconds": common.summary(r[name]["processor"] for r in rounds),
            "of them in the JVM": common.summary(r[name]["jvm"] for r in rounds),
            "start of the session, seconds": common.summary(r[name]["start"] for r in rounds),
            "bytes shuffled a document, by stage": {
                stage: round(size / count, 1) for stage, size in rounds[0][name]["shuffled"]
            },
        }
    results["processor seconds, copied / fastlsh"] = common.summary(
        r["copied"]["processor"] / r["fastlsh"]["processor"] for r in rounds
    )
    results["seconds, copied / fastlsh"] = common.summary(
        r["copied"]["wall"] / r["fastlsh"]["wall"] for r in rounds
    )
    return results


def skewed_texts(kind: str, count: int) -> list[str]:
    """Return texts that are so much alike that one task gets them."""
    writer = corpus.Writer(12)
    if kind == "identical":
        return [writer.text(LENGTH)] * count
    if kind == "one template":
        template = writer.text(LENGTH - 60)
        letters = writer.rng.choice(list(corpus.LETTERS), (count, 60))
        return [template + "".join(row) for row in letters]
    texts = corpus.Writer(13).collection(count, LENGTH, 0)
    texts[::3] = skewed_texts("one template", len(texts[::3]))
    return texts


def skew(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Work on what one task must do alone, on executors of 1 GB; and on half of it."""
    count = 1_000 if options.quick else options.skewed
    results: dict[str, Any] = {}
    for kind in SKEWED:
        texts = skewed_texts(kind, count)
        found = []
        for part in (texts[: count // 2], texts):
            rows = write_rows(folder, f"{kind} {len(part)}", part)
            found.append(common.call(jobs.timed, "fastlsh", rows, "local-cluster[2,1,1024]"))
            whole = fastlsh.deduplicate(part)
            assert found[-1]["removed"] == whole.removed.tolist(), "another answer than in memory"
        half, all_of_it = found
        results[kind] = {
            "documents": count,
            "removed": len(all_of_it["removed"]),
            "seconds": common.significant(all_of_it["wall"]),
            "processor seconds": common.significant(all_of_it["processor"]),
            "processor seconds / those of half": common.significant(
                all_of_it["processor"] / half["processor"]
            ),
            "peak MB of a Python worker": round(all_of_it["worker peak"] / 1e6),
            "of them texts in a mapped file, and libraries, MB": round(
                all_of_it["worker shared"] / 1e6
            ),
            "peak MB of an executor's JVM": round(all_of_it["executor peak"] / 1e6),
        }
        print(kind, results[kind], file=sys.stderr, flush=True)
    return results


PARTS = {"copied": copied, "skew": skew}


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/spark.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--part", choices=tuple(PARTS), help="only this one")
    parser.add_argument("--documents", type=int, default=200_000, help="beside the copied job")
    parser.add_argument("--skewed", type=int, default=200_000, help="of each kind that is skewed")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, part in PARTS.items():
            if options.part in (None, name):
                results[name] = part(options, Path(folder))
    common.write("spark", options, results)
