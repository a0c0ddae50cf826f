"""Repeated passages on disk: time, memory and disk of `fastlsh dedup --by span`, and their growth.

Made documents of two halves of 1,500 characters each; a half is one of the 1,000 passages of its
shard with a probability of 1 %, 30 % or 99 %, and otherwise text of its own. Each size is the first
shards of the next one, and repeats itself as much: with the same passages in all shards, windows
that lie in both halves would be repeated more and more. The slope is that of log(processor time)
over log(characters), without the time that the command takes for one short document. With --corpus
real texts are measured, for passages of 500 and of 100 characters. Disk is what the work directory
takes at most besides the gathered texts of passages, and what these take.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import numpy as np

from bench import common
from bench.common import corpus
from bench.pipelines.disk import SAMPLED, anonymous_memory
from fastlsh.files.disk.gathered import TEXTS

HALF = 1_500
PASSAGES = 1_000
SHARED = 1 << 20
"""The seeds of passages begin behind those of other text."""
SHARES = (0.01, 0.3, 0.99)
SIZES = (1, 2, 4, 8)
"""Shards."""
MEMORY = "500M"
LENGTHS = {"char": 500, "word": 100}
"""The least length of a passage, by its unit."""


def write_shard(path: Path, number: int, share: float, documents: int) -> Path:
    """Write a shard of documents of two halves, unless it is there."""
    if path.exists():
        return path
    draw, shared = Random(number), corpus.Writer(SHARED + number).texts(PASSAGES, HALF)
    writer = corpus.Writer(number + 1)
    with path.with_suffix(".part").open("w", encoding="utf-8") as stream:
        for place in range(documents):
            halves = [
                draw.choice(shared) if draw.random() < share else writer.text(HALF)
                for _ in range(2)
            ]
            row = {"id": number * documents + place, "text": "\n".join(halves)}
            stream.write(json.dumps(row) + "\n")
    return path.with_suffix(".part").rename(path)


def write_shards(folder: Path, share: float, documents: int, count: int) -> list[Path]:
    """Write shards, in a process for each processor."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(common.cores()) as pool:
        written = [
            pool.submit(
                write_shard, folder / f"{number}-of-{documents}.jsonl", number, share, documents
            )
            for number in range(count)
        ]
        return [shard.result() for shard in written]


def cost(
    inputs: Sequence[Path], folder: Path, length: int, unit: str = "char", memory: str = MEMORY
) -> dict[str, float]:
    """Run the command; return what it took."""
    work = folder / "work"
    command = [
        sys.executable, "-m", "fastlsh", "dedup", *map(str, inputs), "-o",
        str(folder / "kept.jsonl"), "--by", "span", "--unit", unit, "--min-length", str(length),
        "--engine", "disk", "--memory", memory, "--work", str(work), "--threads", "1", "--removed",
        str(folder / "removed.tsv"), "-q",
    ]  # fmt: skip
    process = subprocess.Popen(command)
    anonymous = gathered = beside = 0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        anonymous = max(anonymous, anonymous_memory(process.pid))
        texts, others = sizes_of(work)
        gathered, beside = max(gathered, texts), max(beside, others)
        sleep(SAMPLED)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return {
        "processor s": round(used.ru_utime + used.ru_stime, 2),
        "anonymous MB": round(anonymous / 1e6),
        "work MB": round(beside / 1e6),
        "gathered MB": round(gathered / 1e6),
    }


def sizes_of(folder: Path) -> tuple[int, int]:
    """Return the bytes of gathered texts, and of all other files, in a folder that changes."""
    texts = others = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size = os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue
            if name == TEXTS:
                texts += size
            else:
                others += size
    return texts, others


def with_rates(found: dict[str, float], characters: int) -> dict[str, float]:
    """Add what each character took."""
    return {
        "MB of text": round(characters / 1e6, 1),
        **found,
        "MB of text a core-second": round(characters / 1e6 / found["processor s"], 1),
        "work bytes a byte of text": round(found["work MB"] * 1e6 / characters, 3),
    }


def growth(made: Path, share: float, documents: int, unit: str, folder: Path) -> dict[str, Any]:
    """Measure each size, with shards in one folder and all else in another."""
    shards = write_shards(made, share, documents, SIZES[-1])
    characters = documents * (2 * HALF + 1)
    results: dict[str, Any] = {}
    for count in SIZES:
        results[f"{count} shards"] = with_rates(
            cost(shards[:count], folder, LENGTHS[unit], unit), count * characters
        )
    one = write_shard(folder / "one.jsonl", 0, 0, 1)
    start = cost([one], folder, LENGTHS[unit], unit)["processor s"]
    seconds = [max(results[f"{n} shards"]["processor s"] - start, 0.01) for n in SIZES]
    results["processor s of one document"] = start
    slope = np.polyfit([math.log(count) for count in SIZES], [math.log(s) for s in seconds], 1)[0]
    results["slope"] = round(float(slope), 3)
    return results


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/spans.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--corpus", type=Path, help="real texts, JSON lines")
    parser.add_argument("--unit", choices=LENGTHS, default="char", help="of made texts")
    parser.add_argument("--documents", type=int, default=20_000, help="of a shard")
    parser.add_argument("--folder", type=Path, help="of the shards, which then stay")
    options = parser.parse_args(arguments)
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    for share in SHARES[1:2] if options.quick else SHARES:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            documents = 20 if options.quick else options.documents
            made = (options.folder or Path(name)) / f"{share:.0%}"
            results[f"{share:.0%} repeated"] = growth(
                made, share, documents, options.unit, Path(name)
            )
    if options.corpus is not None:
        size = sum(len(text.encode()) for text in corpus.read(options.corpus))
        for length in (500, 100):
            with tempfile.TemporaryDirectory() as name:
                found = cost([options.corpus], Path(name), length)
            results[f"real texts, L = {length}"] = with_rates(found, size)
    common.write("spans", options, results)
