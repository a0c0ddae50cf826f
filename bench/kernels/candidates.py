"""From signatures to candidate pairs, against the best way in plain NumPy.

Signatures of 128 values, 21 bands of 6, one in ten a planted near-duplicate (Jaccard similarity
0.7 to 1) of an earlier one. Both sides make their band keys and return each pair once, sorted;
the results are asserted to be equal. NumPy's side is in numpy_way.py. Where NumPy sorts by AVX-512
it is at its best; NPY_DISABLE_CPU_FEATURES takes that away, FASTLSH_ISA takes it away from fastlsh.

Memory: the peak of a process of its own, above the signatures; the result, 24 bytes a pair, not
counted. Then the similarities of ready things: estimates from signatures, and exact ones of 400
pairs of sets of 500, 25 times over.
"""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import common
from bench.kernels.numpy_way import BANDS, numpy_pairs
from bench.kernels.ready_sets import ready_sets
from fastlsh import _kernels

NUM_PERM = 128
SHARE = 0.1
ROUNDS = 25
"""So many times over, for one round of sets is too short to be timed."""


def planted(n: int, seed: int = 0) -> NDArray[np.uint32]:
    """Return n signatures, one in ten a near-duplicate of an earlier one."""
    rng = np.random.default_rng(seed)
    signatures = rng.integers(0, 2**32, (n, NUM_PERM), dtype=np.uint32)
    copies = np.sort(rng.choice(np.arange(n // 2, n), int(SHARE * n), replace=False))
    origins = rng.integers(0, copies)
    for start in range(0, len(copies), 1 << 15):
        ours = copies[start : start + (1 << 15)]
        theirs = origins[start : start + (1 << 15)]
        equal = rng.random((len(ours), NUM_PERM)) < rng.uniform(0.7, 1.0, (len(ours), 1))
        signatures[ours] = np.where(equal, signatures[theirs], signatures[ours])
    return signatures


# ---- the comparison


def against_numpy(n: int, count: int) -> dict[str, Any]:
    """Compare one and two threads with NumPy: ratios of times."""
    signatures = planted(n)
    found = fastlsh.candidate_pairs(signatures, BANDS)
    pairs = found.left.astype(np.uint64) << np.uint64(32) | found.right.astype(np.uint64)
    assert np.array_equal(pairs, numpy_pairs(signatures))
    work: dict[str, Callable[[], Any]] = {"numpy": partial(numpy_pairs, signatures)}
    for threads in (1, 2):
        work[f"threads {threads}"] = partial(
            fastlsh.candidate_pairs, signatures, BANDS, threads=threads
        )
    times = common.interleave(work, count)
    return {
        "documents": n,
        "pairs": len(pairs),
        "seconds, numpy": common.summary(times["numpy"]),
        "seconds, one thread": common.summary(times["threads 1"]),
        "one thread / numpy": common.ratio(times["threads 1"], times["numpy"]),
        "two threads / numpy": common.ratio(times["threads 2"], times["numpy"]),
        "speed of two threads / one": common.ratio(times["threads 1"], times["threads 2"]),
    }


def similarities(quick: bool, count: int) -> dict[str, Any]:
    """Time estimates (Python included) and exact similarities of ready sets; million pairs/s."""
    rng = np.random.default_rng(2)
    m = 10_000 if quick else 500_000
    signatures = rng.integers(0, 2**32, (1000, NUM_PERM), dtype=np.uint32)
    left, right = rng.integers(0, 1000, (2, m))
    work: dict[str, Callable[[], Any]] = {
        "estimate, k = 128": partial(fastlsh.estimate_jaccard, signatures, (left, right), threads=1)
    }
    pairs = dict.fromkeys(work, m)
    for similarity in (0.05, 0.8):
        for threshold in (0.0, 0.8):
            for numbered in (False, True):
                name = f"exact, J = {similarity}, threshold {threshold}"
                name += ", numbered" if numbered else ""
                pairs[name] = 40 if quick else 400
                work[name] = ready_sets(
                    rng,
                    similarity,
                    pairs[name],
                    times=ROUNDS,
                    threshold=threshold,
                    numbered=numbered,
                )
                pairs[name] *= ROUNDS
    times = common.interleave(work, count)
    return {
        name: common.summary(pairs[name] / seconds / 1e6 for seconds in times[name])
        for name in work
    }


# ---- in processes of their own


def switched_off(instruction_set: str) -> str:
    """Return what NumPy must not use to be limited to this instruction set, too."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    wide = [name for name in found if "512" in name or name == "X86_V4"]
    return " ".join({"avx512": [], "avx2": wide}.get(instruction_set, found))


def times(quick: bool, count: int) -> dict[str, Any]:
    """Measure all times with the instruction set of this process."""
    return {
        "candidates": against_numpy(50_000 if quick else 1_000_000, count),
        "million pairs/s": similarities(quick, count),
    }


def bytes_each(file: str, threads: int) -> float:
    """Return by how many bytes a document the candidate pairs let this process grow."""
    signatures = np.load(file)
    fastlsh.candidate_pairs(signatures[:1000], BANDS, threads=threads)
    before = common.peak()
    pairs = len(fastlsh.candidate_pairs(signatures, BANDS, threads=threads))
    return (common.peak() - before - 24 * pairs) / len(signatures)


def memory(quick: bool) -> dict[str, Any]:
    """Return the bytes a document that `candidate_pairs` takes, by threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "signatures.npy"
        np.save(path, planted(50_000 if quick else 1_000_000))
        return {
            f"threads {n}": common.significant(common.call(bytes_each, str(path), n))
            for n in (1, 2)
        }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/candidates.json."""
    options = common.parser(__doc__).parse_args(arguments)
    results: dict[str, Any] = {
        name: common.call(
            times, options.quick, common.rounds(options),
            environment={"FASTLSH_ISA": name, "NPY_DISABLE_CPU_FEATURES": switched_off(name)},
        )
        for name in reversed(_kernels.instruction_sets())
    }  # fmt: skip
    results["bytes a document besides signatures and result"] = memory(options.quick)
    common.write("candidates", options, results)
