import numpy as np
from numpy.typing import NDArray

def link(
    keys: NDArray[np.uint64],
    table: NDArray[np.int32],
    later: NDArray[np.int32],
    earlier: NDArray[np.int32],
) -> tuple[int, int]: ...
def emit_pairs(
    signatures: NDArray[np.uint32],
    rows: int,
    documents: NDArray[np.int64],
    previous: NDArray[np.int32],
    at: NDArray[np.int64],
    stop: int,
    left: NDArray[np.int32] | None,
    right: NDArray[np.int32] | None,
    room: int = 0,
    steps: int = ...,
) -> int: ...
def chain_depths(previous: NDArray[np.int32], totals: NDArray[np.int64]) -> None: ...
def roots(previous: NDArray[np.int32], root: NDArray[np.int32]) -> None: ...
def unite(parent: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]) -> None: ...
def families(parent: NDArray[np.int32]) -> None: ...
