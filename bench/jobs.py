"""From files to files: `fastlsh dedup` on made JSON lines and Parquet, by both engines and schemes.

2 million documents of about 1,000 characters, one in ten a near-duplicate, or with --corpus the
rows of a file of JSON lines, in eight shards that go to a directory. Each job is measured as often
as --repeats says, in turns with all others; with --before, also with another installation. Beside
the jobs stand, in processor time of one thread: the signatures of the same texts, what msgspec
takes to validate the same lines without decoding strings, and equal texts: the rule "equal" beside
a set of Python's strings.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench import corpus, processes, records, timing
from bench.growth import SHARD, dedup, write_shards
from fastlsh import MinHasher, deduplicate

DOCUMENTS = 2_000_000
SHARDS = 8
"""Shards into which the rows of a file are cut."""

EQUAL = 200_000
"""Documents of which equal ones are searched for in a list."""

Job = Callable[[], dict[str, float]]


def as_parquet(shard: Path) -> Path:
    """Write the rows of a shard as Parquet, unless that is there."""
    import pyarrow.json
    import pyarrow.parquet

    path = shard.with_suffix(".parquet")
    if not path.exists():
        part = path.with_suffix(".part")
        whole = pyarrow.json.ReadOptions(block_size=shard.stat().st_size + 1)
        rows = pyarrow.json.read_json(shard, whole)
        pyarrow.parquet.write_table(rows, part, row_group_size=50_000)
        part.rename(path)
    return path


def real_shards(folder: Path, file: Path, count: int) -> list[Path]:
    """Write the lines of a file as so many shards of consecutive rows."""
    lines = list(corpus.lines(file))
    shards = []
    for number in range(count):
        shard = folder / f"{number}-of-{count}.jsonl"
        part = lines[number * len(lines) // count : (number + 1) * len(lines) // count]
        shard.write_text("".join(part), encoding="utf-8")
        shards.append(shard)
    return shards


def texts_of(shards: Sequence[Path]) -> Iterator[Any]:
    """Yield the column of the texts of each shard."""
    import pyarrow.parquet

    for shard in shards:
        yield pyarrow.parquet.read_table(shard.with_suffix(".parquet"), columns=["text"])["text"]


def timed(call: Callable[[], object]) -> dict[str, float]:
    """Return the processor time of a call."""
    start = process_time()
    call()
    return {"processor s": round(process_time() - start, 4)}


def validated(shards: Sequence[Path]) -> dict[str, float]:
    """Validate lines of JSON without decoding their strings; the files are in memory."""
    import msgspec

    fields = [("id", msgspec.Raw), ("text", msgspec.Raw)]
    decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields, gc=False))
    spent = 0.0
    for shard in shards:
        data = shard.read_bytes()
        spent += timed(partial(decoder.decode_lines, data))["processor s"]
    return {"processor s": round(spent, 4)}


def signed(shards: Sequence[Path], scheme: str) -> dict[str, float]:
    """Sign the texts of all shards, which are in memory."""
    hasher = MinHasher(128, scheme=scheme, threads=1)
    spent = 0.0
    for column in texts_of(shards):
        spent += timed(partial(hasher.signatures, column))["processor s"]
    return {"processor s": round(spent, 4)}


def file_jobs(
    shards: Sequence[Path], output: Path, memory: str, installations: dict[str, str]
) -> Iterator[tuple[str, Job]]:
    """Yield each job on files with its name."""

    def job(paths: Sequence[Path], python: str, *more: str) -> dict[str, float]:
        output.mkdir()
        try:
            return dedup(paths, output, *more, python=python)
        finally:
            shutil.rmtree(output)

    tables = [as_parquet(shard) for shard in shards]
    engines = (("memory",), ("disk", "--memory", memory))
    searches = (("--scheme", "affine32"), ("--scheme", "fss"), ("--rule", "equal"))
    for (kind, paths), engine, search in product(
        (("jsonl", shards), ("parquet", tables)), engines, searches
    ):
        for when, python in installations.items():
            name = ", ".join([kind, engine[0], search[1], when])
            yield name, partial(job, paths, python, "--engine", *engine, *search)


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/jobs.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--documents", type=int, help=f"default {DOCUMENTS:,}")
    parser.add_argument("--memory", default="1G", help="limit of the engine on disk (default 1G)")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    parser.add_argument("--before", help="the Python of another installation of fastlsh")
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="JSON lines, also .gz or .zst")
    parser.add_argument("--only", nargs="*", default=[""], help="jobs whose names have this")
    options: argparse.Namespace = parser.parse_args(arguments)
    size = 1_000 if options.quick else SHARD
    documents = 4_000 if options.quick else options.documents or DOCUMENTS
    if documents % size:
        raise SystemExit(f"documents come in shards of {size:,}")
    made = options.folder or Path(tempfile.mkdtemp())
    made.mkdir(parents=True, exist_ok=True)
    installations = {"now": sys.executable}
    if options.before:
        installations["before"] = options.before
    working = Path(tempfile.mkdtemp(dir=made))
    try:
        if options.corpus:
            shards = real_shards(working, options.corpus, SHARDS)
            for shard in shards:
                as_parquet(shard)
            documents = sum(map(len, texts_of(shards)))
        else:
            shards = write_shards(made, documents, size)[: documents // size]
        jobs = dict(file_jobs(shards, working / "out", options.memory, installations))
        jobs |= {
            "signatures, affine32": partial(signed, shards, "affine32"),
            "signatures, fss": partial(signed, shards, "fss"),
            "msgspec, lines validated": partial(validated, shards),
        }
        some = next(texts_of(shards))[:EQUAL].to_pylist()
        jobs["equal texts of a list"] = partial(
            timed, partial(deduplicate, some, rule="equal", threads=1)
        )
        jobs["equal texts of a list, Python's set"] = partial(timed, lambda: len(set(some)))
        wanted = [name for name in jobs if any(part in name for part in options.only)]
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in wanted}
        for name in timing.alternating(wanted, records.rounds(options, usual=5, quick=1)):
            if name.startswith("equal texts"):  # a string remembers its own hash
                some[:] = [text.encode().decode() for text in some]
            runs[name].append(jobs[name]())
            print(f"{name}: {runs[name][-1]}", file=sys.stderr, flush=True)
        results = {
            "documents": documents,
            "documents of a list": len(some),
            "bytes": {
                "jsonl": sum(shard.stat().st_size for shard in shards),
                "parquet": sum(as_parquet(shard).stat().st_size for shard in shards),
            },
            "threads": processes.cores(),
            "jobs": {
                name: {key: median(run[key] for run in taken) for key in taken[0]}
                for name, taken in runs.items()
            },
            "runs": {name: [run["processor s"] for run in taken] for name, taken in runs.items()},
        }
    finally:
        shutil.rmtree(working if options.folder else made)
    records.write("jobs-file" if options.corpus else "jobs", options, results)
