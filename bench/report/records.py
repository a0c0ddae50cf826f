"""The JSON files of the benchmarks, and how their numbers are written."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.common.timing import number, spread

Records = Mapping[str, dict[str, Any]]
"""What each benchmark wrote, by the name of its file."""

ACCURACY = "accuracy-"


def load(folder: Path, *, quick: bool = False) -> Records:
    """Return all files of results; those of quick runs only where asked for."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if record["quick"] and not quick:
            raise SystemExit(f"{path.name} is of a quick run")
        records[path.stem] = record
    return records


def results(records: Records, name: str, *keys: str) -> dict[str, Any]:
    """Return the results of a benchmark, or a part of them; empty if there are none."""
    found: dict[str, Any] = records.get(name, {}).get("results", {})
    for key in keys:
        found = found.get(key, {})
    return found


def table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield a Markdown table, the first column to the left, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def named(name: str, versions: Mapping[str, str]) -> str:
    """Return the name of a contender with its version; ours in bold."""
    library, _, rest = name.partition(",")
    version = versions.get(library.lower())
    full = f"{library} {version}{', ' + rest.strip() if rest else ''}" if version else name
    return f"**{name}**" if is_ours(name) else full


def is_ours(name: str) -> bool:
    """Whether a contender is fastlsh, in whatever scheme."""
    return name.partition(",")[0] == "fastlsh"


def medians(found: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield (what, value) of every number in nested results."""
    for key, value in found.items():
        here = (*path, key)
        if isinstance(value, Mapping) and "median" in value:
            yield ": ".join(here), spread(dict(value))
        elif isinstance(value, Mapping):
            yield from medians(value, here)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            yield ": ".join(here), str(value)
        else:
            yield ": ".join(here), f"{value:,}" if isinstance(value, int) else number(value)
