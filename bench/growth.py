"""Larger than memory: how time, memory and disk of `fastlsh dedup` grow with the input.

disk    --engine disk on 0.5, 1, 2, 4 and 8 million made documents of about 1,000 characters, one in
        ten a near-duplicate; then 2 million documents under several limits of memory, with the most
        memory of each stage; then both engines, whose outputs must be the same, byte by byte.
spans   --by span on made documents of two halves of 1,500 characters each; a half is one of the
        1,000 passages of its shard with a probability of 1 %, 30 % or 99 %. With --corpus also on
        real texts, for passages of 500 and of 100 characters.

Each size is the first shards of the next one. Measured are processor and wall time of the whole
command, the most anonymous memory that its process held and the largest size of its work directory,
both sampled. A slope is that of log(processor time) over log(size): 1 is linear.
"""

import argparse
import filecmp
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np

from bench import corpus, processes, records
from bench.timing import alternating
from fastlsh.files.budget import parse_memory
from fastlsh.files.disk.gathered import TEXTS

LENGTH = 1_000
SIZES = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000]
SAME = 2_000_000
SHARD = 250_000
OFTEN = 2_000_000
"""Documents: larger sizes are measured once."""
LIMITS = ("4G", "1G", "300M")
HALF = 1_500
PASSAGES = 1_000
SHARED = 1 << 20
"""The seeds of passages begin behind those of other text."""
SHARES = (0.01, 0.3, 0.99)
SHARDS = (1, 2, 4, 8)
LENGTHS = {"char": 500, "word": 100}
"""The least length of a passage, by its unit."""
Taken = dict[str, float]
Texts = Callable[[int, int], list[str]]
"""Makes the texts of a shard: its number, and how many."""


# ---- the inputs


def near_duplicates(number: int, count: int) -> list[str]:
    """Return texts of about 1,000 characters, one in ten a near-duplicate."""
    return corpus.Writer(number).collection(count, LENGTH)


def passages(number: int, count: int, share: float) -> list[str]:
    """Return texts of two halves, which are repeated ones with a probability."""
    draw, shared = Random(number), corpus.Writer(SHARED + number).texts(PASSAGES, HALF)
    writer = corpus.Writer(number + 1)
    return [
        "\n".join(
            draw.choice(shared) if draw.random() < share else writer.text(HALF) for _ in range(2)
        )
        for _ in range(count)
    ]


def write_shard(folder: Path, size: int, texts: Texts, number: int) -> Path:
    """Write one shard of so many documents, unless it is there."""
    path = folder / f"{number:04}-of-{size}.jsonl"
    if path.exists():
        return path
    with path.with_suffix(".part").open("w", encoding="utf-8") as stream:
        for place, text in enumerate(texts(number, size)):
            stream.write(json.dumps({"id": number * size + place, "text": text}) + "\n")
    return path.with_suffix(".part").rename(path)


