import numpy as np
from numpy.typing import NDArray

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
