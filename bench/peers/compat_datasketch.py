"""Sketches of fastlsh.compat.datasketch against datasketch: one thread, processor time.

Both make the same hash values, which is asserted first. Each ratio is of two runs that follow each
other, theirs and ours, given as the median over the rounds. What a Python hash function costs by
itself is measured by a loop of calls and taken off both sides.
"""

import statistics
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

import datasketch as theirs
import numpy as np

from bench import common
from fastlsh.compat import datasketch as ours

SCHEMES = ("affine32", "affine64", "legacy")
TOKENS = [b"token %d" % i for i in range(1000)]
SLICE = 0.05
"""Seconds of each side in a round."""


def ready(element: Any) -> Any:
    return element


def python_hash(token: bytes) -> int:
    return zlib.crc32(token)


def calls() -> None:
    for token in TOKENS:
        python_hash(token)


def cost(work: Callable[[], Any], least: float) -> float:
    """Return the seconds of one run, of as many as take so long."""
    calls = common.calls_that_last(work, least, process_time)
    return common.seconds(work, calls, process_time) / calls


def versus(make: Callable[[Any], Callable[[], Any]], count: int, least: float) -> dict[str, Any]:
    """Time what `make` makes of either library."""
    slow, fast = make(theirs), make(ours)
    times = [(cost(slow, least), cost(fast, least)) for _ in range(count)]
    return {
        "ratio": common.summary(a / b for a, b in times),
        "datasketch us": common.significant(1e6 * statistics.median(a for a, _ in times)),
        "fastlsh us": common.significant(1e6 * statistics.median(b for _, b in times)),
    }


def bulk(documents: list[Any], how: dict[str, Any], library: Any) -> Callable[[], Any]:
    return partial(library.MinHash.bulk, documents, **how)


def python_hashfunc(count: int, least: float) -> dict[str, Any]:
    """Time `update_batch` with a Python function, without what its calls cost."""
    pairs = []
    sides = [library.MinHash(hashfunc=python_hash) for library in (theirs, ours)]
    for _ in range(count):
        own = min(cost(calls, least), cost(calls, least))
        slow, fast = (cost(partial(m.update_batch, TOKENS), least) for m in sides)
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


def of_scheme(scheme: str, documents: int, count: int, least: float) -> dict[str, Any]:
    """Time everything with one scheme."""
    dtype = np.uint32 if scheme == "affine32" else np.uint64
    numbers = np.random.default_rng(0).integers(0, 2**32, 2 * documents + 1000, np.uint64)
    numbers = numbers.astype(dtype)
    results: dict[str, Any] = {}
    compare = partial(versus, count=count, least=least)

    def update(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme)
        return lambda: sketch.update(b"token")

    def batch(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme)
        return lambda: sketch.update_batch(TOKENS)

    def array(library: Any) -> Callable[[], Any]:
        sketch = library.MinHash(scheme=scheme, hashfunc=ready)
        return lambda: sketch.update_batch(numbers[:1000])

    results["constructor"] = compare(lambda library: lambda: library.MinHash(scheme=scheme))
    results["update"] = compare(update)
    results["update_batch, 1000 tokens"] = compare(batch)
    results["update_batch, array of 1000 hashes"] = compare(array)
    for size in (10, 30, 100, 1000):
        some = documents if size <= 100 else documents // 10
        arrays = [numbers[i : i + size] for i in range(some)]
        how = {"scheme": scheme, "hashfunc": ready}
        check(arrays[:100], **how)
        results[f"bulk, {some} arrays of {size} hashes"] = compare(partial(bulk, arrays, how))
    for size in (10, 50, 100):
        sets = [[TOKENS[(i + j) % 1000] for j in range(size)] for i in range(documents)]
        check(sets[:100], scheme=scheme)
        results[f"bulk, {documents} documents of {size} tokens"] = compare(
            partial(bulk, sets, {"scheme": scheme})
        )
    return results


def main(arguments: Sequence[str]) -> None:
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    documents, least = (100, 0.001) if options.quick else (10_000, SLICE)
    results = {scheme: of_scheme(scheme, documents, count, least) for scheme in SCHEMES}
    results["affine32"]["update_batch, Python hashfunc"] = python_hashfunc(count, least)
    common.write("compat_datasketch", options, results)
