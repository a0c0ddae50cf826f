"""Collections that would break an engine on disk: `fastlsh dedup --engine disk` stays in its limit.

Each is made twice, the second one twice as large, and goes through the whole command:

* identical: the same document of 1,000 characters
* chain: each document is like the next one (J = 0.89) and not like the one after it (0.78), so
  that all of them are one family
* half: a chain of documents of 1,000 characters that is half of the collection, the other half
  made documents; the family is many times larger than --memory
* template: documents that share most of their text (J = 0.74), each a candidate of all others and
  none a near-duplicate at the threshold 0.8
* files: so many files of one row

Measured are processor and wall time, the time of twice as many as a multiple, and the most
anonymous memory and the largest work directory that were seen.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench import common
from bench.common.corpus import LETTERS, Writer
from bench.pipelines.disk import dedup

LONG = 1_000
LINKED = 6
"""Percent of a text that the next one of a chain has not."""
PIECE = 10_000
"""Documents that are made at a time."""


def identical(count: int) -> Iterator[str]:
    """Yield the same text again and again."""
    text = Writer(1).text(LONG)
    yield from (text for _ in range(count))


def chain(count: int) -> Iterator[str]:
    """Yield texts that are each a window of one long text, a little further on each time."""
    writer = Writer(2)
    step = LONG * LINKED // 100
    text = writer.text(LONG)
    for number in range(count):
        at = number % PIECE * step
        if not at:
            text = text[-LONG:] if number else text
            text += writer.text(PIECE * step)
        yield text[at : at + LONG]


def half(count: int) -> Iterator[str]:
    """Yield a chain, and after each of its documents one that is like no other."""
    writer = Writer(3)
    for text in chain(count // 2):
        yield text
        yield writer.text(LONG)


def template(count: int) -> Iterator[str]:
    """Yield texts that share all but a few words."""
    writer = Writer(4)
    own = LONG * 44 // 300
    shared = writer.text(LONG - own)
    for first in range(0, count, PIECE):
        letters = writer.rng.choice(list(LETTERS), (min(PIECE, count - first), own))
        yield from (shared + "".join(row) for row in letters)


def files(count: int) -> Iterator[str]:
    """Yield texts, of which one in ten is like an earlier one."""
    yield from Writer(5).collection(count, LONG)


KINDS: dict[str, tuple[Callable[[int], Iterator[str]], int, tuple[float, float]]] = {
    "identical": (identical, 1_000_000, (0, 0)),
    "chain": (chain, 200_000, (0.49, 0.55)),
    "half": (half, 2_000_000, (0.74, 0.78)),
    "template": (template, 1_000_000, (1, 1)),
    "files": (files, 100_000, (0.89, 0.95)),
}
"""What is made, how many of it, and which share is kept: from, to, give or take one document."""


def write(folder: Path, kind: str, count: int) -> list[Path]:
    """Write a collection; return the inputs of the command."""
    texts = enumerate(KINDS[kind][0](count))
    if kind == "files":
        inputs = folder / "files"
        for number, text in texts:
            place = inputs / f"{number // 1000:03}"
            place.mkdir(parents=True, exist_ok=True)
            row = json.dumps({"id": number, "text": text})
            (place / f"{number}.jsonl").write_text(row + "\n")
        return [inputs, Path("--recursive")]
    path = folder / f"{kind}.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        while lines := [
            json.dumps({"id": number, "text": text}) + "\n" for number, text in islice(texts, PIECE)
        ]:
            stream.writelines(lines)
    return [path]


def measured(folder: Path, kind: str, count: int, memory: str) -> dict[str, float]:
    """Make a collection, measure the command, and check how many rows are kept."""
    here = Path(tempfile.mkdtemp(dir=folder))
    try:
        inputs = write(here, kind, count)
        output = here / "kept.jsonl"
        taken = dedup(inputs, output, "--engine", "disk", "--memory", memory)
        with output.open("rb") as stream:
            kept = sum(1 for _ in stream)
        low, high = (share * count for share in KINDS[kind][2])
        assert low - 1 <= kept <= high + 1, f"{kind}: {kept:,} of {count:,} are kept"
        return {"documents": count, "kept": kept, **taken}
    finally:
        shutil.rmtree(here)


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/hostile.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--memory", default="300M", help="limit of the engine (default 300M)")
    parser.add_argument("--folder", type=Path, help="where files are made")
    parser.add_argument("--part", type=int, default=1, help="measure this fraction: 10 is a tenth")
    options: argparse.Namespace = parser.parse_args(arguments)
    part = 500 if options.quick else options.part
    results: dict[str, Any] = {"threads": common.cores(), "memory": options.memory}
    for kind in options.only:
        count = KINDS[kind][1] // part // 2 * 2
        found = [
            measured(options.folder, kind, each, options.memory) for each in (count // 2, count)
        ]
        times = [each["processor s"] for each in found]
        results[kind] = {f"{each['documents']:,}": each for each in found}
        results[kind]["time of twice as many"] = round(times[1] / times[0], 2)
        print(f"{kind}: {results[kind]}", flush=True)
    common.write("hostile", options, results)
