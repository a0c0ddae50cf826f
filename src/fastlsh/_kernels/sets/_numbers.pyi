import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

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
