import numpy as np
from numpy.typing import NDArray

def mt19937(seed: int, out: NDArray[np.uint32]) -> None: ...
