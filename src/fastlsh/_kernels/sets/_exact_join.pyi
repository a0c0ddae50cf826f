import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

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
