"""The whole command on files: processor time over that of the signatures alone, wall time, memory.

`fastlsh dedup IN -o OUT` at its defaults, JSON lines and Parquet in and out, in memory and on
disk (with --memory 1G). In turns with it, a
process of its own holds the same texts in a list and makes their signatures, with the same scheme
and threads. Processor time is that of users and of the system, of all threads; the command's is
that of its whole process, the start of Python included. Made documents of about 1,000 characters,
one in ten a near-duplicate, or with --corpus the rows of a file of JSON lines, as they are.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus

FORMATS = ("jsonl", "parquet")
ENGINES: dict[str, list[str]] = {"memory": [], "disk": ["--memory", "1G"]}
"""Each with further options."""
LENGTH = 1_000


def make(folder: str, source: str | None, count: int) -> dict[str, Any]:
    """Write the input in each format; return what it has."""
    rows = Path(folder) / "in.jsonl"
    if source is None:
        texts = corpus.Writer(11).collection(count, LENGTH)
        with rows.open("w", encoding="utf-8") as stream:
            for number, text in enumerate(texts):
                stream.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
    else:
        with rows.open("w", encoding="utf-8") as stream:
            stream.writelines(corpus.lines(Path(source)))
    made = {"documents": sum(1 for _ in corpus.lines(rows))}
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return made
    columns: dict[str, list[Any]] = {}
    for line in corpus.lines(rows):
        for key, value in json.loads(line).items():
            columns.setdefault(key, []).append(value)
    pq.write_table(pa.table(columns), rows.with_suffix(".parquet"), compression="zstd")
    return made


def sign(file: str, threads: int) -> dict[str, float]:
    """Return what the signatures of the texts in a list take."""
    texts = corpus.read(Path(file))
    hasher = fastlsh.MinHasher(shingler=fastlsh.Shingler(), threads=threads)
    hasher.signatures(texts[:100])  # loads what is loaded late
    wall, processor = perf_counter(), process_time()
    hasher.signatures(texts)
    return {"processor": process_time() - processor, "wall": perf_counter() - wall}


def dedup(source: Path, output: Path, engine: str, threads: int) -> dict[str, float]:
    """Run the command; return what it took."""
    command = [
        sys.executable, "-m", "fastlsh", "dedup", str(source), "-o", str(output),
        "-q", "--threads", str(threads), "--engine", engine, *ENGINES[engine],
    ]  # fmt: skip
    start = perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return {
        "processor": used.ru_utime + used.ru_stime,
        "wall": perf_counter() - start,
        "peak": used.ru_maxrss * 1024,
    }


def measured(folder: Path, kind: str, engine: str, threads: int, count: int) -> dict[str, Any]:
    """Measure one format and engine, in turns with the signatures."""
    source, output = folder / f"in.{kind}", folder / f"out.{kind}"
    dedup(source, output, engine, threads)  # the file is in the page cache from now on
    rounds: dict[str, list[dict[str, float]]] = {"signatures": [], "command": []}
    for name in common.alternating(rounds, count):
        if name == "signatures":
            taken = common.call(sign, str(folder / "in.jsonl"), threads)
        else:
            taken = dedup(source, output, engine, threads)
        rounds[name].append(taken)
    signed, command = rounds["signatures"], rounds["command"]
    processor = [each["processor"] for each in command]
    alone = [each["processor"] for each in signed]
    return {
        "MB": round(source.stat().st_size / 1e6, 1),
        "processor time / signatures": common.ratio(processor, alone),
        "processor time / wall time": common.ratio(processor, [each["wall"] for each in command]),
        "signatures, processor s": common.summary(alone),
        "command, processor s": common.summary(processor),
        "command, wall s": common.summary(each["wall"] for each in command),
        "peak memory, MB": common.summary(each["peak"] / 1e6 for each in command),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/files.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="JSON lines, also .gz or .zst")
    parser.add_argument("--documents", type=int, default=0, help="made ones (default 200,000)")
    parser.add_argument("--only", choices=FORMATS, help="one format")
    parser.add_argument("--folder", type=Path, help="where files are made (default: temporary)")
    options: argparse.Namespace = parser.parse_args(arguments)
    if not hasattr(os, "wait4"):
        raise SystemExit("this system does not tell what a process has used")
    documents = options.documents or (2_000 if options.quick else 200_000)
    threads = min(2, common.cores())
    folder = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        made = common.call(make, str(folder), options.corpus and str(options.corpus), documents)
        results: dict[str, Any] = {**made, "threads": threads}
        count = common.rounds(options, usual=5)
        for kind in FORMATS:
            if options.only in (None, kind) and (folder / f"in.{kind}").exists():
                # That each format is read and written does not take each engine.
                engines = list(ENGINES)[: 1 if options.quick and kind != FORMATS[0] else None]
                for engine in engines:
                    name = f"{kind}, {engine}"
                    results[name] = measured(folder, kind, engine, threads, count)
    finally:
        shutil.rmtree(folder)
    common.write("files-file" if options.corpus else "files", options, results)
