"""Runs benchmarks: all, those that are named, or one with its own options.

    python -m bench [--quick] [NAME ...]   these (default: all), then the tables
    python -m bench NAME [OPTION ...]      one; --help says which options it has

Each writes bench/results/NAME.json, of which the report is made. With --quick everything is small,
and results and report go to a temporary folder.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from time import perf_counter

from bench import ROOT

BENCHMARKS = {
    "kernels": "kernels", "throughput": "peers", "estimates": "peers", "pure_python": "peers",
    "peers": "peers", "index": "pipelines", "accuracy": "pipelines",
}  # fmt: skip
"""What a full run consists of, and the room where each is."""
OTHERS = {
    "decontamination": "pipelines",
    "disk": "pipelines", "instructions": "kernels", "jobs": "pipelines",
    "paired": "pipelines", "report": "report", "spans": "pipelines",
    "width": "pipelines",
}  # fmt: skip
"""What is only run by its name."""
ROOMS = BENCHMARKS | OTHERS
WITH_TEXTS = ("peers",)
"""Those that also take real texts."""
REAL = {
    "peers": ["--documents=50000", "--repeats=3", "--only", "fastlsh, fss", "datasketch", "rensa",
              "rensa, from lists", "FastSketchLSH", "gaoya"],
}  # fmt: skip
"""Further arguments with real texts: what would take minutes is left out."""
Run = tuple[str, list[str]]


def runs(options: argparse.Namespace) -> Iterator[Run]:
    """Yield the name and the arguments of each run."""
    for name in options.names or BENCHMARKS:
        yield name, []
        if options.corpus and name in WITH_TEXTS:
            yield name, ["--corpus", str(options.corpus.resolve()), *REAL.get(name, [])]
        if options.truth and name == "accuracy":
            for truth in sorted(options.truth.resolve().glob("*.truth-char5-*.tsv.gz")):
                texts = truth.with_name(truth.name.partition(".")[0] + ".jsonl.zst")
                yield name, [f"--corpus={texts}", f"--truth={truth}", "--size=5"]


def main(arguments: Sequence[str]) -> None:
    """Run one in this process, or several in processes of their own."""
    named = list(takewhile(ROOMS.__contains__, arguments))
    if len(named) == 1:
        one(named[0], arguments[1:])
    else:
        several(arguments)


def one(name: str, arguments: Sequence[str]) -> None:
    """Run one with its own options."""
    importlib.import_module(f"bench.{ROOMS[name]}.{name}").main(arguments)


def several(arguments: Sequence[str]) -> None:
    """Run them one after the other; a failure does not keep the others from running."""
    parser = argparse.ArgumentParser(
        "python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help=f"of {', '.join(BENCHMARKS)}; only alone: {', '.join(OTHERS)}",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="everything small, in two minutes")
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE", help="JSON lines of real texts, measured as well"
    )
    parser.add_argument(
        "--truth", type=Path, metavar="FOLDER",
        help="NAME.jsonl.zst and NAME.truth-char5-*.tsv.gz, for accuracy",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"{name} is none of {', '.join(BENCHMARKS)}")
    with tempfile.TemporaryDirectory() as folder:
        more = ["--quick", f"--results={folder}"] if options.quick else []
        planned = [(name, [*arguments, *more]) for name, arguments in runs(options)]
        report = [f"--results={folder}", f"--to={folder}"] if options.quick else []
        failed = run_all([*planned, ("report", report)])
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def run_all(planned: Sequence[Run]) -> list[str]:
    """Run one after the other, with a line of progress each; return the names that failed."""
    begin = perf_counter()
    failed = []
    for number, (name, arguments) in enumerate(planned, 1):
        print(f"[{number}/{len(planned)}] {' '.join([name, *arguments])}", flush=True)
        start = perf_counter()
        command = [sys.executable, "-m", "bench", name, *arguments]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(name)
        now = perf_counter()
        print(f"{name}: {now - start:.0f} s, so far {now - begin:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    main(sys.argv[1:])
