"""The options of a benchmark, its JSON file, and what a result depends on besides the code."""

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
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastlsh
from bench import RESULTS, ROOT
from bench.processes import cores
from bench.timing import spread
from fastlsh import _kernels

PACKAGES = (
    "numpy", "pyarrow", "datasketch", "rensa", "gaoya", "fastsketchlsh", "scipy", "datatrove",
    "spacy",
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
    # As the run begins: both may change meanwhile.
    result.set_defaults(commit=commit(), load=load())
    return result


def rounds(options: argparse.Namespace, usual: int = 7, quick: int = 2) -> int:
    """Return how many rounds to time."""
    return options.repeats or (quick if options.quick else usual)


def command() -> str:
    """Return what was run, of paths the last part only."""
    words = ["python", "-m", "bench"]
    for word in sys.argv[1:]:
        option, equals, value = word.rpartition("=")
        words.append(option + equals + (Path(value).name if "/" in value else value))
    return shlex.join(words)


def write(name: str, options: argparse.Namespace, results: dict[str, Any]) -> None:
    """Write the JSON file and print the results.

    A quick run writes only where --out or --results says: its numbers are not worth keeping.
    """
    path = target(name, options, None if options.quick else RESULTS)
    if path:
        save(path, name, options, results)
    show(results)
    print(f"{name}: {path or 'nothing written (quick)'}", file=sys.stderr)


def target(name: str, options: argparse.Namespace, usual: Path | None) -> Path | None:
    """Return the JSON file, in the usual folder if the options name none; None for no file."""
    folder: Path | None = options.results or usual
    path: Path | None = options.out
    return path or (folder / f"{name}.json" if folder else None)


def save(path: Path, name: str, options: argparse.Namespace, results: dict[str, Any]) -> None:
    """Write results with machine, versions and commit."""
    record = {
        "benchmark": name,
        "command": command(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": options.commit,
        "quick": options.quick,
        "machine": {**machine(), "load before": options.load},
        "versions": versions(),
        "results": results,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def show(results: Any, indent: int = 0) -> None:
    """Print nested results, a summary on one line."""
    for name, value in results.items():
        if isinstance(value, dict) and "median" in value:
            print(f"{' ' * indent}{name}: {spread(value)}")
        elif isinstance(value, dict):
            print(f"{' ' * indent}{name}:")
            show(value, indent + 2)
        else:
            print(f"{' ' * indent}{name}: {value}")


# ---- the machine


def commit() -> str:
    """Return the commit of the source tree, with a + if the package was changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words]
        if shutil.which("git") is None:
            return ""
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "setup.py")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def load() -> float | None:
    """Return the load; near the number of cores or above it makes the spreads wide."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Return what a reader has to know of the machine."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "instruction_set": _kernels.isa,
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": kernels_compiler(),
    }


def cpu_model() -> str:
    """Return the processor's name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def kernels_compiler() -> str | None:
    """Return the compiler of the kernels as "gcc 12.2.0", read from the built module itself."""
    built = (
        path
        for name, module in sys.modules.items()
        if name.startswith("fastlsh._kernels.") and name.endswith(f"._{_kernels.isa}")
        if (path := getattr(module, "__file__", None))
    )
    path = next(built, None)
    found = re.search(rb"GCC: \([^)]*\) ([0-9.]+)", Path(path).read_bytes() if path else b"")
    if not found:
        return None
    return f"gcc {found[1].decode()}"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version(), "fastlsh": fastlsh.__version__}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
