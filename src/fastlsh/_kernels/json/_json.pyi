import numpy as np
from numpy.typing import NDArray

REFUSED: int
STRING: int
NULL_VALUE: int
INTEGER: int
REAL: int
LONG_REAL: int
TOKEN: int
PADDING: int

def json_lines(
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    rows: NDArray[np.int64],
    keys: tuple[bytes | None, bytes | None, bytes | None],
    out: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    members: NDArray[np.int64],
) -> int: ...
def line_bounds(data: NDArray[np.uint8], last: bool) -> NDArray[np.int64]: ...
