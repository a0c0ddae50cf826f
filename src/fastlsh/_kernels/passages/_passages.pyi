import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import Spans

def winnow(
    texts: Spans,
    length: int,
    gram: int,
    keys: NDArray[np.uint64],
    rows: NDArray[np.int64],
    echoes: NDArray[np.int64],
) -> tuple[int, int]: ...
def repeats(
    texts: Spans,
    occurrences: NDArray[np.int64],
    groups: NDArray[np.int64],
    length: int,
    out: NDArray[np.int64],
) -> int: ...
def cuts(matches: NDArray[np.int64], texts: int, out: NDArray[np.int64]) -> int: ...
