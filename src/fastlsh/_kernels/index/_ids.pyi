from typing import Any

import numpy as np
from numpy.typing import NDArray

def answer_lists(
    names: list[Any],
    found: NDArray[np.float64],
    counts: NDArray[np.int64],
    alike: float | None = None,
) -> list[list[tuple[Any, float]]]: ...
def link_ids(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64] | None,
    n: int,
    table: NDArray[np.uint64],
) -> None: ...
def find_id(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64] | None,
    n: int,
    table: NDArray[np.uint64],
    wanted: NDArray[np.uint8] | bytes,
) -> int: ...
