"""Linear and lean: ten times the documents, ten times the time; and the memory per document.

Linear: `deduplicate` of 10,000 and of 100,000 documents that are identical, that share 95 % of
their text, or that are alike at a Jaccard similarity of about 0.74 under the threshold 0.8 (nearly
every pair a candidate, none a duplicate).
Lean: peak memory of `near_duplicates` in a process of its own, less that of one that only holds
the texts.
Doubling: time and peak memory of `near_duplicates` and `deduplicate` for 10,000, 20,000, ...
documents of about 300 characters, one in ten a near-duplicate (0 to 8 % of its words replaced);
each size is the beginning of the next one. Processor time on one thread, so that other work on
the machine counts little, and the wall time of two threads against one. Every measurement is a
process of its own; a size and its double take turns.
"""

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import fastlsh
from bench import common
from bench.common import corpus

THRESHOLD = 0.8
KINDS = ("identical", "95 % template", "J = 0.74")


def alike(kind: str, count: int) -> list[str]:
    """Return so many documents that are alike in this way, of about 300 characters."""
    writer = corpus.Writer(7)
    if kind == "identical":
        text = writer.text(300)
        return [text[:150] + text[150:] for _ in range(count)]  # equal, not the same object
    # Two documents share s of n shingles each: J = s / (2 n - s).
    own = 15 if kind == "95 % template" else 44
    template = writer.text(300 - own)
    letters = writer.rng.choice(list(corpus.LETTERS), (count, own))
    return [template + "".join(row) for row in letters]


def linear(options: argparse.Namespace) -> dict[str, Any]:
    """Time both sizes in turns; the time of ten times as many as a multiple."""
    small = 200 if options.quick else 10_000
    results: dict[str, Any] = {}
    for kind in KINDS:
        texts = alike(kind, 10 * small)
        few = texts[:small]
        pairs = ([0, 1, 2], [3, 4, 5])
        similarity = float(fastlsh.exact_jaccard(texts, pairs).mean())
        found: dict[str, Any] = {}

        def work(name: str, documents: list[str], found: dict[str, Any] = found) -> None:
            found[name] = fastlsh.deduplicate(documents, THRESHOLD, threads=1)

        count = common.rounds(options, usual=5)
        times = common.interleave(
            {"few": partial(work, "few", few), "all": partial(work, "all", texts)}, count
        )
        kept = int(found["all"].kept.sum())
        assert kept == (len(texts) if kind == "J = 0.74" else 1) or kind == "95 % template"
        assert found["all"].kept[:small].tolist() == found["few"].kept.tolist()
        results[kind] = {
            "documents": f"{small:,} and {10 * small:,}",
            "similarity": common.significant(similarity),
            "time of ten times as many": common.ratio(times["all"], times["few"]),
            "seconds, all": common.summary(times["all"]),
            "kept": kept,
            "limited": found["all"].limited,
            "near_duplicates": refusal(texts, 100_000 if options.quick else 100_000_000),
        }
    return results


def refusal(texts: list[str], max_pairs: int) -> str:
    """Return how `near_duplicates` refuses to return so many pairs, and how soon."""
    start = perf_counter()
    try:
        found = fastlsh.near_duplicates(texts, THRESHOLD, max_pairs=max_pairs)
    except fastlsh.TooManyPairsError:
        return f"TooManyPairsError after {perf_counter() - start:.1f} s"
    return f"{len(found):,} pairs"


# ---- memory


def held(file: str, count: int, job: bool) -> dict[str, int]:
    """Hold the texts and, if that is the job, find the pairs; return what it took."""
    texts = corpus.read(Path(file), first=count)
    fastlsh.near_duplicates(texts[:100], THRESHOLD)  # loads what is loaded late
    pairs = len(fastlsh.near_duplicates(texts, THRESHOLD)) if job else 0
    return {"peak": common.peak(), "pairs": pairs}


