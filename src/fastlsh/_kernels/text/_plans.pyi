import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

@disjoint_base
class ShinglePlan:
    def __new__(
        cls,
        unit: int,
        size: int,
        secret: NDArray[np.uint64] | None = None,
        words: NDArray[np.uint64] | None = None,
        keeps: bool = False,
    ) -> Self: ...
