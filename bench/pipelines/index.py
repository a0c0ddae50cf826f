"""The online index: speed beside rensa and datasketch, memory, and opening a file.

Insert and query-all: 50,000 signatures in 16 bands of 8 rows, on one thread, all from the same
signatures, namely rensa's own: candidates must be equal (``verify="none"``); fastlsh also with
``verify="signature"``, which compares the signatures of candidates. rensa: insert_many and
query_all; datasketch: an insertion session, and one query after the other.
Identical documents: 8,000 with ``limit=10`` as a multiple of 4,000.
Memory: what the tables hold besides signatures and ids at any moment while 1,000,000 documents
come, and after `compact`; traced, in a process of its own.
Opening: a file of 1,000,000 documents and one of 1,000, with ``mmap=True``.
"""

import argparse
import os
import tempfile
import tracemalloc
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.peers import contenders

K = 128
BANDS, ROWS = contenders.EVEN
THRESHOLD = 0.8


def token_sets(count: int) -> list[list[str]]:
    """Return sets of 100 tokens: groups of five that share 70 to 100 % of their first one's."""
    draw = np.random.default_rng(5)
    tokens = draw.integers(0, 2**40, (count // 5 + 1, 100))[np.arange(count) % (count // 5 + 1)]
    changed = draw.random((count, 100)) < 0.3 * draw.random((count, 1))
    tokens[changed] = draw.integers(0, 2**40, int(changed.sum()))
    return [list(map(str, row)) for row in tokens.tolist()]


def random_signatures(count: int, seed: int = 0) -> NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(0, 2**32, (count, K), np.uint32)


# ---- insert and query all


def ours(signatures: NDArray[np.uint32], verify: str, threads: int = 1) -> Any:
    index = fastlsh.Index(THRESHOLD, bands=BANDS, rows=ROWS, verify=verify, threads=threads)
    index.insert_many(range(len(signatures)), signatures=signatures)
    return index.query_many(signatures=signatures)


def rensa(minhashes: list[Any]) -> Any:
    from rensa import RMinHashLSH

    index = RMinHashLSH(THRESHOLD, K, BANDS)
    index.insert_many(minhashes)
    return index.query_all(minhashes)


def datasketch(minhashes: list[Any]) -> Any:
    from datasketch import MinHashLSH

    index = MinHashLSH(num_perm=K, params=(BANDS, ROWS))
    with index.insertion_session() as session:
        for d, minhash in enumerate(minhashes):
            session.insert(d, minhash, check_duplication=False)
    return [index.query(minhash) for minhash in minhashes]


def speed(options: argparse.Namespace, count: int) -> dict[str, Any]:
    """Time the contenders in turns; the candidates are the same ones."""
    n = 2_000 if options.quick else 50_000
    work: dict[str, Any] = {}
    sets = token_sets(n)
    if contenders.installed("rensa"):
        from rensa import RMinHash

        minhashes = RMinHash.from_token_sets(sets, K, 1)
        signatures = np.array([m.digest() for m in minhashes], np.uint32)
        work["rensa"] = partial(rensa, minhashes)
    else:
        signatures = fastlsh.MinHasher(K).from_tokens(sets)
    if contenders.installed("datasketch"):
        from datasketch import MinHash

        theirs = [MinHash(K, hashvalues=row, scheme="affine32") for row in signatures]
        work["datasketch"] = partial(datasketch, theirs)
    work["fastlsh"] = partial(ours, signatures, "signature")
    work["fastlsh, none"] = partial(ours, signatures, "none")
    work["fastlsh, two threads"] = partial(ours, signatures, "signature", 2)
    candidates = [sorted(name for name, _ in found) for found in work["fastlsh, none"]()]
    for name in ("rensa", "datasketch"):
        if name in work:
            assert [sorted(found) for found in work[name]()] == candidates, f"{name} differs"
    times = common.interleave(work, count)
    results: dict[str, Any] = {
        "signatures": n,
        "bands x rows": f"{BANDS} x {ROWS}",
        "candidates": sum(map(len, candidates)),
    }
    for name, seconds in times.items():
        results[name] = {"us per signature": common.summary(1e6 * s / n for s in seconds)}
        if "rensa" in times and name != "rensa":
            results[name]["rensa / this"] = common.ratio(times["rensa"], seconds)
    return results


def identical(options: argparse.Namespace, count: int) -> dict[str, Any]:
    """Time insert and query-all of identical documents."""
    n = 1_000 if options.quick else 8_000
    row = random_signatures(1)

    def work(number: int) -> Any:
        index = fastlsh.Index(THRESHOLD, bands=BANDS, rows=ROWS, verify="signature", threads=1)
        rows = np.repeat(row, number, axis=0)
        index.insert_many(range(number), signatures=rows)
        return index.query_many(signatures=rows, limit=10)

    assert work(n) == [[(d, 1.0) for d in range(10)]] * n
    times = common.interleave({"half": partial(work, n // 2), "all": partial(work, n)}, 3 * count)
    return {
        "documents": f"{n // 2:,} and {n:,}, limit=10",
        "time of twice as many": common.ratio(times["all"], times["half"]),
        "seconds, all": common.summary(times["all"]),
    }


# ---- memory


def traced(bands: int, rows: int, n: int) -> dict[str, Any]:
    """Let n documents come, 1,000 at a time; bytes per band and document."""
    from fastlsh.index import IndexDocuments
    from fastlsh.index.in_memory import SPARE, USED_WHEN_COMPACT

    step = 1_000
    index = fastlsh.Index(THRESHOLD, bands=bands, rows=rows, verify="signature", threads=1)
    tables: Any = index._backend  # without the ids
    kernel = tables.kernel
    most, room = 0.0, 0
    tracemalloc.start()
    for start in range(0, n, step):
        documents = IndexDocuments(random_signatures(step, start))
        tracemalloc.reset_peak()
        tables.reserve(step, 0)
        kernel.append(documents.signatures, None, None, 0, step)
        kernel.switch(start, np.empty(0, np.int64))
        _, peak = tracemalloc.get_traced_memory()
        if start + step > room:
            room = max(start + step, int(SPARE * start))
        signatures = 4 * K * room + documents.signatures.nbytes
        if start + step >= n // 10:
            most = max(most, (peak - signatures) / bands / (start + step))
    del documents
    tables.compact(USED_WHEN_COMPACT)
    now, _ = tracemalloc.get_traced_memory()
    return {
        "at any moment": common.significant(most),
        "after compact()": common.significant((now - 4 * K * n) / bands / n),
    }


def peak_of_index(bands: int, rows: int, n: int) -> dict[str, Any]:
    """Let n documents come in ten parts; the growth of the peak of the process."""
    parts = [random_signatures(n // 10, part) for part in range(10)]
    index = fastlsh.Index(THRESHOLD, bands=bands, rows=rows, verify="signature", threads=1)
    index.insert("warm up", signature=parts[0][0])
    before = common.peak()
    for number, part in enumerate(parts):
        index.insert_many(range(number * n // 10, (number + 1) * n // 10), signatures=part)
    grown = common.peak() - before
    return {
        "bytes per document, resident peak": round(grown / n),
        "bytes per band and document, without the signature": round((grown / n - 4 * K) / bands, 1),
    }


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Take each measurement in a process of its own."""
    n = 20_000 if options.quick else 1_000_000
    results: dict[str, Any] = {"documents": n}
    for bands, rows in ((17, 7), (9, 13)):
        results[f"{bands} x {rows}"] = {
            **common.call(traced, bands, rows, n),
            **common.call(peak_of_index, bands, rows, n),
        }
    return results


# ---- files


def opening(options: argparse.Namespace, count: int) -> dict[str, Any]:
    """Open a small file and a large one, and ask each one question."""
    sizes = (100, 2_000) if options.quick else (1_000, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        rows = random_signatures(sizes[1])
        paths: dict[int, str] = {}
        for n in sizes:
            index = fastlsh.Index(THRESHOLD, verify="signature", threads=1)
            index.insert_many([f"document {d}" for d in range(n)], signatures=rows[:n])
            index.save(paths.setdefault(n, str(Path(folder) / str(n))))
            del index
        work = {f"{n:,}": partial(fastlsh.Index.load, paths[n], mmap=True) for n in sizes}
        for n in sizes:
            loaded = fastlsh.Index.load(paths[n], mmap=True)
            assert loaded.query(signature=rows[n - 1]) == [(f"document {n - 1}", 1.0)]
        times = common.interleave(work, 10 * count)
        few, many = times.values()
        return {
            **{f"ms, {name}": common.summary(1e3 * s for s in t) for name, t in times.items()},
            "large / small": common.ratio(many, few),
            "bytes, large": os.path.getsize(paths[sizes[1]]),
        }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/index.json."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    results = {
        "insert and query all": speed(options, count),
        "identical documents": identical(options, count),
        "bytes per band and document, besides signatures and ids": memory(options),
        "opening with mmap=True": opening(options, count),
    }
    common.write("index", options, results)
