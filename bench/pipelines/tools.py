"""Other tools on the same file: from JSON lines to the JSON lines of what is kept, whole processes.

`fastlsh dedup` in memory and on disk (--memory 1G), and what people would use instead, each at
threshold 0.8 with 128 minima and 17 bands of 7 rows where it has them (tools_jobs.py). Documents
of about 1,000 characters, one in ten a near-duplicate. Of each: processor time of its processes,
wall time, the most memory that one of them had, how many rows it removes, how many of these have
an exact similarity of at least 0.8 (9 characters) with no document that it keeps, and how many that
it keeps have one with another kept document. A tool takes part if the Python that has it is named
(--with datatrove=/path/to/python).
"""

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import fastlsh
from bench import common
from bench.common import corpus
from bench.pipelines import tools_jobs
from bench.pipelines.tools_jobs import THRESHOLD

COUNT = 50_000
PR_SET_CHILD_SUBREAPER = 36
LENGTH = 1_000
OURS = {"fastlsh, memory": ["memory"], "fastlsh, disk": ["disk", "--memory", "1G"]}


def command_of(name: str, python: str, source: Path, target: Path, folder: Path) -> list[str]:
    """Return the command that does the job."""
    if name in OURS:
        return [
            python, "-m", "fastlsh", "dedup", str(source), "-o", str(target), "-q",
            "--engine", *OURS[name],
        ]  # fmt: skip
    processes = str(common.cores())
    return [python, tools_jobs.__file__, name, str(source), str(target), str(folder), processes]


def timed(command: Sequence[str], folder: Path) -> dict[str, float]:
    """Run a command; return what it took, its children included."""
    log = folder / "log.txt"
    start = perf_counter()
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, cwd=folder)
        _, status, used = os.wait4(process.pid, 0)
    wall = perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    all_used = [used, *orphans()]
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{log.read_text()[-2000:]}")
    return {
        "processor s": round(sum(each.ru_utime + each.ru_stime for each in all_used), 1),
        "wall s": round(wall, 1),
        "peak MB": round(max(each.ru_maxrss for each in all_used) * 1024 / 1e6),
    }


def adopt() -> None:
    """Become the parent of processes that outlive theirs, so that their time is counted (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def orphans() -> Iterator[Any]:
    """Wait for processes that have outlived their parent; yield what each has used."""
    while True:
        try:
            yield os.wait4(-1, 0)[2]
        except ChildProcessError:  # noqa: PERF203
            return


def judged(texts: Sequence[str], pairs: Any, target: Path) -> dict[str, int]:
    """Return how many rows were removed, and of these, how many without a kept near-duplicate."""
    with target.open(encoding="utf-8") as stream:
        kept = np.array([int(json.loads(line)["id"][1:]) for line in stream], np.int64)
    is_kept = np.zeros(len(texts), np.bool_)
    is_kept[kept] = True
    has_kept = np.zeros(len(texts), np.bool_)
    np.logical_or.at(has_kept, pairs.left, is_kept[pairs.right])
    np.logical_or.at(has_kept, pairs.right, is_kept[pairs.left])
    return {
        "removed": int((~is_kept).sum()),
        "removed without a kept near-duplicate": int((~is_kept & ~has_kept).sum()),
        "kept beside a near-duplicate": int((is_kept & has_kept).sum()),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/tools.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--documents", type=int, help=f"default {COUNT:,}")
    parser.add_argument(
        "--with", dest="tools", nargs="*", default=[], metavar="TOOL=PYTHON",
        help=f"of {', '.join(tools_jobs.JOBS)}",
    )  # fmt: skip
    options: argparse.Namespace = parser.parse_args(arguments)
    count = options.documents or (500 if options.quick else COUNT)
    pythons = dict.fromkeys(OURS, sys.executable) | dict(
        tool.split("=", 1) for tool in options.tools
    )
    adopt()
    texts = corpus.Writer(12).collection(count, LENGTH)
    pairs = fastlsh.near_duplicates(texts, THRESHOLD, recall=0.9999, num_perm=256)
    folder = Path(tempfile.mkdtemp())
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    try:
        for name in common.alternating(found, common.rounds(options, usual=3, quick=1)):
            here = folder / "here"
            here.mkdir()
            source, target = here / "in.jsonl", here / "out.jsonl"
            with source.open("w", encoding="utf-8") as stream:
                for number, text in enumerate(texts):
                    stream.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
            taken = timed(command_of(name, pythons[name], source, target, here), here)
            found[name].append({**taken, **judged(texts, pairs, target)})
            print(f"{name}: {found[name][-1]}", file=sys.stderr, flush=True)
            shutil.rmtree(here)
    finally:
        shutil.rmtree(folder)
    ours = [each["processor s"] for each in found["fastlsh, disk"]]
    results: dict[str, Any] = {"documents": count, "processes": common.cores()}
    results["pairs of at least 0.8"] = len(pairs)
    for name, rounds in found.items():
        times = [each["processor s"] for each in rounds]
        results[name] = {
            **{key: rounds[0][key] for key in rounds[0] if not key.endswith(" s")},
            "processor s": common.summary(times),
            "wall s": common.summary([each["wall s"] for each in rounds]),
            "processor time / fastlsh on disk": common.ratio(times, ours),
        }
    common.write("tools", options, results)
