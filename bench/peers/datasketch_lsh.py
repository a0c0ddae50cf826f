"""MinHashLSH of fastlsh.compat.datasketch beside datasketch's, on the same MinHash objects.

Insert and query 50,000, one thread, 128 functions, threshold 0.8 (9 bands of 13). Both must give
the same answers. Times are of the processor; memory is what Python's allocators hold for an index
of n keys, and what the process grew by.
"""

import gc
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import datasketch
import numpy as np

from bench import common
from fastlsh.compat.datasketch import lsh

K, THRESHOLD = 128, 0.8
LIBRARIES = {"fastlsh": lsh.MinHashLSH, "datasketch": datasketch.MinHashLSH}
SCHEMES = ("affine32", "legacy", "affine64")
Times = dict[str, dict[str, list[float]]]


def minhashes(n: int, scheme: str) -> list[Any]:
    """Return sketches of which every fifth has a near-duplicate, made without sets."""
    rng = np.random.default_rng(0)
    empty = datasketch.MinHash(K, scheme=scheme)
    top = 2**64 if scheme == "affine64" else 2**32
    rows = rng.integers(0, top, (n, K), np.uint64).astype(empty.hashvalues.dtype)
    for i in range(0, n - 1, 5):
        rows[i + 1] = np.where(rng.random(K) < 0.1, rows[i + 1], rows[i])
    sketches = [empty.copy() for _ in range(n)]
    for sketch, row in zip(sketches, rows, strict=True):
        sketch.hashvalues = row
    return sketches


def filled(library: str, sketches: list[Any]) -> Any:
    """Return an index with all sketches, keys 0, 1, 2..."""
    index = LIBRARIES[library](THRESHOLD, K)
    for i, sketch in enumerate(sketches):
        index.insert(i, sketch)
    return index


def assert_equal_answers(sketches: list[Any]) -> None:
    """Check that both find the same for every sketch."""
    ours, theirs = (filled(library, sketches) for library in LIBRARIES)
    assert (ours.b, ours.r) == (theirs.b, theirs.r)
    for sketch in sketches:
        assert set(ours.query(sketch)) == set(theirs.query(sketch))
    assert list(ours.keys) == list(theirs.keys)


def timed(sketches: list[Any], count: int) -> Times:
    """Return seconds of insertion, query and both, by library, in interleaved rounds."""
    times: Times = {step: {name: [] for name in LIBRARIES} for step in ("insert", "query", "both")}
    for name in common.alternating(LIBRARIES, count):
        start = time.process_time()
        index = filled(name, sketches)
        middle = time.process_time()
        for sketch in sketches:
            index.query(sketch)
        end = time.process_time()
        times["insert"][name].append(middle - start)
        times["query"][name].append(end - middle)
        times["both"][name].append(end - start)
        del index
        gc.collect()
    return times


def speed(sketches: list[Any], count: int) -> dict[str, Any]:
    """Return how many times longer datasketch takes, and microseconds of each."""
    results: dict[str, Any] = {}
    for step, by_name in timed(sketches, count).items():
        results[step] = {
            "datasketch / fastlsh": common.ratio(by_name["datasketch"], by_name["fastlsh"]),
            **{
                f"{name}, microseconds": common.summary(t / len(sketches) * 1e6 for t in times)
                for name, times in by_name.items()
            },
        }
    return results


def construction(count: int) -> dict[str, Any]:
    """Return the same for MinHashLSH(threshold=0.8): the first with these parameters, and more."""
    times: dict[str, list[float]] = {"datasketch": [], "first": [], "again": []}
    for number in range(count + 1):
        threshold = THRESHOLD + number * 1e-9  # what was chosen for it before is remembered
        for name, library in (("first", "fastlsh"), ("again", "fastlsh"), ("datasketch",) * 2):
            start = time.process_time()
            LIBRARIES[library](threshold=threshold)
            times[name].append(time.process_time() - start)
    for name in times:
        del times[name][0]  # warms up
    return {
        f"datasketch / fastlsh, {name}": common.ratio(times["datasketch"], times[name])
        for name in ("first", "again")
    } | {f"{name}, milliseconds": common.summary(t * 1e3 for t in times[name]) for name in times}


def held(library: str, n: int, scheme: str) -> list[float]:
    """Return bytes for each key: by Python's allocators, and of the process. Once a process."""
    sketches = minhashes(n, scheme)
    filled(library, sketches[:100])
    gc.collect()
    before = common.resident()
    index = filled(library, sketches)
    grown = common.resident() - before
    del index
    gc.collect()
    tracemalloc.start(1)
    before = tracemalloc.get_traced_memory()[0]
    index = filled(library, sketches)
    traced = tracemalloc.get_traced_memory()[0] - before
    assert len(index.keys) == n
    return [traced / n, grown / n]


def memory(n: int, schemes: Sequence[str]) -> dict[str, Any]:
    """Return bytes for each key, and the share of datasketch's, each from a fresh process."""
    results: dict[str, Any] = {}
    for scheme in schemes:
        bytes_of = {library: common.call(held, library, n, scheme) for library in LIBRARIES}
        for i, how in enumerate(("allocated", "resident")):
            ours, theirs = bytes_of["fastlsh"][i], bytes_of["datasketch"][i]
            results[f"{scheme}, {how}"] = {
                "fastlsh": round(ours),
                "datasketch": round(theirs),
                "share": round(ours / theirs, 3),
            }
    return results


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/datasketch_lsh.json."""
    options = common.parser(__doc__).parse_args(arguments)
    n = 300 if options.quick else 50_000
    count = common.rounds(options)
    results: dict[str, Any] = {"keys": n, "insert and query": {}}
    for scheme in SCHEMES:
        sketches = minhashes(n, scheme)
        assert_equal_answers(sketches)
        rounds = count if scheme == "affine32" else min(count, 3)
        results["insert and query"][scheme] = speed(sketches, rounds)
    results["construction"] = construction(2 * count)
    results["bytes for each key"] = memory(n, SCHEMES[:1] if options.quick else SCHEMES)
    common.write("datasketch_lsh", options, results)