def lean(options: argparse.Namespace) -> dict[str, Any]:
    """Compare the peaks of the two processes."""
    count = 2_000 if options.quick else 200_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        texts = (
            corpus.read(options.corpus, options.key, first=count)
            if options.corpus
            else corpus.Writer(8).collection(count, 400)
        )
        corpus.save(path, texts)
        del texts
        rounds = [
            tuple(common.call(held, str(path), count, job) for job in (False, True))
            for _ in range(common.rounds(options, usual=5))
        ]
    more = [job["peak"] - holder["peak"] for holder, job in rounds]
    pairs = rounds[0][1]["pairs"]
    assert all(job["pairs"] == pairs for _, job in rounds)
    fixed = 64 * 2**20
    return {
        "documents": count,
        "pairs": pairs,
        "MB above the texts": common.summary(value / 1e6 for value in more),
        "bytes a document besides signatures and 24 a pair": common.summary(
            (value - 24 * pairs) / count - 512 for value in more
        ),
        "the same less 64 MiB of fixed scratch": common.summary(
            (value - 24 * pairs - fixed) / count - 512 for value in more
        ),
        "100,000 x 100 signatures, bytes": np.empty((100_000, 100), np.uint32).nbytes,
    }


# ---- doubling

JOBS = ("near_duplicates", "deduplicate")


def timed(job: str, file: str, count: int, threads: int) -> dict[str, float]:
    """Do one job on the first documents of a file; return what it took."""
    texts = corpus.read(Path(file), first=count)
    function = getattr(fastlsh, job)
    function(texts[:200], THRESHOLD)
    before = common.peak()
    wall, processor = perf_counter(), process_time()
    found = function(texts, THRESHOLD, threads=threads)
    result = {"wall": perf_counter() - wall, "processor": process_time() - processor}
    result["peak"] = common.peak() - before
    result["found"] = len(found) if job == JOBS[0] else int((~found.kept).sum())
    return result


def doubling(options: argparse.Namespace) -> dict[str, Any]:
    """Time each size; and the time of each as a multiple of that of half as many."""
    sizes = [1_000, 2_000] if options.quick else [10_000 << i for i in range(7)]
    if not options.quick:
        sizes.append(1_000_000)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        corpus.save(path, corpus.Writer(9).collection(sizes[-1], 300))

        def run(job: str, count: int, threads: int) -> Any:
            return common.call(timed, job, str(path), count, threads)

        for job in JOBS:
            results[job] = {}
            smaller = 0
            for size in sizes:
                rounds = [
                    (
                        run(job, smaller, 1) if smaller else None,
                        run(job, size, 1),
                        run(job, size, 2),
                    )
                    for _ in range(common.rounds(options, usual=3, quick=1))
                ]
                results[job][f"{size:,} documents"] = of_size(size, smaller, rounds)
                smaller = size
    return results


def of_size(
    size: int, smaller: int, rounds: list[tuple[dict[str, float] | None, dict[str, float], Any]]
) -> dict[str, Any]:
    """Summarise the measurements of one size."""
    result = {
        "found": rounds[0][1]["found"],
        "processor seconds, one thread": common.summary(r[1]["processor"] for r in rounds),
        "seconds, one thread": common.summary(r[1]["wall"] for r in rounds),
        "seconds, two threads": common.summary(r[2]["wall"] for r in rounds),
        "peak bytes a document above the texts": common.summary(
            r[2]["peak"] / size for r in rounds
        ),
    }
    assert all(r[1]["found"] == r[2]["found"] == result["found"] for r in rounds)
    if smaller:
        name = f"time of {size / smaller:g} times as many"
        result[name] = common.summary(r[1]["processor"] / r[0]["processor"] for r in rounds if r[0])
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/scale.json."""
    parser = common.parser(__doc__)
    corpus.add_options(parser)
    parser.add_argument("--part", choices=("linear", "lean", "doubling"), help="only this one")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    for name, part in (("linear", linear), ("lean", lean), ("doubling", doubling)):
        if options.part in (None, name):
            results[name] = part(options)
    common.write("scale", options, results)
