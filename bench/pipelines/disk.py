"""Larger than memory: `fastlsh dedup --engine disk` on more and more documents, and the same bytes.

Growth: the command on 0.5, 1, 2, 4 and 8 million made documents of about 1,000 characters, one in
ten a near-duplicate; each size is the first shards of the next one. Measured are processor and wall
time of the whole command, the most anonymous memory that its process held and the largest size of
its work directory, both sampled. The slope is that of log(processor time) over log(documents).
With --repeats the sizes below 4 million are measured so often, in turns, and the median counts.
Limits: the same with --memory 4G, 1G and 300M on 2 million documents, the most anonymous memory of
each stage.
Same answer: the kept rows and the proofs of --same documents, by both engines, compared byte by
byte.
"""

import argparse
import filecmp
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import numpy as np

from bench import ROOT, common
from bench.common import corpus
from fastlsh.files.budget import parse_memory

LENGTH = 1_000
SIZES = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000]
SAME = 2_000_000
SHARD = 250_000
OFTEN = 2_000_000
"""Documents: larger sizes are measured once."""
LIMITS = ("4G", "1G", "300M")
LIMITED = 2_000_000
SAMPLED = 0.2
"""Seconds between two looks at memory and disk."""


def write_shard(folder: Path, size: int, number: int) -> Path:
    """Write one shard of so many documents, unless it is there."""
    path = folder / f"{number:04}-of-{size}.jsonl"
    if path.exists():
        return path
    with path.with_suffix(".part").open("w", encoding="utf-8") as stream:
        for place, text in enumerate(corpus.Writer(number).collection(size, LENGTH)):
            stream.write(json.dumps({"id": number * size + place, "text": text}) + "\n")
    return path.with_suffix(".part").rename(path)


