"""What `spark` runs, each in a process of its own with a session of its own."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter, time
from typing import Any

TICK = os.sysconf("SC_CLK_TCK")
NUM_PERM, BANDS, ROWS, SIZE = 128, 17, 7, 9


def timed(job: str, rows: str, master: str) -> dict[str, Any]:
    """Do one job; return the removed ids and what it took."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    with tempfile.TemporaryDirectory() as events:
        start = perf_counter()
        settings = {
            "spark.master": master,
            "spark.ui.enabled": "false",
            "spark.log.level": "ERROR",
            "spark.sql.shuffle.partitions": "8",
            "spark.driver.memory": "2g",
            "spark.executor.memory": "1g",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events,
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
        }
        builder = SparkSession.builder
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        JOBS[job](spark.read.parquet(rows).limit(100).persist())
        since = time()
        started, before, driver = perf_counter(), processor(), processor(jvms=True)
        removed = JOBS[job](spark.read.parquet(rows))
        result = {
            "removed": sorted(removed),
            "start": started - start,
            "wall": perf_counter() - started,
            "processor": processor() - before,
            "jvm": processor(jvms=True) - driver,
            **peaks(),
        }
        spark.stop()
        (log,) = Path(events).iterdir()
        return {**result, "shuffled": shuffled(log, since)}


# ---- the two jobs: which ids are removed


def ours(df: Any) -> list[int]:
    """Return what fastlsh removes."""
    from fastlsh.integrations.spark import proofs

    return proofs(df, bands=BANDS, rows=ROWS).select("id").toArrow()["id"].to_pylist()  # type: ignore[no-any-return]


def hashed(rows: Iterable[Any]) -> Iterator[tuple[tuple[int, bytes], int]]:
    """Yield ((band, minima), id) of each document."""
    from datasketch import MinHash

    for row in rows:
        text = row["text"]
        shingles = {text[i : i + SIZE].encode() for i in range(max(len(text) - SIZE + 1, 1))}
        sketch = MinHash(NUM_PERM, seed=1)
        sketch.update_batch(shingles)
        for band in range(BANDS):
            part = sketch.hashvalues[band * ROWS : (band + 1) * ROWS]
            yield (band, part.tobytes()), row["id"]


def linked(group: tuple[Any, Iterable[int]]) -> list[tuple[int, int]]:
    """Return a link from each document of a bucket to the first one."""
    members = sorted(group[1])
    return [(member, members[0]) for member in members[1:]]


def others(df: Any) -> list[int]:
    """Return what the copied job removes: all but the first of what is connected."""
    edges = df.select("id", "text").rdd.mapPartitions(hashed).groupByKey().flatMap(linked)
    root: dict[int, int] = {}

    def find(member: int) -> int:
        while root.setdefault(member, member) != member:
            root[member] = root[root[member]]
            member = root[member]
        return member

    for later, earlier in edges.distinct().collect():
        one, other = sorted((find(later), find(earlier)))
        root[other] = one
    return [member for member in root if find(member) != member]


JOBS = {"fastlsh": ours, "copied": others}


# ---- what it took


def read(path: Path) -> str:
    """Return what a file in /proc says; nothing if its process has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def tree() -> dict[int, list[str]]:
    """Return the fields of /proc/PID/stat, from the third on, of this process and all below it."""
    stats = {
        int(path.parent.name): text.rpartition(")")[2].split()
        for path in Path("/proc").glob("[0-9]*/stat")
        if (text := read(path))
    }
    found = {os.getpid()}
    while more := {pid for pid, stat in stats.items() if int(stat[1]) in found} - found:
        found |= more
    return {pid: stats[pid] for pid in found}


def is_jvm(pid: int) -> bool:
    """Return whether a process is Java."""
    return "java" in read(Path(f"/proc/{pid}/cmdline")).split("\0")[0]


def processor(jvms: bool = False) -> float:
    """Return the processor seconds of this process and all below it, or of the JVMs alone."""
    total = 0
    for pid, stat in tree().items():
        java = is_jvm(pid)
        if jvms and not java:
            continue
        times = stat[11:13] if java and jvms else stat[11:15]  # with those of children that ended
        total += sum(map(int, times))
    return total / TICK


def peaks() -> dict[str, int]:
    """Return the largest peaks of memory among workers and among executors."""
    result = {"worker peak": 0, "worker shared": 0, "executor peak": 0}
    for pid in tree().keys() - {os.getpid()}:
        lines = read(Path(f"/proc/{pid}/status")).splitlines()
        status = dict(line.split(":", 1) for line in lines)
        size = int(status.get("VmHWM", "0").split()[0]) * 1024
        name = "executor peak" if is_jvm(pid) else "worker peak"
        if size > result[name]:
            result[name] = size
            if name == "worker peak":
                result["worker shared"] = int(status["RssFile"].split()[0]) * 1024
    return result


def shuffled(log: Path, since: float) -> list[tuple[str, int]]:
    """Return (stage, bytes written for a shuffle) of the stages since then."""
    events = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    stages = [
        event["Stage Info"]
        for event in events
        if event["Event"] == "SparkListenerStageCompleted"
        and event["Stage Info"].get("Submission Time", 0) > since * 1000
    ]
    return [
        (f"{stage['Stage ID']} {stage['Stage Name'].split(' ')[0]}", int(value["Value"]))
        for stage in stages
        for value in stage["Accumulables"]
        if value["Name"] == "internal.metrics.shuffle.write.bytesWritten"
    ]
