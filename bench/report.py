"""Writes the tables from the results: python -m bench report [--check].

A table stands in README.md or in a page of docs, between <!-- bench NAME --> and <!-- /bench -->;
what is outside of such lines is written by hand.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import RESULTS, ROOT, tables
from bench.tables import Records, load

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "benchmarks.md"
MIGRATING = ROOT / "docs" / "migrating.md"
COST = ROOT / "docs" / "cost.md"
PAGES = (README, PAGE, MIGRATING, COST)
BLOCK = re.compile(r"(<!-- bench ([\w -]+) -->\n).*?(<!-- /bench -->)", re.DOTALL)


def place(record: dict[str, Any]) -> str:
    """Return the machine and the version of Python."""
    m = record["machine"]
    return (
        f"{m['cpu']} ({m['instruction_set']}, {m['cores']} cores), {m['system']}, "
        f"Python {record['versions']['python']}"
    )


def machine(records: Records) -> Iterator[str]:
    """Yield where and when each file of results was taken, by which command and beside what."""
    head = ["results", "command", "commit", "date", "processor", "load before"]
    yield from tables.table(
        head,
        ([f"[{name}](../bench/results/{name}.json)", f"`{record['command']}`", record["commit"],
          record["date"], f"{record['machine']['cpu']}, {record['machine']['instruction_set']}",
          str(record["machine"]["load before"])]
         for name, record in records.items()),
    )  # fmt: skip
    systems = {
        f"{place(record).partition(' cores), ')[2]}, kernels built by "
        f"{record['machine'].get('compiler') or 'an unknown compiler'}"
        for record in records.values()
    }
    versions = {
        f"{name} {version}"
        for record in records.values()
        for name, version in record["versions"].items()
        if name != "python"
    }
    yield f"Systems: {'; '.join(sorted(systems))}."
    yield f"Versions: {', '.join(sorted(versions))}."
    yield ""


def summary(records: Records) -> Iterator[str]:
    """Yield what the README shows."""
    yield from tables.in_short(records)
    first = records.get("peers")
    if first:
        yield f"Measured: {place(first)}, commit {first['commit']}, {first['date']}."
        yield ""


BLOCKS: dict[str, Callable[[Records], Iterator[str]]] = {
    "summary": summary,
    "machine": machine,
    **{name: partial(tables.speeds, name=name) for name in ("characters", "words", "hashes")},
    "losses": tables.losses,
    "limit": tables.bare_loop,
    "peers": tables.peers,
    "pure python": tables.pure_python,
    "real texts": tables.real_texts,
    "recall": tables.recall,
    "migrating datasketch": partial(tables.beside, name="datasketch"),
    "migrating rensa": partial(tables.beside, name="rensa"),
    "cost": tables.cost,
    "width": tables.width,
    "spans": tables.spans,
}


def filled(text: str, records: Records) -> str:
    """Return the text with every block made anew; an unknown name is a KeyError."""

    def made(match: re.Match[str]) -> str:
        lines = "\n".join(BLOCKS[match[2]](records))
        return f"{match[1]}\n{lines}\n{match[3]}"

    return BLOCK.sub(made, text)


def main(arguments: Sequence[str]) -> None:
    """Write or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if something is not up to date")
    parser.add_argument(
        "--results", type=Path, help="other results, also of quick runs (default bench/results)"
    )
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="write there, not in place")
    options = parser.parse_args(arguments)
    records = load(options.results or RESULTS, quick=options.results is not None)
    pages = {path: filled(path.read_text(encoding="utf-8"), records) for path in PAGES}
    if options.check:
        old = [p.name for p, new in pages.items() if p.read_text(encoding="utf-8") != new]
        if old:
            print(f"not of bench/results: {', '.join(old)}; run python -m bench report",
                  file=sys.stderr)  # fmt: skip
            raise SystemExit(1)
        return
    for path, text in pages.items():
        (options.to / path.name if options.to else path).write_text(text, encoding="utf-8")
