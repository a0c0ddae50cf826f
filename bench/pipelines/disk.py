"""Larger than memory: `fastlsh dedup --engine disk` on more and more documents, and the same bytes.

Growth: the command on 0.5, 1, 2, 4 and 8 million made documents of about 1,000 characters, one in
ten a near-duplicate; each size is the first shards of the next one. Measured are processor and wall
time of the whole command, the most anonymous memory that its process held and the largest size of
its work directory, both sampled. The slope is that of log(processor time) over log(documents).
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
from time import perf_counter, sleep
from typing import Any

import numpy as np

from bench import common
from bench.common import corpus

LENGTH = 1_000
SIZES = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000]
SAME = 2_000_000
SHARD = 250_000
SAMPLED = 0.2
"""Seconds between two looks at memory and disk."""


def write_shard(folder: Path, size: int, number: int) -> Path:
    """Write one shard, unless it is there."""
    path = folder / f"{number:04}.jsonl"
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


def dedup(shards: Sequence[Path], output: Path, *more: str) -> dict[str, float]:
    """Run the command; return what it took, and the most memory and disk that was seen."""
    work = output.with_suffix(".work")
    removed = output.with_suffix(".removed.tsv")
    command = [
        sys.executable, "-m", "fastlsh", "dedup", *map(str, shards), "-o", str(output),
        "--removed", str(removed), "-q", *more,
    ]  # fmt: skip
    if "disk" in more:
        command += ["--work", str(work)]
    start = perf_counter()
    process = subprocess.Popen(command)
    anonymous = files = 0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        anonymous = max(anonymous, anonymous_memory(process.pid))
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
    folder: Path, shards: Sequence[Path], counts: Sequence[int], size: int, memory: str
) -> dict[str, Any]:
    """Measure each size once."""
    found: dict[str, Any] = {}
    for count in counts:
        output = folder / "out.jsonl"
        taken = dedup(shards[: count // size], output, "--engine", "disk", "--memory", memory)
        output.unlink()
        taken["work bytes / document"] = round(1e6 * taken["work MB"] / count)
        found[f"{count:,}"] = taken
        print(f"{count:,}: {taken}", file=sys.stderr, flush=True)
    times = [math.log(each["processor s"]) for each in found.values()]
    if len(counts) > 1:
        found["slope"] = round(float(np.polyfit(np.log(counts), times, 1)[0]), 3)
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
    parser.add_argument("--memory", default="1G", help="limit of the engine (default 1G)")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options: argparse.Namespace = parser.parse_args(arguments)
    size = 1_000 if options.quick else SHARD
    counts = options.sizes if options.sizes is not None else SIZES
    alike = SAME if options.same is None else options.same
    if options.quick:
        counts, alike = [2_000, 4_000], 4_000
    if any(count % size for count in [*counts, alike]):
        raise SystemExit(f"sizes are multiples of {size:,}")
    made = options.folder or Path(tempfile.mkdtemp())
    made.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(dir=made))
    results: dict[str, Any] = {"threads": common.cores(), "memory": options.memory}
    try:
        shards = write_shards(made, max([*counts, alike]), size)
        results["growth"] = growth(working, shards, counts, size, options.memory)
        if alike:
            results[f"same answer, {alike:,}"] = same(
                working, shards[: alike // size], options.memory
            )
    finally:
        shutil.rmtree(working if options.folder else made)
    common.write("disk", options, results)
