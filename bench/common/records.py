"""The options and the JSON file of a benchmark."""

import argparse
import datetime
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from bench import RESULTS
from bench.common import machine
from bench.common.timing import spread


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
    result.set_defaults(commit=machine.commit(), load=machine.load())
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
        "machine": {**machine.machine(), "load before": options.load},
        "versions": machine.versions(),
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
