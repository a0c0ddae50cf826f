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
import json
import subprocess
import sys
import tempfile
from functools import partial
from itertools import islice
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

        count = options.repeats or (2 if options.quick else 5)
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


def peak_bytes() -> int:
    """Return the most memory that this process has had in use."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage counts what the parent had before exec
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_child(*arguments: str) -> dict[str, Any]:
    """Run this module in a process of its own; return what it printed."""
    command = common.module_command("pipelines.scale", *arguments)
    done = subprocess.run(command, cwd=common.ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def child(options: argparse.Namespace) -> None:
    """Hold the texts, and with --job find the pairs; print what it took."""
    texts = corpus.read(options.child, first=options.documents)
    fastlsh.near_duplicates(texts[:100], THRESHOLD)  # loads what is loaded late
    before = peak_bytes()
    pairs = len(fastlsh.near_duplicates(texts, THRESHOLD)) if options.job else 0
    print(json.dumps({"before": before, "peak": peak_bytes(), "pairs": pairs}))


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
        with path.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        del texts

        def run(*job: str) -> dict[str, Any]:
            return in_child(f"--child={path}", f"--documents={count}", *job)

        rounds = [(run(), run("--job")) for _ in range(2 if options.quick else 5)]
    held = [job["peak"] - holder["peak"] for holder, job in rounds]
    pairs = rounds[0][1]["pairs"]
    assert all(job["pairs"] == pairs for _, job in rounds)
    fixed = 64 * 2**20
    return {
        "documents": count,
        "pairs": pairs,
        "MB above the texts": common.summary(value / 1e6 for value in held),
        "bytes a document besides signatures and 24 a pair": common.summary(
            (value - 24 * pairs) / count - 512 for value in held
        ),
        "the same less 64 MiB of fixed scratch": common.summary(
            (value - 24 * pairs - fixed) / count - 512 for value in held
        ),
        "100,000 x 100 signatures, bytes": np.empty((100_000, 100), np.uint32).nbytes,
    }


# ---- doubling

JOBS = ("near_duplicates", "deduplicate")


def write_lines(path: Path, count: int) -> None:
    """Write so many texts, one in a line."""
    texts = corpus.Writer(9).collection(count, 300)
    path.write_text("\n".join(texts), encoding="utf-8")


def timed(options: argparse.Namespace) -> None:
    """Do one job on the first documents of a file of lines; print what it took."""
    with options.child.open(encoding="utf-8") as stream:
        texts = [line.rstrip("\n") for line in islice(stream, options.documents)]
    function = getattr(fastlsh, options.timed)
    function(texts[:200], THRESHOLD)
    before = peak_bytes()
    wall, processor = perf_counter(), process_time()
    found = function(texts, THRESHOLD, threads=options.threads)
    result = {"wall": perf_counter() - wall, "processor": process_time() - processor}
    result["peak"] = peak_bytes() - before
    result["found"] = len(found) if options.timed == JOBS[0] else int((~found.kept).sum())
    print(json.dumps(result))


def doubling(options: argparse.Namespace) -> dict[str, Any]:
    """Time each size; and the time of each as a multiple of that of half as many."""
    sizes = [1_000 << i for i in range(3)] if options.quick else [10_000 << i for i in range(7)]
    if not options.quick:
        sizes.append(1_000_000)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.txt"
        write_lines(path, sizes[-1])

        def run(job: str, count: int, threads: int) -> dict[str, float]:
            return in_child(
                f"--child={path}", f"--timed={job}", f"--documents={count}", f"--threads={threads}"
            )

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
                    for _ in range(options.repeats or (1 if options.quick else 3))
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


def main() -> None:
    """Measure and write results/scale.json."""
    parser = common.parser(__doc__)
    corpus.add_options(parser)
    parser.add_argument("--part", choices=("linear", "lean", "doubling"), help="only this one")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--timed", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        (timed if options.timed else child)(options)
        return
    results: dict[str, Any] = {}
    for name, part in (("linear", linear), ("lean", lean), ("doubling", doubling)):
        if options.part in (None, name):
            results[name] = part(options)
    common.write("scale", options, results)


if __name__ == "__main__":
    main()
