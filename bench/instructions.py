"""Guards the hottest kernels against silent slow-downs by counting their instructions.

Each job runs under callgrind twice, on few and on many items; the difference,
start-up subtracted, is compared with instructions.json, per instruction set that valgrind knows
(no AVX-512). Counts hold for one major version of the compiler: with another they are only
reported. --update records them.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import processes, records
from bench.corpus import Writer
from bench.timing import significant

LENGTH = 1_100
BANDS = fastlsh.LSHParams(21, 6)


# ---- the jobs


class Job(NamedTuple):
    """Work on a number of items, of which each counts so many units."""

    work: Callable[[int], object]
    few: int
    many: int
    unit: str
    units: int = 1


def sign(scheme: str, documents: int) -> None:
    """Sign texts of 1,100 characters: shingles hashed, minima taken, in one kernel."""
    texts = Writer(1).texts(50, LENGTH) * 80
    fastlsh.MinHasher(128, scheme=scheme, threads=1).signatures(texts[:documents])


def find_candidates(documents: int) -> None:
    """Hash and link the bands of signatures."""
    fastlsh.candidate_pairs(repeating_signatures(60_000)[:documents], BANDS)


def repeating_signatures(count: int) -> NDArray[np.uint32]:
    """Return random signatures, of which every tenth repeats another."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2**32, (count, 128), np.uint32)
    rows[::10] = rows[rng.integers(0, len(rows), len(rows[::10]))]
    return rows


JOBS = {
    "signatures, affine32": Job(partial(sign, "affine32"), 200, 2_000, "character", LENGTH),
    "signatures, fss": Job(partial(sign, "fss"), 200, 4_000, "character", LENGTH),
    "candidate pairs, 21 x 6": Job(find_candidates, 4_000, 60_000, "document"),
}


def work(name: str, items: int) -> None:
    """Do one job on so many items."""
    JOBS[name].work(items)


# ---- the counts

EXPECTED = Path(__file__).with_name("instructions.json")
SETS = ("baseline", "avx2")
TOLERANCE = 0.05
SETTLED = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""What would differ from run to run: the order of sets, and threads that wait busily."""
Counts = dict[str, dict[str, float]]
"""Instructions per unit, by the instruction set and the job."""


class Verdict(NamedTuple):
    """A line of the report, and whether it is a slow-down."""

    line: str
    slower: bool


def verdicts(expected: Counts, counted: Counts, units: dict[str, str]) -> Iterator[Verdict]:
    """Compare what was counted with what was recorded."""
    for name, jobs in counted.items():
        for job, count in jobs.items():
            line = f"{name:8} {job:24} {count:12,.1f} a {units[job]}"
            before = expected.get(name, {}).get(job)
            if before is None:
                yield Verdict(f"{line}, nothing recorded: run with --update", True)
                continue
            change = count / before - 1
            line = f"{line}, recorded {before:,.1f} ({change:+.1%})"
            if change < -TOLERANCE:
                line += ": faster, record it with --update"
            yield Verdict(line, change > TOLERANCE)


def same_compiler(recorded: str | None, used: str | None) -> bool:
    """Whether two compilers, as "gcc 12.2.0", are of the same name and major version."""
    return bool(recorded and used) and major(recorded) == major(used)


def major(compiler: str | None) -> str:
    """Return "gcc 12" of "gcc 12.2.0"."""
    return (compiler or "").partition(".")[0]


def instructions(name: str, job: str, items: int, processor: int, python: str) -> int:
    """Run one job under callgrind; return the instructions of the whole process."""
    done = processes.run(
        work, job, items, python=python, processor=processor,
        environment={**SETTLED, "FASTLSH_ISA": name},
        under=["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"],
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise SystemExit(f"{job} under valgrind, {name}: {done.stderr.strip()[-2000:]}")
    return int(found[1])


def per_unit(name: str, job: str, processor: int, python: str = sys.executable) -> float:
    """Return the instructions per unit of a job."""
    work = JOBS[job]
    few, many = (
        instructions(name, job, items, processor, python) for items in (work.few, work.many)
    )
    return significant((many - few) / ((work.many - work.few) * work.units))


def counted(python: str = sys.executable) -> Counts:
    """Count all jobs for all instruction sets, on all processors."""
    tasks = [(name, job) for name in SETS for job in JOBS]
    free = processes.processors()
    with ThreadPoolExecutor(len(free)) as pool:
        counts = list(
            pool.map(
                lambda at: per_unit(*tasks[at], free[at % len(free)], python), range(len(tasks))
            )
        )
    result: Counts = {name: {} for name in SETS}
    for (name, job), count in zip(tasks, counts, strict=True):
        result[name][job] = count
    return result


def load(path: Path = EXPECTED) -> dict[str, Any]:
    """Return what is recorded."""
    if not path.exists():
        return {"compiler": None, "instructions": {}}
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def main(arguments: Sequence[str]) -> None:
    """Count and compare, or record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="record what is counted")
    options = parser.parse_args(arguments)
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed: nothing counted")
    compiler, counts = records.kernels_compiler(), counted()
    record = load()
    units = {name: job.unit for name, job in JOBS.items()}
    found = list(verdicts(record["instructions"], counts, units))
    for verdict in found:
        print(verdict.line)
    if options.update:
        new = {"compiler": compiler, "tolerance": TOLERANCE, "instructions": counts}
        EXPECTED.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
    elif not same_compiler(record["compiler"], compiler):
        print(f"recorded for {record['compiler']}, built by {compiler}: reported only")
    elif any(verdict.slower for verdict in found):
        print(f"slower than recorded by more than {TOLERANCE:.0%}", file=sys.stderr)
        raise SystemExit(1)
