from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

REMEMBERED: int

@disjoint_base
class Keeper:
    def __new__(
        cls,
        root: NDArray[np.int32],
        signatures: NDArray[np.uint32],
        document: NDArray[np.int64],
        fixed: NDArray[np.uint8],
        threshold: float,
        mode: int,
        limit: int,
        role: NDArray[np.uint8] | None = ...,
        empty: Callable[[Any, Any], NDArray[Any]] = ...,
    ) -> Self: ...
    def candidates(
        self,
        first: int,
        last: int,
        out: NDArray[np.int32],
        offsets: NDArray[np.int64],
        steps: int = ...,
    ) -> int: ...
    def first_hits(
        self,
        first: int,
        last: int,
        candidates: NDArray[np.int32],
        offsets: NDArray[np.int64],
        words: NDArray[np.uint64],
        start: NDArray[np.int64],
        count: NDArray[np.int64],
        hit: NDArray[np.int32],
        similarity: NDArray[np.float64],
    ) -> None: ...
    def settle(
        self,
        first: int,
        last: int,
        words: NDArray[np.uint64],
        start: NDArray[np.int64],
        count: NDArray[np.int64],
        hit: NDArray[np.int32],
        similarity: NDArray[np.float64],
        unsure: NDArray[np.uint8],
        done: int = 0,
        steps: int = ...,
    ) -> int: ...
