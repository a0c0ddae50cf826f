"""Where the time of the whole job goes: signatures, and everything else.

`near_duplicates` and `deduplicate` at threshold 0.8, exact verification. The ratio is
(total - signatures) / signatures, taken within each run: the progress reports tell when the
signatures are done. Made texts, or with --corpus the documents of at least 2,000 characters and
the first 50,000 of a file.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus

THRESHOLD = 0.8
LONG = 2_000
FIRST = 50_000
Timed = tuple[float, dict[str, float], Any]


def timed(function: Callable[..., Any], texts: list[str], threads: int) -> Timed:
    """Return the total seconds, when each stage ended, and the result."""
    ends: dict[str, float] = {}
    start = perf_counter()

    def tell(stage: str, done: int, total: int) -> None:
        ends[stage] = perf_counter() - start

    result = function(texts, THRESHOLD, threads=threads, progress=tell)
    return perf_counter() - start, ends, result


def outcome(result: Any) -> Any:
    """Return what must not depend on the threads."""
    if isinstance(result, fastlsh.Pairs):
        return list(result)
    return result.kept_index.tolist(), result.limited


def measured(texts: list[str], count: int) -> dict[str, Any]:
    """Measure both functions on one and two threads, in turns."""
    runs: dict[tuple[str, int], list[Timed]] = {}
    expected: dict[str, Any] = {}
    threads = (1, 2) if common.cores() > 1 else (1,)
    fastlsh.near_duplicates(texts[:2_000], THRESHOLD)  # warm-up
    for _ in range(count):
        for function in (fastlsh.near_duplicates, fastlsh.deduplicate):
            for number in threads:
                name = function.__name__
                seconds, ends, result = timed(function, texts, number)
                runs.setdefault((name, number), []).append((seconds, ends, None))
                same = expected.setdefault(name, outcome(result))
                assert outcome(result) == same, f"{name} depends on threads or on chance"
    results: dict[str, Any] = {
        "documents": len(texts),
        "M characters": round(sum(map(len, texts)) / 1e6, 2),
        "pairs": len(expected["near_duplicates"]),
        "removed": sum(i != k for i, k in enumerate(expected["deduplicate"][0])),
    }
    for (name, number), found in runs.items():
        totals = [run[0] for run in found]
        signed = [run[1]["signatures"] for run in found]
        results[f"{name}, {number} thread{'s' * (number > 1)}"] = {
            "everything else / signatures": common.ratio(
                [total - part for total, part in zip(totals, signed, strict=True)], signed
            ),
            "signatures, s": common.summary(signed),
            "total, s": common.summary(totals),
        }
    return results


def collections(options: Namespace) -> dict[str, list[str]]:
    """Return the collections by name."""
    if options.corpus:
        read = corpus.read
        return {
            "at least 2,000 characters": read(
                options.corpus, options.key, wanted=lambda text: len(text) >= LONG
            ),
            "the first 50,000": read(options.corpus, options.key, first=FIRST),
        }
    part = 50 if options.quick else 1
    writer = corpus.Writer(3)
    return {
        "long, 10 % near-duplicates": writer.collection(5_000 // part, 6_000),
        "short, 30 % near-duplicates": writer.collection(50_000 // part, 400, 0.3),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/end_to_end.json."""
    parser = common.parser(__doc__)
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    count = common.rounds(options, usual=5)
    results = {
        name: measured(texts, count) for name, texts in collections(options).items() if texts
    }
    common.write("end_to_end-file" if options.corpus else "end_to_end", options, results)
