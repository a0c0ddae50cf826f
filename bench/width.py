"""How far `fastlsh dedup` widens: what its threads wait for, and the same run on more processors.

Three measurements of the same job, made JSON lines or Parquet in shards, to a directory:

* *replay*: one thread runs the job and records the processor time of every piece that threads could
  share, as `ordered_map`, `run_batches` and `background_calls` hand it out. The same pieces are
  then given to 1, 2, 16, 64 and 128 simulated threads, by the rules of those functions. Beside the
  simulated times of 1 and 2 threads stand the measured ones.
* *alone*: the share of the time in which one thread of two is running, sampled by the system.
* *GIL*: the share of the time in which any thread holds Python's global lock, sampled by py-spy. A
  run on any number of threads takes at least as long as the lock is held. Without py-spy, none.

Replay knows neither the bandwidth of memory and disks nor caches: it says what the program allows.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, thread_time
from typing import Any

from bench import processes, records
from bench.growth import stage_of, write_shards
from bench.jobs import as_parquet
from bench.replay import Recorder, installed

DOCUMENTS, SIZE = 512_000, 8_000
"""64 shards: with a directory as the output, each is a file that a thread may write."""

WIDTHS = (1, 2, 16, 64, 128)
RATE = 200
"""Samples a second."""


def job(inputs: Sequence[str], output: str, engine: str, scheme: str, threads: int) -> None:
    """Deduplicate the files."""
    from fastlsh import deduplicate_files

    keywords: dict[str, Any] = {"memory": "1G", "work": output.rstrip("/") + ".work"}
    deduplicate_files(
        inputs, output=output, removed=output.rstrip("/") + ".tsv", engine=engine, scheme=scheme,
        threads=threads, **(keywords if engine == "disk" else {}),
    )  # fmt: skip


def timed_job(inputs: Sequence[str], output: str, engine: str, scheme: str, threads: int) -> float:
    """Return the wall time of the job in this process."""
    import fastlsh.files  # noqa: F401  (imported before the clock starts)

    start = perf_counter()
    job(inputs, output, engine, scheme, threads)
    return perf_counter() - start


def replayed(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any]:
    """Record the job on one thread; return the times of the replays, and what remains serial."""
    import fastlsh.files.plan  # noqa: F401

    recorder = Recorder()
    installed(recorder)
    recorder.root.own, recorder._since = 0.0, thread_time()
    start = thread_time()
    job(inputs, output, engine, scheme, 1)
    recorder.leave(recorder.root)
    found = {str(threads): recorder.root.time(threads) for threads in WIDTHS}
    by_region: defaultdict[str, float] = defaultdict(float)
    for region in recorder.root.regions:
        by_region[region.where.removeprefix("fastlsh.")] += region.time(WIDTHS[2])
    by_region["outside"] = recorder.root.own
    largest = sorted(by_region.items(), key=lambda item: -item[1])[:8]
    return {
        "recorded": thread_time() - start,
        "replayed": found,
        "at 16, by caller": {name: round(value, 3) for name, value in largest},
    }


def running_threads(process: int) -> int:
    """Return how many threads of a process are running or ready to run."""
    found = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):  # it has ended
            found += (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return found


def command(inputs: Sequence[str], output: str, engine: str, scheme: str) -> list[str]:
    """Return the command line of the job on two threads."""
    found = [
        sys.executable, "-m", "fastlsh", "dedup", *inputs, "-o", output, "--engine", engine,
        "--scheme", scheme, "--threads", "2", "-q", "--removed", output.rstrip("/") + ".tsv",
        "--log", output.rstrip("/") + ".log",
    ]  # fmt: skip
    if engine == "disk":
        found += ["--memory", "1G", "--work", output.rstrip("/") + ".work"]
    return found


def alone(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any]:
    """Sample how many threads run; return the share of one alone, whole and by stage."""
    log = Path(output.rstrip("/") + ".log")
    process = subprocess.Popen(command(inputs, output, engine, scheme))
    seen: Counter[tuple[str, bool]] = Counter()
    while process.poll() is None:
        try:
            running = running_threads(process.pid)
        except OSError:
            break
        if running:
            seen[stage_of(log) or "starting", running == 1] += 1
        sleep(1 / RATE)
    if process.wait():
        raise RuntimeError(f"the job ended with status {process.returncode}")
    total = sum(seen.values())
    stages = {stage for stage, _ in seen}
    return {
        "share": sum(count for (_, single), count in seen.items() if single) / total,
        "of all time, by stage": {
            stage: round(seen[stage, True] / total, 3)
            for stage in sorted(stages, key=lambda stage: -seen[stage, True])
        },
    }


def gil(inputs: Sequence[str], output: str, engine: str, scheme: str) -> dict[str, Any] | None:
    """Sample which thread holds the global lock; return the share of the time, and where."""
    if not shutil.which("py-spy"):
        return None
    raw = Path(output.rstrip("/") + ".raw")
    spy = [
        "py-spy", "record", "--gil", "--rate", str(RATE), "--format", "raw", "--output", str(raw),
        "--nonblocking", "--",
    ]  # fmt: skip
    start = perf_counter()
    subprocess.run(
        spy + command(inputs, output, engine, scheme), check=True, capture_output=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    took = perf_counter() - start
    where: Counter[str] = Counter()
    for line in raw.read_text(encoding="utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        rooms = re.findall(r"fastlsh/(\w+/\w+(?:/\w+)?)\.py", stack)
        where[rooms[-1] if rooms else "starting"] += int(count)
    total = sum(where.values())
    return {
        "share": total / (took * RATE),
        "seconds": total / RATE,
        "of all time, by module": {
            name: round(count / (took * RATE), 4) for name, count in where.most_common(6)
        },
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/width.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="in shards of 8,000")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options: argparse.Namespace = parser.parse_args(arguments)
    documents, size = (4_000, 500) if options.quick else (options.documents, SIZE)
    made = options.folder or Path(tempfile.mkdtemp())
    made.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(dir=made))
    results: dict[str, Any] = {"documents": documents, "shards": documents // size}
    try:
        shards = write_shards(made, documents, size)[: documents // size]
        kinds = {"jsonl": shards, "parquet": [as_parquet(shard) for shard in shards]}
        for kind, engine in (("jsonl", "disk"), ("parquet", "disk"), ("jsonl", "memory")):
            name = f"{kind}, {engine}"
            results[name] = measured(kinds[kind], working, engine, options)
            print(f"{name}: {results[name]}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(working if options.folder else made)
    records.write("width", options, results)


def measured(
    shards: Sequence[Path], working: Path, engine: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Make all measurements of one job, in turns."""

    def fresh(call: Callable[..., Any], *more: Any) -> Any:
        folder = Path(tempfile.mkdtemp(dir=working))
        output = folder / "out"
        output.mkdir()
        try:
            inputs = [str(shard) for shard in shards]
            if call in (alone, gil):
                return call(inputs, f"{output}/", engine, "affine32")
            return processes.call(call, inputs, f"{output}/", engine, "affine32", *more)
        finally:
            shutil.rmtree(folder)

    runs: list[dict[str, Any]] = []
    for _ in range(records.rounds(options, usual=5, quick=1)):
        replay = fresh(replayed)
        wall = {threads: fresh(timed_job, threads) for threads in (1, 2)}
        runs.append({**replay, "wall": wall, "alone": fresh(alone), "gil": fresh(gil)})
    replays = {key: median(run["replayed"][key] for run in runs) for key in runs[0]["replayed"]}
    found: dict[str, Any] = {
        "wall s": {key: round(median(run["wall"][key] for run in runs), 2) for key in (1, 2)},
        "replayed s": {key: round(value, 2) for key, value in replays.items()},
        "replayed / measured": {
            key: round(median(run["replayed"][str(key)] / run["wall"][key] for run in runs), 3)
            for key in (1, 2)
        },
        "speed-up by the pieces": {
            key: round(replays["1"] / value, 1) for key, value in replays.items()
        },
        "one thread alone": round(median(run["alone"]["share"] for run in runs), 4),
        "one thread alone, by stage": runs[-1]["alone"]["of all time, by stage"],
        "at 16, by caller": runs[-1]["at 16, by caller"],
    }
    if all(run["gil"] for run in runs):
        held = median(run["gil"]["seconds"] for run in runs)
        found["lock held, s"] = round(held, 3)
        found["speed-up, the lock as a limit"] = {
            key: round(replays["1"] / max(value, held), 1) for key, value in replays.items()
        }
        found["lock held, share of the time on two threads"] = round(
            median(run["gil"]["share"] for run in runs), 4
        )
        found["lock held, by module"] = runs[-1]["gil"]["of all time, by module"]
    return found
