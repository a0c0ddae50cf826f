"""What `paired` measures, by public names only: any version of fastlsh can be measured.

Each function here is called in a process of its own, by the interpreter that has the version.
"""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import fastlsh
from bench import corpus, processes, timing
from bench.instructions import repeating_signatures
from fastlsh import _kernels

K = 128
THRESHOLD = 0.8
PARAMS = fastlsh.LSHParams(17, 7)
SHORT, LONG = "short", "long"
IMPORT = """
import numpy, time
start = time.process_time()
import fastlsh
print(time.process_time() - start)
"""
Work = Callable[[], Any]


def texts(folder: Path, kind: str) -> list[str]:
    """Return the short or the long texts."""
    return corpus.read(folder / f"{kind}.jsonl")


def sign(kind: str, scheme: str, unit: str, size: int, folder: Path) -> Work:
    """Make the signatures of raw texts."""
    shingler = fastlsh.Shingler(unit=unit, size=size)
    hasher = fastlsh.MinHasher(K, scheme=scheme, shingler=shingler, threads=1)
    return partial(hasher.signatures, texts(folder, kind))


def from_hashes(scheme: str, folder: Path) -> Work:
    """Make signatures of ready hashes, 500 a document."""
    hashes = np.random.default_rng(4).integers(0, 2**64, 500_000, np.uint64)
    hasher = fastlsh.MinHasher(K, scheme=scheme, threads=1)
    return partial(hasher.from_hashes, hashes, np.arange(0, len(hashes) + 1, 500))


def with_signatures(function: str, folder: Path) -> Work:
    """Make the band keys or the candidate pairs of ready signatures."""
    return partial(getattr(fastlsh, function), repeating_signatures(20_000), PARAMS, threads=1)


def whole(function: str, kind: str, folder: Path) -> Work:
    """Find the near-duplicates, or deduplicate, from texts to the answer."""
    return partial(getattr(fastlsh, function), texts(folder, kind), THRESHOLD, threads=1)


def exact(kind: str, folder: Path) -> Work:
    """Compare each text with the next one."""
    documents = texts(folder, kind)
    left = np.arange(len(documents) - 1)
    return partial(fastlsh.exact_jaccard, documents, (left, left + 1), threads=1)


def given(what: str, folder: Path) -> dict[str, Any]:
    """Return the documents in the form in which an index gets them."""
    if what == "signatures":
        return {"signatures": repeating_signatures(20_000)}
    return {"texts": texts(folder, SHORT)}


def filled(documents: dict[str, Any]) -> fastlsh.Index:
    """Return an index of the documents."""
    index = fastlsh.Index(THRESHOLD, num_perm=K, verify="signature", threads=1)
    (column,) = documents.values()
    index.insert_many(range(len(column)), **documents)
    return index


def insert(what: str, folder: Path) -> Work:
    """Insert all into an empty index."""
    documents = given(what, folder)
    return lambda: len(filled(documents))


def query(what: str, folder: Path) -> Work:
    """Ask an index for all that is in it."""
    documents = given(what, folder)
    return partial(filled(documents).query_many, **documents)


TIMED: dict[str, Callable[[Path], Work]] = {
    **{
        f"signatures, {kind} texts, {unit}, {scheme}": partial(sign, kind, scheme, unit, size)
        for kind in (SHORT, LONG)
        for unit, size in (("char", 9), ("word", 3))
        for scheme in ("affine32", "fss")
    },
    "from_hashes, affine32": partial(from_hashes, "affine32"),
    "from_hashes, fss": partial(from_hashes, "fss"),
    "band_keys": partial(with_signatures, "band_keys"),
    "candidate_pairs": partial(with_signatures, "candidate_pairs"),
    **{
        f"{function}, {kind} texts": partial(whole, function, kind)
        for function in ("near_duplicates", "deduplicate")
        for kind in (SHORT, LONG)
    },
    "exact_jaccard, long texts": partial(exact, LONG),
    **{
        f"Index.{name}, {what}": partial(job, what)
        for name, job in (("insert_many", insert), ("query_many", query))
        for what in ("signatures", "texts")
    },
}


def timed(name: str, folder: str, calls: int, least: float) -> dict[str, Any]:
    """Return the processor seconds of a call, and a digest of what it returns.

    Without a number of calls, as many are made as take `least` seconds.
    """
    work = TIMED[name](Path(folder))
    result = digest(work())  # and warms up
    calls = calls or timing.calls_that_last(work, least, process_time)
    value = timing.seconds(work, calls, process_time) / calls
    return {"value": value, "calls": calls, "result": result}


def digest(result: Any) -> str:
    """Return the same text for the same answers."""
    made = hashlib.blake2b(digest_size=8)
    for part in parts(result):
        made.update(part)
    return made.hexdigest()


def parts(result: Any) -> list[bytes]:
    """Return what an answer consists of."""
    if isinstance(result, fastlsh.Pairs):
        return [column.tobytes() for column in (result.left, result.right, result.similarity)]
    if isinstance(result, fastlsh.Deduplication):
        return [column.tobytes() for column in (result.kept_index, result.similarity)]
    if isinstance(result, np.ndarray):
        return [str((result.dtype, result.shape)).encode(), result.tobytes()]
    return [repr(result).encode()]


def memory(folder: str, calls: int, least: float) -> dict[str, Any]:
    """Return the bytes by which `deduplicate` lets the peak of the process grow."""
    documents = [*texts(Path(folder), SHORT), *texts(Path(folder), LONG)]
    fastlsh.deduplicate(documents[:50], THRESHOLD, threads=1)
    before = processes.peak()
    result = fastlsh.deduplicate(documents, THRESHOLD, threads=1)
    return {"value": processes.peak() - before, "calls": 1, "result": digest(result)}


def importing(folder: str, calls: int, least: float) -> dict[str, Any]:
    """Return the processor seconds of an import, NumPy's not counted.

    An installed package has its bytecode, a checkout may not: all get theirs in the same place.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def once() -> float:
        done = subprocess.run(
            [sys.executable, "-c", IMPORT],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return float(done.stdout)

    first = once()  # and writes the bytecode
    calls = calls or max(1, round(least / first))
    return {"value": sum(once() for _ in range(calls)) / calls, "calls": calls, "result": ""}


def identity() -> dict[str, str]:
    """Return what this interpreter measures."""
    return {
        "fastlsh": fastlsh.__version__,
        "place": str(Path(fastlsh.__file__).parent),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "instruction set": _kernels.isa,
    }
