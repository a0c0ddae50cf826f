"""Sketches of fastlsh.compat.datasketch against datasketch: one thread, processor time.

Both make the same hash values, which is asserted first. Each ratio is of two runs that follow each
other, theirs and ours, given as the median over the rounds. What a Python hash function costs by
itself is measured by a loop of calls and taken off both sides.
"""

import statistics
import zlib
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import datasketch as theirs
import numpy as np

from bench import common
from fastlsh.compat import datasketch as ours

SCHEMES = ("affine32", "affine64", "legacy")
TOKENS = [b"token %d" % i for i in range(1000)]
SLICE = 0.05  # seconds of each side in a round


def ready(element: Any) -> Any:
    return element


def python_hash(token: bytes) -> int:
    return zlib.crc32(token)


def calls() -> None:
    for token in TOKENS:
        python_hash(token)


def cost(work: Callable[[], Any]) -> float:
    """Return the seconds of one run, of as many as fill the slice."""
    count = 1
    while True:
        start = process_time()
        for _ in range(count):
            work()
        taken = process_time() - start
        if taken >= SLICE:
            return taken / count
        count *= 2 if taken < SLICE / 8 else 1 + int(SLICE / taken)


def versus(make: Callable[[Any], Callable[[], Any]], count: int) -> dict[str, Any]:
    """Time what `make` makes of either library."""
    slow, fast = make(theirs), make(ours)
    times = [(cost(slow), cost(fast)) for _ in range(count)]
    return {
        "ratio": common.summary(a / b for a, b in times),
        "datasketch us": common.significant(1e6 * statistics.median(a for a, _ in times)),
        "fastlsh us": common.significant(1e6 * statistics.median(b for _, b in times)),
    }


def bulk(documents: list[Any], how: dict[str, Any], library: Any) -> Callable[[], Any]:
    return partial(library.MinHash.bulk, documents, **how)


def python_hashfunc(count: int) -> dict[str, Any]:
    """Time `update_batch` with a Python function, without what its calls cost."""
    pairs = []
    sides = [library.MinHash(hashfunc=python_hash) for library in (theirs, ours)]
    for _ in range(count):
        own = min(cost(calls), cost(calls))
        slow, fast = (cost(partial(m.update_batch, TOKENS)) for m in sides)
        pairs.append((slow - own, fast - own))
    return {
        "ratio": common.summary(a / b for a, b in pairs),
        "datasketch us left": common.significant(1e6 * statistics.median(a for a, _ in pairs)),
        "fastlsh us left": common.significant(1e6 * statistics.median(b for _, b in pairs)),
    }


def check(sets: list[Any], **how: Any) -> None:
    """Assert equal hash values."""
    pairs = zip(theirs.MinHash.bulk(sets, **how), ours.MinHash.bulk(sets, **how), strict=True)
    assert all(np.array_equal(a.hashvalues, b.hashvalues) for a, b in pairs)


def of_scheme(scheme: str, documents: int, count: int) -> dict[str, Any]:
    """Time everything with one scheme."""
    dtype = np.uint32 if scheme == "affine32" else np.uint64
    numbers = np.random.default_rng(0).integers(0, 2**32, 2 * documents + 1000, np.uint64)
    numbers = numbers.astype(dtype)
    results: dict[str, Any] = {}

    def update(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme)
        return lambda: sketch.update(b"token")

    def batch(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme)
        return lambda: sketch.update_batch(TOKENS)

    def array(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme, hashfunc=ready)
        return lambda: sketch.update_batch(numbers[:1000])

    results["constructor"] = versus(lambda library: lambda: library.MinHash(scheme=scheme), count)
    results["update"] = versus(update, count)
    results["update_batch, 1000 tokens"] = versus(batch, count)
    results["update_batch, array of 1000 hashes"] = versus(array, count)
    for size in (10, 30, 100, 1000):
        some = documents if size <= 100 else documents // 10
        arrays = [numbers[i : i + size] for i in range(some)]
        how = {"scheme": scheme, "hashfunc": ready}
        check(arrays[:100], **how)
        results[f"bulk, {some} arrays of {size} hashes"] = versus(partial(bulk, arrays, how), count)
    for size in (10, 50, 100):
        sets = [[TOKENS[(i + j) % 1000] for j in range(size)] for i in range(documents)]
        check(sets[:100], scheme=scheme)
        results[f"bulk, {documents} documents of {size} tokens"] = versus(
            partial(bulk, sets, {"scheme": scheme}), count
        )
    return results


def main() -> None:
    options = common.parser(__doc__).parse_args()
    count = common.rounds(options)
    documents = 1000 if options.quick else 10_000
    results = {scheme: of_scheme(scheme, documents, count) for scheme in SCHEMES}
    results["affine32"]["update_batch, Python hashfunc"] = python_hashfunc(count)
    common.write("compat_datasketch", options, results)


if __name__ == "__main__":
    main()
