"""What the benchmarks share: fair timing, the machine, the JSON files."""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import fastlsh
from fastlsh import _kernels

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
RESULTS = HERE / "results"
PACKAGES = (
    "numpy", "pyarrow", "datasketch", "rensa", "gaoya", "fastsketchlsh", "scipy",
)  # fmt: skip


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("--quick", action="store_true", help="seconds; shows that it runs")
    result.add_argument("--repeats", type=int, default=0, help="rounds (default 7, quick: 2)")
    result.add_argument("--out", type=Path, help="the JSON file (default RESULTS/NAME.json)")
    result.add_argument("--results", type=Path, help="the folder RESULTS (default bench/results)")
    return result


def rounds(options: argparse.Namespace) -> int:
    """Return how many rounds to time."""
    return options.repeats or (2 if options.quick else 7)


def interleave(
    work: Mapping[str, Callable[[], Any]],
    count: int,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, list[float]]:
    """Time each function once a round, after a warm-up; seconds by name.

    A, B, C, A, B, C...: what disturbs the machine disturbs all alike, so ratios are taken within
    a round. Every second round goes backwards. `clock` may be `time.process_time` where all sides
    use one thread.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    for function in work.values():
        function()
    for number in range(count):
        names = list(work)
        for name in names if number % 2 == 0 else reversed(names):
            start = clock()
            work[name]()
            times[name].append(clock() - start)
    return times


def summary(values: Iterable[float]) -> dict[str, Any]:
    """Return median, least, greatest and count."""
    numbers = list(values)
    return {
        "median": significant(statistics.median(numbers)),
        "min": significant(min(numbers)),
        "max": significant(max(numbers)),
        "runs": len(numbers),
    }


def ratio(above: list[float], below: list[float], factor: float = 1.0) -> dict[str, Any]:
    """Return the summary of the ratios within each round, times `factor`."""
    return summary(factor * a / b for a, b in zip(above, below, strict=True))


def significant(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")


def cpu_model() -> str:
    """Return the processor's name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """Return the commit of the source tree, with a + if the package was changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(HERE), *words]
        if shutil.which("git") is None:
            return ""
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "../src", "../setup.py")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


# As the run begins; a load near the number of cores or above makes the spreads wide.
COMMIT = commit()
LOAD = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version(), "fastlsh": fastlsh.__version__}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def kernels_compiler() -> str | None:
    """Return the compiler of the kernels as "gcc 12.2.0", read from the built module itself."""
    module = getattr(sys.modules[f"fastlsh._kernels.api._{_kernels.isa}"], "__file__", None)
    found = re.search(rb"GCC: \([^)]*\) ([0-9.]+)", Path(module).read_bytes() if module else b"")
    return f"gcc {found[1].decode()}" if found else None


def command() -> str:
    """Return what was run, of paths the last part only."""
    spec = sys.modules["__main__"].__spec__
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    return shlex.join(["python", "-m", spec.name if spec else sys.argv[0], *words])


def module_command(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package in a process of its own.

    It must be started in `ROOT`.
    """
    return [sys.executable, "-m", f"bench.{name}", *arguments]


def write(name: str, options: argparse.Namespace, results: dict[str, Any]) -> None:
    """Write the JSON file and print the results.

    A quick run writes only where --out or --results says: its numbers are not worth keeping.
    """
    record = {
        "benchmark": name,
        "command": command(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": COMMIT,
        "quick": options.quick,
        "machine": {
            "cpu": cpu_model(),
            "cores": cores(),
            "instruction_set": _kernels.isa,
            "system": f"{platform.system()} {platform.machine()}",
            "load before": LOAD,
            "compiler": kernels_compiler(),
        },
        "versions": versions(),
        "results": results,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    folder = options.results or (None if options.quick else RESULTS)
    target = options.out or (folder / f"{name}.json" if folder else None)
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    show(results)
    print(f"{name}: {target or 'nothing written (quick)'}", file=sys.stderr)


def show(results: Any, indent: int = 0) -> None:
    """Print nested results, a summary on one line."""
    for name, value in results.items():
        if isinstance(value, dict) and "median" in value:
            print(f"{' ' * indent}{name}: {value['median']} ({value['min']} .. {value['max']})")
        elif isinstance(value, dict):
            print(f"{' ' * indent}{name}:")
            show(value, indent + 2)
        else:
            print(f"{' ' * indent}{name}: {value}")
