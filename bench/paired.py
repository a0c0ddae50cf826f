"""Compares two installed versions of fastlsh: python -m bench paired --before P --after P.

P is a Python interpreter with the version. Every measurement is taken with both in turns, each time
in a process of its own on the same processor, with the same number of calls. A ratio is of the two
runs of a pair, after / before: processor seconds of a call, or the growth of the peak of memory.
Printed are the median and the range over the pairs. Both must give the same answers.

Exits with status 1 if a median is above --limit or the answers differ, and says where. Both should
be built by the same compiler. The same interpreter on both sides shows how much chance there is on
the machine: where it is busy, more pairs (--repeats) are needed. Texts are the short (up to 600
characters) and the long (from 2,000 on) ones of --data, a folder with mixed.jsonl.zst and
descriptions.jsonl.zst, or made ones.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import corpus, instructions, processes, records, timing
from bench import paired_jobs as jobs

SIDES = ("before", "after")
PAIRS = 9
LEAST = 0.2
"""Seconds that a measurement takes at least."""
LIMIT = 1.03
Measurement = tuple[Callable[..., Any], tuple[Any, ...]]
"""What is called, and its first arguments."""

MEASUREMENTS: dict[str, Measurement] = {
    **{name: (jobs.timed, (name,)) for name in jobs.TIMED},
    "peak memory of deduplicate": (jobs.memory, ()),
    "import": (jobs.importing, ()),
}


def write_texts(folder: Path, data: Path | None, quick: bool) -> None:
    """Write the texts where the processes find them."""
    counts = {jobs.SHORT: 200, jobs.LONG: 20} if quick else {jobs.SHORT: 8_000, jobs.LONG: 600}
    for kind, count in counts.items():
        if data:
            texts = real_texts(data, kind, count)
        elif kind == jobs.SHORT:
            texts = corpus.Writer(1).collection(count, 300)
        else:
            texts = corpus.Writer(2).collection(count, 8_000)
        corpus.save(folder / f"{kind}.jsonl", texts)


def real_texts(data: Path, kind: str, count: int) -> list[str]:
    """Return the first short or long texts."""
    if kind == jobs.SHORT:
        path = data / "descriptions.jsonl.zst"
        return corpus.read(path, first=count, wanted=lambda text: len(text) <= 600)
    path = data / "mixed.jsonl.zst"
    return corpus.read(path, first=count, wanted=lambda text: len(text) >= 2_000)


Pythons = dict[str, str]
"""The interpreter of each side."""


def measured(
    name: str, pythons: Pythons, folder: Path, count: int, least: float, processor: int
) -> dict[str, Any]:
    """Return the ratios of one measurement."""
    function, first = MEASUREMENTS[name]

    def take(side: str, calls: int) -> dict[str, Any]:
        found: dict[str, Any] = processes.call(
            function, *first, str(folder), calls, least,
            python=pythons[side], processor=processor,
        )  # fmt: skip
        return found

    tried = {side: take(side, 0) for side in SIDES}
    calls = max(found["calls"] for found in tried.values())
    values: dict[str, list[float]] = {side: [] for side in SIDES}
    for side in timing.alternating(SIDES, count):
        values[side].append(take(side, calls)["value"])
    return {
        "after / before": timing.ratio(values["after"], values["before"]),
        **{side: timing.summary(values[side]) for side in SIDES},
        "calls": calls,
        "same answers": tried["before"]["result"] == tried["after"]["result"],
    }


def counted(pythons: Pythons) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the ratios of counted instructions, which are the same in every run."""
    counts = {side: instructions.counted(pythons[side]) for side in SIDES}
    for isa, found in counts["before"].items():
        for job, before in found.items():
            after = counts["after"][isa][job]
            yield f"instructions, {isa}, {job}", {
                "after / before": timing.ratio([after], [before]), "before": before, "after": after,
            }  # fmt: skip


def complaints(results: dict[str, Any], limit: float) -> list[str]:
    """Return what is worse than it was, and what differs."""
    worse = [
        f"{name}: {timing.spread(found['after / before'])}, above {limit:g}"
        for name, found in results.items()
        if found["after / before"]["median"] > limit
    ]
    differ = [
        f"{name}: other answers" for name, found in results.items()
        if not found.get("same answers", True)
    ]  # fmt: skip
    return worse + differ


def identities(pythons: Pythons) -> dict[str, dict[str, str]]:
    """Return what is compared; it should differ in nothing but fastlsh."""
    found = {side: processes.call(jobs.identity, python=python) for side, python in pythons.items()}
    for side in SIDES:
        print(f"{side}: " + ", ".join(f"{key} {value}" for key, value in found[side].items()))
    before, after = (found[side] for side in SIDES)
    for key in ("python", "numpy", "instruction set"):
        if before[key] != after[key]:
            print(f"not the same {key}: the ratios are not of fastlsh alone", file=sys.stderr)
    places = [side.pop("place") for side in found.values()]
    if places[0] == places[1] and pythons["before"] != pythons["after"]:
        raise SystemExit(f"both interpreters import {places[0]}: is PYTHONPATH set?")
    return found


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = records.parser(__doc__)
    parser.set_defaults(data=os.environ.get("FASTLSH_DATA"))
    parser.add_argument("--before", required=True, metavar="PYTHON")
    parser.add_argument("--after", default=sys.executable, metavar="PYTHON", help="default: this")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"default {LIMIT:g}")
    parser.add_argument("--only", nargs="+", metavar="WORDS", help="names that contain them")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="default: $FASTLSH_DATA")
    parser.add_argument(
        "--processor", type=int, default=processes.processors()[-1], help="default: the last one"
    )
    parser.add_argument("--instructions", action="store_true", help="counts by valgrind, too")
    options = parser.parse_args(arguments)
    options.count = records.rounds(options, usual=PAIRS)
    if options.count < PAIRS and not options.quick:
        parser.error(f"--repeats: at least {PAIRS} pairs")
    options.names = [
        name for name in MEASUREMENTS
        if not options.only or any(words in name for words in options.only)
    ]  # fmt: skip
    if not options.names:
        parser.error(f"--only: none of {'; '.join(MEASUREMENTS)}")
    return options


def main(arguments: Sequence[str]) -> None:
    """Measure and compare; write JSON only where --out or --results says."""
    options = read(arguments)
    pythons = {"before": options.before, "after": options.after}
    compared = identities(pythons)
    results: dict[str, Any] = {}

    def add(name: str, found: dict[str, Any]) -> None:
        results[name] = found
        print(f"{name}: {timing.spread(found['after / before'])}", flush=True)

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_texts(folder, options.data and Path(options.data), options.quick)
        least = LEAST / 20 if options.quick else LEAST
        measure = partial(
            measured, pythons=pythons, folder=folder, count=options.count, least=least,
            processor=options.processor,
        )  # fmt: skip
        for name in options.names:
            add(name, measure(name))
    if options.instructions:
        for name, found in counted(pythons):
            add(name, found)
    target = records.target("paired", options, None)
    if target:
        records.save(target, "paired", options, {"compared": compared, "measurements": results})
    wrong = complaints(results, options.limit)
    if wrong:
        raise SystemExit("\n".join(["worse than before:", *wrong]))
