import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import Spans

BY_CONTAINMENT: int
BY_SETS: int
BY_SIGNATURE: int
BY_TEXTS: int
NOT_VERIFIED: int

@disjoint_base
class SetJoin:
    def __new__(
        cls,
        size: NDArray[np.int64],
        start: NDArray[np.int64],
        elements: NDArray[np.uint32],
        lists: NDArray[np.int64],
        postings: NDArray[np.int32],
        threshold: float,
    ) -> Self: ...
    def pairs(
        self,
        at: NDArray[np.int64],
        last: int,
        scratch: NDArray[np.int32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        similarity: NDArray[np.float64],
        steps: int = ...,
    ) -> int: ...

@disjoint_base
class Numbers:
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def replace(
        self, lists: NDArray[np.uint64], start: NDArray[np.int64], count: NDArray[np.int64]
    ) -> None: ...

def pack_numbers(
    lists: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    out: NDArray[np.uint64],
    place: NDArray[np.int64],
    size: NDArray[np.int64],
) -> int: ...
def shingle_sets(
    units: Spans | NDArray[np.uint64],
    offsets: NDArray[np.int64] | None,
    unit: int,
    size: int,
    out: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    unique: bool = True,
    thinned: bool = False,
    prepared: ShinglePlan | None = None,
) -> None: ...
def agreement(
    signatures: NDArray[np.uint32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def set_jaccard(
    hashes: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
    out: NDArray[np.float64],
) -> None: ...
def number_jaccard(
    words: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
    out: NDArray[np.float64],
) -> None: ...
def numbers_of(
    known: NDArray[np.uint64],
    number: NDArray[np.uint32],
    directory: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    out: NDArray[np.uint32],
) -> None: ...
def invert(
    numbers: NDArray[np.uint32],
    begin: NDArray[np.int64],
    start: NDArray[np.int64],
    threshold: float,
    lists: NDArray[np.int64],
    postings: NDArray[np.int32],
    elements: NDArray[np.uint32],
) -> None: ...
