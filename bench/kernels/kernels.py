"""Each kernel alone, and raw texts against the measured limit (limit.c).

The limit is the bare minimum loop over ready hashes, as many as the texts have windows. Both are
timed in the same rounds, one thread; the limit's minima must equal the signatures.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from bench.common.corpus import Writer, in_script
from bench.kernels.limit import Limit, available, fold
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.kernels.ready_sets import ready_sets
from bench.peers import pure
from fastlsh import _kernels
from fastlsh._kernels.sets import _sets
from fastlsh._kernels.text import _plans, _texts

LENGTHS = (50, 1_100, 12_000)
SIZE = 9
BANDS = fastlsh.LSHParams(17, 7)


def window_hashes(texts: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hash of every window in order, uint64, and each text's place, int64 (n + 1,)."""
    windows = [max(len(text) - SIZE + 1, 1) for text in texts]
    offsets = np.concatenate([[0], np.cumsum(windows)]).astype(np.int64)
    hashes = np.empty(offsets[-1], np.uint64)
    counts = np.empty(len(texts), np.int64)
    _sets.shingle_sets(
        _texts.spans_of_list(texts), None, _plans.CHARACTERS, SIZE, hashes, offsets, counts,
        False,
    )  # fmt: skip
    assert (counts == np.diff(offsets)).all()
    return hashes, offsets


def texts_of(length: int, quick: bool) -> list[str]:
    """Return texts of a length; of each length there are about as many characters."""
    return Writer(length).texts(max((40_000 if quick else 5_000_000) // length, 2), length)


def coefficients() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return a and b of all hash functions."""
    a, b = zip(*pure.FUNCTIONS, strict=True)
    return np.array(a, np.uint32), np.array(b, np.uint32)


def against_limit(texts: list[str], count: int) -> dict[str, Any]:
    """Time raw texts, ready hashes and the limit in the same rounds."""
    hasher = fastlsh.MinHasher(threads=1)
    limit = Limit(_kernels.isa, *coefficients())
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
        limit = Limit(_kernels.isa, *coefficients())
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
        pairs = 20 if quick else 1000
        work[name] = ready_sets(rng, similarity, pairs, size=1000)
        items[name] = 2 * pairs * 1000
    times = common.interleave(work, count)
    return {name: per_item(times[name], items[name]) for name in work}


def one_set(quick: bool, count: int) -> dict[str, Any]:
    """Compare with the limit on the instruction set of this process."""
    return against_limit(texts_of(1_100, quick), count)


def instruction_sets(options: Namespace) -> dict[str, Any]:
    """Run the comparison with the limit once for each, in a process of its own."""
    return {
        name: common.call(
            one_set, options.quick, common.rounds(options), environment={"FASTLSH_ISA": name}
        )
        for name in _kernels.instruction_sets()
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/kernels.json."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    collections = {length: texts_of(length, options.quick) for length in LENGTHS}
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