def write_shards(folder: Path, documents: int, size: int) -> list[Path]:
    """Write the shards of so many documents, in a process for each processor."""
    with ProcessPoolExecutor(common.cores()) as pool:
        return list(pool.map(partial(write_shard, folder, size), range(documents // size)))


def dedup(
    shards: Sequence[Path],
    output: Path,
    *more: str,
    stages: dict[str, float] | None = None,
    python: str = sys.executable,
) -> dict[str, float]:
    """Run the command; return what it took, and the most memory and disk that was seen.

    `stages` is given the most anonymous memory of each stage, in MB; `python` is the Python of the
    installation.
    """
    work = output.with_suffix(".work")
    removed = output.with_suffix(".removed.tsv")
    log = output.with_suffix(".log")
    log.unlink(missing_ok=True)
    command = [
        python, "-m", "fastlsh", "dedup", *map(str, shards), "-o", str(output),
        "--removed", str(removed), "--log", str(log), "-q", *more,
    ]  # fmt: skip
    if "disk" in more:
        command += ["--work", str(work)]
    environment = {**os.environ}
    # Where Python writes no bytecode, each run would compile all of the package anew.
    if environment.pop("PYTHONDONTWRITEBYTECODE", None):
        environment.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / "build" / "bytecode"))
    start = perf_counter()
    process = subprocess.Popen(command, env=environment)
    anonymous = files = 0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        held = anonymous_memory(process.pid)
        anonymous = max(anonymous, held)
        if stages is not None and (stage := stage_of(log)):
            stages[stage] = max(stages.get(stage, 0), round(held / 1e6))
        files = max(files, sum(sizes(work)))
        sleep(SAMPLED)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return {
        "processor s": round(used.ru_utime + used.ru_stime, 1),
        "wall s": round(perf_counter() - start, 1),
        "anonymous MB": round(anonymous / 1e6),
        "work MB": round(files / 1e6),
    }


def stage_of(log: Path) -> str | None:
    """Return the stage that the log of a run has told of last."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
        stages = [json.loads(line).get("stage") for line in lines]
    except (OSError, ValueError):
        return None
    return next((stage for stage in reversed(stages) if stage), None)


def anonymous_memory(process: int) -> int:
    """Return the bytes that a process holds besides files (Linux)."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in status.splitlines() if "RssAnon" in line)


def sizes(folder: Path) -> Iterator[int]:
    """Yield the size of each file in a folder that changes meanwhile."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.stat(os.path.join(parent, name)).st_size


def growth(
    folder: Path, shards: Sequence[Path], counts: Sequence[int], size: int, memory: str, rounds: int
) -> dict[str, Any]:
    """Measure each size once, small ones in turns as often as there are rounds."""
    runs: dict[int, list[dict[str, float]]] = {count: [] for count in counts}
    for number, name in enumerate(common.alternating(map(str, counts), rounds)):
        count = int(name)
        if number >= len(counts) and count > OFTEN:
            continue
        output = folder / "out.jsonl"
        part = shards[: count // size]
        runs[count].append(dedup(part, output, "--engine", "disk", "--memory", memory))
        output.unlink()
        print(f"{count:,}: {runs[count][-1]}", file=sys.stderr, flush=True)
    found: dict[str, Any] = {}
    for count, taken in runs.items():
        found[f"{count:,}"] = each = {key: median(run[key] for run in taken) for key in taken[0]}
        each["work bytes / document"] = round(1e6 * each["work MB"] / count)
        each["processor \u00b5s / document"] = round(1e6 * each["processor s"] / count, 1)
        each["runs"] = len(taken)
    times = [math.log(each["processor s"]) for each in found.values()]
    if len(counts) > 1:
        found["slope"] = round(float(np.polyfit(np.log(counts), times, 1)[0]), 3)
    return found


def limits(folder: Path, shards: Sequence[Path]) -> dict[str, Any]:
    """Measure the most memory of each stage under several limits, on the same documents."""
    found: dict[str, Any] = {}
    for memory in LIMITS:
        stages: dict[str, float] = {}
        output = folder / "out.jsonl"
        taken = dedup(shards, output, "--engine", "disk", "--memory", memory, stages=stages)
        output.unlink()
        within = taken["anonymous MB"] * 1e6 <= parse_memory(memory)
        found[memory] = {**taken, "within the limit": within, "anonymous MB by stage": stages}
        print(f"{memory}: {found[memory]}", file=sys.stderr, flush=True)
    return found


def same(folder: Path, shards: Sequence[Path], memory: str) -> dict[str, Any]:
    """Compare the outputs of both engines."""
    found: dict[str, Any] = {}
    outputs = {name: folder / f"{name}.jsonl" for name in ("memory", "disk")}
    found["memory"] = dedup(shards, outputs["memory"], "--engine", "memory")
    found["disk"] = dedup(shards, outputs["disk"], "--engine", "disk", "--memory", memory)
    pairs = [(path, path.with_suffix(".removed.tsv")) for path in outputs.values()]
    for left, right in zip(*pairs, strict=True):
        if not filecmp.cmp(left, right, shallow=False):
            raise SystemExit(f"{left} and {right} differ")
    found["bytes compared"] = sum(path.stat().st_size for path in pairs[0])
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/disk.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", help=f"default {SIZES}")
    parser.add_argument("--same", type=int, help=f"documents (default {SAME:,}; 0: none)")
    parser.add_argument("--limited", type=int, help=f"documents (default {LIMITED:,}; 0: none)")
    parser.add_argument("--memory", default="1G", help="limit of the engine (default 1G)")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options: argparse.Namespace = parser.parse_args(arguments)
    size = 1_000 if options.quick else SHARD
    counts = options.sizes if options.sizes is not None else SIZES
    alike = SAME if options.same is None else options.same
    limited = LIMITED if options.limited is None else options.limited
    if options.quick:
        counts, alike, limited = [2_000, 4_000], 4_000, 4_000
    if any(count % size for count in [*counts, alike, limited]):
        raise SystemExit(f"sizes are multiples of {size:,}")
    made = options.folder or Path(tempfile.mkdtemp())
    made.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(dir=made))
    results: dict[str, Any] = {"threads": common.cores(), "memory": options.memory}
    try:
        shards = write_shards(made, max([*counts, alike, limited]), size)
        if counts:
            rounds = common.rounds(options, usual=1, quick=1)
            results["growth"] = growth(working, shards, counts, size, options.memory, rounds)
        if limited:
            results[f"limits, {limited:,}"] = limits(working, shards[: limited // size])
        if alike:
            results[f"same answer, {alike:,}"] = same(
                working, shards[: alike // size], options.memory
            )
    finally:
        shutil.rmtree(working if options.folder else made)
    common.write("disk", options, results)