def write_shards(
    folder: Path, documents: int, size: int, texts: Texts = near_duplicates
) -> list[Path]:
    """Write the shards of so many documents, in a process for each processor."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes.cores()) as pool:
        return list(pool.map(partial(write_shard, folder, size, texts), range(documents // size)))


# ---- the command


def dedup(
    shards: Sequence[Path],
    output: Path,
    *more: str,
    stages: Taken | None = None,
    python: str = sys.executable,
) -> Taken:
    """Run the command; return what it took, and the most memory and disk that was seen.

    The work directory is also counted in two parts: the gathered texts, and all besides.
    `stages` is given the most anonymous memory of each stage, in MB; `python` is the Python of the
    installation.
    """
    work, log = output.with_suffix(".work"), output.with_suffix(".log")
    log.unlink(missing_ok=True)
    command = [
        python, "-m", "fastlsh", "dedup", *map(str, shards), "-o", str(output),
        "--removed", str(output.with_suffix(".removed.tsv")), "--log", str(log), "-q", *more,
    ]  # fmt: skip
    if "disk" in more:
        command += ["--work", str(work)]
    most = [0, 0, 0]

    def look(held: int) -> None:
        if stages is not None and (stage := stage_of(log)):
            stages[stage] = max(stages.get(stage, 0), round(held / 1e6))
        texts, others = sizes_of(work)
        most[:] = map(max, most, (texts + others, texts, others))

    taken = processes.sampled(command, look)
    names = ("work MB", "gathered MB", "besides MB")
    return {**taken, **{name: round(size / 1e6) for name, size in zip(names, most, strict=True)}}


def stage_of(log: Path) -> str | None:
    """Return the stage that the log of a run has told of last."""
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
        stages = [json.loads(line).get("stage") for line in lines]
    except (OSError, ValueError):
        return None
    return next((stage for stage in reversed(stages) if stage), None)


def sizes_of(folder: Path) -> tuple[int, int]:
    """Return the bytes of gathered texts, and of other files, in a folder that changes."""
    texts = others = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size = os.stat(os.path.join(parent, name)).st_size
                texts, others = texts + size * (name == TEXTS), others + size * (name != TEXTS)
    return texts, others


def grown(
    shards: Sequence[Path], counts: Sequence[int], folder: Path, more: Sequence[str], rounds: int
) -> dict[int, Taken]:
    """Run the command on so many first shards each, in turns; return the medians."""
    runs: dict[int, list[Taken]] = {count: [] for count in counts}
    for number, name in enumerate(alternating(map(str, counts), rounds)):
        count = int(name)
        if number >= len(counts) and count * SHARD > OFTEN:
            continue
        runs[count].append(dedup(shards[:count], folder / "out.jsonl", *more))
        print(f"{count} shards: {runs[count][-1]}", file=sys.stderr, flush=True)
    return {
        count: {**{key: median(run[key] for run in taken) for key in taken[0]}, "runs": len(taken)}
        for count, taken in runs.items()
    }


def slope(found: dict[int, Taken], start: float = 0) -> float:
    """Return how the processor time grows, without the time that the command takes to start."""
    seconds = [max(taken["processor s"] - start, 0.01) for taken in found.values()]
    return round(float(np.polyfit(np.log(list(found)), np.log(seconds), 1)[0]), 3)


# ---- documents


def limited(folder: Path, shards: Sequence[Path]) -> dict[str, Any]:
    """Measure the most memory of each stage under several limits, on the same documents."""
    found: dict[str, Any] = {}
    for memory in LIMITS:
        stages: Taken = {}
        more = ("--engine", "disk", "--memory", memory)
        taken = dedup(shards, folder / "out.jsonl", *more, stages=stages)
        within = taken["anonymous MB"] * 1e6 <= parse_memory(memory)
        found[memory] = {**taken, "within the limit": within, "anonymous MB by stage": stages}
        print(f"{memory}: {found[memory]}", file=sys.stderr, flush=True)
    return found


def same(folder: Path, shards: Sequence[Path], memory: str) -> dict[str, Any]:
    """Compare the outputs of both engines."""
    found: dict[str, Any] = {}
    for engine, more in (("memory", ()), ("disk", ("--memory", memory))):
        found[engine] = dedup(shards, folder / f"{engine}.jsonl", "--engine", engine, *more)
    for end in ("jsonl", "removed.tsv"):
        left, right = (folder / f"{engine}.{end}" for engine in ("memory", "disk"))
        if not filecmp.cmp(left, right, shallow=False):
            raise SystemExit(f"{left} and {right} differ")
    return found


def disk(arguments: Sequence[str]) -> None:
    """Measure and write results/disk.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", help=f"default {SIZES}")
    parser.add_argument("--same", type=int, default=SAME, help=f"default {SAME:,}; 0: none")
    parser.add_argument("--limited", type=int, default=SAME, help=f"default {SAME:,}; 0: none")
    parser.add_argument("--memory", default="1G", help="limit of the engine (default 1G)")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options: argparse.Namespace = parser.parse_args(arguments)
    size = 1_000 if options.quick else SHARD
    counts = options.sizes if options.sizes is not None else SIZES
    if options.quick:
        counts, options.same, options.limited = [2_000, 4_000], 4_000, 4_000
    if any(count % size for count in [*counts, options.same, options.limited]):
        raise SystemExit(f"sizes are multiples of {size:,}")
    made = options.folder or Path(tempfile.mkdtemp())
    results: dict[str, Any] = {"threads": processes.cores(), "memory": options.memory}
    shards = write_shards(made, max([*counts, options.same, options.limited]), size)
    working = Path(tempfile.mkdtemp(dir=made))
    try:
        if counts:
            rounds = records.rounds(options, usual=1, quick=1)
            more = ("--engine", "disk", "--memory", options.memory)
            found = grown(shards, [count // size for count in counts], working, more, rounds)
            results["growth"] = {
                f"{n * size:,}": {
                    **taken,
                    "work bytes / document": round(1e6 * taken["work MB"] / (n * size)),
                    "processor µs / document": round(1e6 * taken["processor s"] / (n * size), 1),
                }
                for n, taken in found.items()
            }
            if len(counts) > 1:
                results["growth"]["slope"] = slope(found)
        if options.limited:
            part = shards[: options.limited // size]
            results[f"limits, {options.limited:,}"] = limited(working, part)
        if options.same:
            part = shards[: options.same // size]
            results[f"same answer, {options.same:,}"] = same(working, part, options.memory)
    finally:
        shutil.rmtree(working if options.folder else made)
    records.write("disk", options, results)


# ---- passages


def with_rates(taken: Taken, characters: float) -> Taken:
    """Add what each character took."""
    return {
        "MB of text": round(characters / 1e6, 1),
        **taken,
        "MB of text a core-second": round(characters / 1e6 / taken["processor s"], 1),
        "work bytes a byte of text": round(taken["besides MB"] * 1e6 / characters, 3),
    }


def spans(arguments: Sequence[str]) -> None:
    """Measure and write results/spans.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--corpus", type=Path, help="real texts, JSON lines")
    parser.add_argument("--unit", choices=LENGTHS, default="char", help="of made texts")
    parser.add_argument("--documents", type=int, default=20_000, help="of a shard")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options = parser.parse_args(arguments)
    documents = 20 if options.quick else options.documents
    rounds = records.rounds(options, usual=1, quick=1)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder, kept = Path(name), options.folder or Path(name)

        def more(unit: str, length: int) -> list[str]:
            by = ["--by", "span", "--unit", unit, "--min-length", str(length), "--threads", "1"]
            return [*by, "--engine", "disk", "--memory", "500M"]

        usual = more(options.unit, LENGTHS[options.unit])
        one = write_shard(folder, 1, partial(passages, share=0), 0)
        start = dedup([one], folder / "out.jsonl", *usual)["processor s"]
        for share in SHARES[1:2] if options.quick else SHARES:
            texts = partial(passages, share=share)
            shards = write_shards(kept / f"{share:.0%}", SHARDS[-1] * documents, documents, texts)
            found = grown(shards, SHARDS, folder, usual, rounds)
            size = documents * (2 * HALF + 1)
            results[f"{share:.0%} repeated"] = {
                **{f"{n} shards": with_rates(taken, n * size) for n, taken in found.items()},
                "processor s of one document": start,
                "slope": slope(found, start),
            }
        if options.corpus is not None:
            size = sum(len(text.encode()) for text in corpus.read(options.corpus))
            for length in (500, 100):
                taken = dedup([options.corpus], folder / "out.jsonl", *more("char", length))
                results[f"real texts, L = {length}"] = with_rates(taken, size)
    records.write("spans", options, results)
