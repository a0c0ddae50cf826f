"""Runs all benchmarks, then makes the tables and figures: python -m bench [--quick].

Each runs in a process of its own and writes bench/results/NAME.json; the report is made of these
files. --quick runs everything small, and its results and report go to a temporary folder.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from bench import common

ROOMS = {
    "kernels": "kernels", "throughput": "peers", "ways": "peers", "estimates": "peers",
    "peers": "peers", "candidates": "kernels", "index": "pipelines", "end_to_end": "pipelines",
    "accuracy": "pipelines", "exact": "pipelines", "explain": "pipelines",
    "compat_datasketch": "peers", "datasketch_lsh": "peers", "scale": "pipelines",
}  # fmt: skip
"""Where each benchmark is."""
BENCHMARKS = tuple(ROOMS)
WITH_TEXTS = ("peers", "end_to_end")
"""Those that also take real texts."""
Run = tuple[str, list[str]]


def runs(options: argparse.Namespace) -> Iterator[Run]:
    """Yield the module and the arguments of each run."""
    names = options.only or BENCHMARKS
    for name in names:
        yield name, []
        if options.corpus and name in WITH_TEXTS:
            yield name, ["--corpus", str(options.corpus.resolve()), *REAL.get(name, [])]
        if options.truth and name in ("accuracy", "exact"):
            for truth in sorted(options.truth.resolve().glob("*.truth-char5-*.tsv.gz")):
                texts = truth.with_name(truth.name.partition(".")[0] + ".jsonl.zst")
                yield name, [f"--corpus={texts}", f"--truth={truth}", "--size=5"]


REAL = {
    "peers": ["--documents=50000", "--repeats=3", "--only", "fastlsh, fss", "datasketch", "rensa",
              "rensa, from lists", "FastSketchLSH", "gaoya"],
}  # fmt: skip
"""Further arguments with real texts: what would take minutes is left out."""


def main() -> None:
    """Run all; a failure does not keep the others from running."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="everything small, in two minutes")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, help="these benchmarks")
    parser.add_argument(
        "--corpus", type=Path, metavar="FILE", help="JSON lines of real texts, measured as well"
    )
    parser.add_argument(
        "--truth", type=Path, metavar="FOLDER",
        help="NAME.jsonl.zst and NAME.truth-char5-*.tsv.gz, for accuracy and exact",
    )  # fmt: skip
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        more = ["--quick", f"--results={folder}"] if options.quick else []
        planned = [(name, [*arguments, *more]) for name, arguments in runs(options)]
        report = [f"--results={folder}", f"--to={folder}"] if options.quick else []
        failed = run_all([*planned, ("report", report)])
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def run_all(planned: list[Run]) -> list[str]:
    """Run one after the other, with a line of progress each; return the names that failed."""
    begin = perf_counter()
    failed = []
    for number, (name, arguments) in enumerate(planned, 1):
        print(f"[{number}/{len(planned)}] {' '.join([name, *arguments])}", flush=True)
        start = perf_counter()
        place = f"{ROOMS[name]}.{name}" if name in ROOMS else name
        command = common.module_command(place, *arguments)
        if subprocess.run(command, cwd=common.ROOT, env=os.environ, check=False).returncode:
            failed.append(name)
        now = perf_counter()
        print(f"{name}: {now - start:.0f} s, so far {now - begin:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    main()
