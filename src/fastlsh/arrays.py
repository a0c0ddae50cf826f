"""Operations on arrays for which NumPy has none, or a slow one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unique(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of an array, ascending.

    From NumPy 2.3 on, ``np.unique`` fills a hash table first: five to twenty times as slow.
    """
    values = np.sort(values, axis=None)
    first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]
