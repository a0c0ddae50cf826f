"""Each kernel alone, and raw texts against the measured limit (limit.c).

The limit is the bare minimum loop over ready hashes, as many as the texts have windows. Both are
timed in the same rounds, one thread; the limit's minima must equal the signatures.
"""

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.common.corpus import Writer, in_script
from bench.kernels.limit import Limit, available, fold
from fastlsh import _kernels

LENGTHS = (50, 1_100, 12_000)
SIZE = 9
BANDS = fastlsh.LSHParams(17, 7)


def window_hashes(texts: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hash of every window in order, uint64, and each text's place, int64 (n + 1,)."""
    windows = [max(len(text) - SIZE + 1, 1) for text in texts]
    offsets = np.concatenate([[0], np.cumsum(windows)]).astype(np.int64)
    hashes = np.empty(offsets[-1], np.uint64)
    counts = np.empty(len(texts), np.int64)
    _kernels.shingle_sets(
        _kernels.spans_of_list(texts), None, _kernels.CHARACTERS, SIZE, hashes, offsets, counts,
        False,
    )  # fmt: skip
    assert (counts == np.diff(offsets)).all()
    return hashes, offsets


def corpora(options: Namespace) -> dict[int, list[str]]:
    """Return texts of each length, about as many characters of each."""
    total = 200_000 if options.quick else 5_000_000
    return {n: Writer(n).texts(max(total // n, 2), n) for n in LENGTHS}


def against_limit(texts: list[str], count: int) -> dict[str, Any]:
    """Time raw texts, ready hashes and the limit in the same rounds."""
    hasher = fastlsh.MinHasher(threads=1)
    _, a, b = hasher._functions
    limit = Limit(_kernels.isa, a, b)
    hashes, offsets = window_hashes(texts)
    x = fold(hashes)
    fss = fastlsh.MinHasher(scheme="fss", threads=1)
    out, ready, bare, other = (np.empty((len(texts), 128), np.uint32) for _ in range(4))
    times = common.interleave(
        {
            "limit": lambda: limit.run(x, offsets, out=bare),
            "raw": lambda: hasher.signatures(texts, out),
            "ready": lambda: hasher.from_hashes(hashes, offsets, ready),
            "raw, fss": lambda: fss.signatures(texts, other),
            "ready, fss": lambda: fss.from_hashes(hashes, offsets, other),
        },
        count,
    )
    assert (out == bare).all(), "the limit does not compute the signatures"
    assert (ready == bare).all(), "from_hashes does not compute the signatures"
    return {
        "kernel of the limit": limit.name,
        "limit, ns per hash": per_item(times["limit"], len(x)),
        "raw text / limit": common.ratio(times["raw"], times["limit"]),
        "from_hashes / limit": common.ratio(times["ready"], times["limit"]),
        "raw text, fss / limit": common.ratio(times["raw, fss"], times["limit"]),
        "from_hashes, fss / limit": common.ratio(times["ready, fss"], times["limit"]),
        "raw text, M characters/s": common.summary(
            sum(map(len, texts)) / t / 1e6 for t in times["raw"]
        ),
    }


def per_item(times: list[float], items: int) -> dict[str, Any]:
    """Return nanoseconds per item."""
    return common.summary(1e9 * t / items for t in times)


def lengths_compared(collections: dict[int, list[str]], count: int) -> dict[str, Any]:
    """Compare the rates per character of short and long texts."""
    hasher = fastlsh.MinHasher(threads=1)
    work = {str(n): partial(hasher.signatures, texts) for n, texts in collections.items()}
    times = common.interleave(work, count)
    size = {str(n): sum(map(len, texts)) for n, texts in collections.items()}

    def rate(short: str, long: str) -> dict[str, Any]:
        return common.ratio(times[long], times[short], size[short] / size[long])

    return {"50 / 1,100": rate("50", "1100"), "50 / 12,000": rate("50", "12000")}


def forms(texts: list[str], count: int) -> dict[str, Any]:
    """Compare kinds of str and Arrow columns with ASCII str: time as a multiple."""
    hasher = fastlsh.MinHasher(threads=1)
    inputs: dict[str, Any] = {name: in_script(texts, name) for name in ("ASCII", "UCS-2", "UCS-4")}
    try:
        import pyarrow as pa
    except ImportError:
        print("without pyarrow: no Arrow columns", file=sys.stderr)
    else:
        for name in ("ASCII", "UCS-2", "UCS-4"):
            inputs[f"Arrow {name}"] = pa.array(inputs[name])
            expected = hasher.signatures(inputs[name])
            assert (hasher.signatures(inputs[f"Arrow {name}"]) == expected).all()
    work = {name: partial(hasher.signatures, value) for name, value in inputs.items()}
    times = common.interleave(work, count)
    return {name: common.ratio(times[name], times["ASCII"]) for name in inputs if name != "ASCII"}


def threads(texts: list[str], count: int) -> dict[str, Any]:
    """Compare two threads with one, the speed as a multiple; and the limit's loop likewise."""
    if common.cores() < 2:
        return {"skipped": "one processor"}
    one, two = (fastlsh.MinHasher(threads=n) for n in (1, 2))
    out = np.empty((len(texts), 128), np.uint32)
    assert (one.signatures(texts) == two.signatures(texts)).all()
    work: dict[str, Callable[[], Any]] = {
        "one": lambda: one.signatures(texts, out),
        "two": lambda: two.signatures(texts, out),
    }
    if available():
        limit = Limit(_kernels.isa, *one._functions[1:])
        hashes, offsets = window_hashes(texts[: len(texts) // 4])
        x = fold(hashes)
        once = partial(limit.run, x, offsets)
        pool = ThreadPoolExecutor(2)
        work["limit, one"] = lambda: (once(), once())
        work["limit, two"] = lambda: [f.result() for f in [pool.submit(once) for _ in range(2)]]
    times = common.interleave(work, count)
    result = {"speed of two / one": common.ratio(times["one"], times["two"])}
    if available():
        result["the limit's loop"] = common.ratio(times["limit, one"], times["limit, two"])
    return result


def other_kernels(quick: bool, count: int) -> dict[str, Any]:
    """Time band keys, the estimate and the exact similarity of ready sets; ns per item."""
    rng = np.random.default_rng(5)
    n = 2_000 if quick else 100_000
    signatures = rng.integers(0, 2**32, (n, 128), dtype=np.uint32)
    left = np.arange(n - 1, dtype=np.int64)
    right = left + 1
    keys = fastlsh.band_keys(signatures, BANDS)
    assert keys.shape == (BANDS.bands, n)
    estimate = fastlsh.estimate_jaccard(signatures, (left, right))
    assert (estimate == (signatures[:-1] == signatures[1:]).mean(axis=1)).all()
    work: dict[str, Callable[[], Any]] = {
        "band keys, 17 x 7, per document": lambda: fastlsh.band_keys(signatures, BANDS),
        "estimate, k = 128, per pair": lambda: fastlsh.estimate_jaccard(signatures, (left, right)),
    }
    items = dict.fromkeys(work, n)
    for similarity in (0.05, 0.8):
        name = f"exact Jaccard {similarity}, per element"
        work[name], items[name] = ready_sets(rng, similarity, 20 if quick else 1000)
    times = common.interleave(work, count)
    return {name: per_item(times[name], items[name]) for name in work}


def ready_sets(
    rng: np.random.Generator, similarity: float, pairs: int, size: int = 1000
) -> tuple[Callable[[], Any], int]:
    """Return the work on pairs of sets of this similarity, and their elements."""
    common_part = round(2 * size * similarity / (1 + similarity))
    sets = []
    for _ in range(pairs):
        drawn = rng.integers(1, 2**64, 2 * size - common_part, np.uint64)
        sets += [np.sort(drawn[:size]), np.sort(drawn[size - common_part :])]
    hashes = np.concatenate(sets)
    start = np.arange(0, len(hashes), size)
    sizes = np.full(len(sets), size)
    left = np.arange(0, len(sets), 2)
    out = np.empty(pairs)

    def work() -> None:
        _kernels.set_jaccard(hashes, start, sizes, left, left + 1, 0.0, out)

    work()
    assert (out == common_part / (2 * size - common_part)).all()
    return work, len(hashes)


def instruction_sets(options: Namespace) -> dict[str, Any]:
    """Run the comparison with the limit once for each, in a process of its own."""
    results = {}
    for name in _kernels.instruction_sets():
        command = common.module_command(
            "kernels.kernels", "--one-set", f"--repeats={common.rounds(options)}"
        )
        child = subprocess.run(
            [*command, *(["--quick"] if options.quick else [])],
            env={**os.environ, "FASTLSH_ISA": name}, cwd=common.ROOT,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        results[name] = json.loads(child.stdout)
    return results


def main() -> None:
    """Measure and write results/kernels.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--one-set", action="store_true", help="only the limit, JSON on stdout")
    options = parser.parse_args()
    count = common.rounds(options)
    collections = corpora(options)
    if options.one_set:
        print(json.dumps(against_limit(collections[1_100], count)))
        return
    start = perf_counter()
    results: dict[str, Any] = {}
    if available():
        results["limit"] = {
            f"{n:,} characters": against_limit(texts, count) for n, texts in collections.items()
        }
        results["instruction sets, 1,100 characters"] = instruction_sets(options)
    else:
        print("limit.c needs x86-64 and a C compiler: left out", file=sys.stderr)
    results["rate per character, short / long"] = lengths_compared(collections, count)
    results["time of other forms / ASCII str"] = forms(collections[1_100], count)
    results["threads"] = threads(collections[1_100] * (1 if options.quick else 10), count)
    results["nanoseconds"] = other_kernels(options.quick, count)
    common.write("kernels", options, results)
    print(f"{perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
