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

from bench import RESULTS, ROOT
from bench.report import answers, cost, speed
from bench.report.records import Records, load

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
    """Yield where and when each file of results was taken, and by which command."""
    where = {
        f"{place(record)}, kernels built by "
        f"{record['machine'].get('compiler') or 'an unknown compiler'}; "
        + ", ".join(f"{n} {v}" for n, v in record["versions"].items() if n != "python")
        for record in records.values()
    }
    yield from (f"* {line}" for line in sorted(where))
    yield ""
    yield "| command | commit | date | load before |"
    yield "| --- | --- | --- | ---: |"
    for record in records.values():
        load = record["machine"]["load before"]
        yield f"| `{record['command']}` | {record['commit']} | {record['date']} | {load} |"
    yield ""


def summary(records: Records) -> Iterator[str]:
    """Yield what the README shows."""
    yield from answers.in_short(records)
    first = records.get("peers")
    if first:
        yield f"Measured on: {place(first)}, commit {first['commit']}, {first['date']}."
        yield ""


OTHERS = {"index": "Index: insert, query, memory"}
"""Benchmarks of which all numbers are shown as they are."""

BLOCKS: dict[str, Callable[[Records], Iterator[str]]] = {
    "summary": summary,
    "machine": machine,
    "characters": partial(speed.throughput, part="raw texts, characters"),
    "words": partial(speed.throughput, part="raw texts, words"),
    "hashes": partial(speed.throughput, part="ready hashes"),
    "losses": speed.losses,
    "limit": speed.limit,
    "estimates": answers.estimates,
    "peers": answers.peers,
    "pure python": answers.pure_python,
    "real texts": answers.real_texts,
    "recall": answers.recall,
    "migrating datasketch": partial(answers.beside, name="datasketch"),
    "migrating rensa": partial(answers.beside, name="rensa"),
    "cost": cost.cost,
    "beyond signatures": cost.beyond,
    "width": cost.width,
    "spans": cost.spans,
    **{name: partial(speed.other, name=name, heading=head) for name, head in OTHERS.items()},
}


def filled(text: str, records: Records) -> str:
    """Return the text with every block made anew; an unknown name is a KeyError."""

    def made(match: re.Match[str]) -> str:
        lines = "\n".join(BLOCKS[match[2]](records))
        return f"{match[1]}\n{worded(lines)}\n{match[3]}"

    return BLOCK.sub(made, text)


def worded(text: str) -> str:
    """Return names of results, which never change, in better words."""
    text = re.sub(r"\b([0-9,]+|bytes|hashes) a (document|pair)\b", r"\1 per \2", text)
    return text.replace("ready hashes", "precomputed hashes").replace(
        "made texts", "generated texts"
    )


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
