"""The small jobs whose instructions are counted.

Few or many items are of the same inputs, so that the difference of two counts is the kernel's
alone. On one processor, so on one thread; nothing depends on time, load or chance.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench.common.corpus import Writer

LENGTH = 1_100
BANDS = fastlsh.LSHParams(21, 6)


class Job(NamedTuple):
    """Work on a number of items, of which each counts so many units."""

    work: Callable[[int], object]
    few: int
    many: int
    unit: str
    units: int = 1


def sign(scheme: str, documents: int) -> None:
    """Sign texts of 1,100 characters: shingles hashed, minima taken, in one kernel."""
    texts = Writer(1).texts(50, LENGTH) * 80
    fastlsh.MinHasher(128, scheme=scheme, threads=1).signatures(texts[:documents])


def find_candidates(documents: int) -> None:
    """Hash and link the bands of signatures."""
    fastlsh.candidate_pairs(repeating_signatures(60_000)[:documents], BANDS)


def repeating_signatures(count: int) -> NDArray[np.uint32]:
    """Return random signatures, of which every tenth repeats another."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2**32, (count, 128), np.uint32)
    rows[::10] = rows[rng.integers(0, len(rows), len(rows[::10]))]
    return rows


JOBS = {
    "signatures, affine32": Job(partial(sign, "affine32"), 200, 2_000, "character", LENGTH),
    "signatures, fss": Job(partial(sign, "fss"), 200, 4_000, "character", LENGTH),
    "candidate pairs, 21 x 6": Job(find_candidates, 4_000, 60_000, "document"),
}


def work(name: str, items: int) -> None:
    """Do one job on so many items."""
    JOBS[name].work(items)
