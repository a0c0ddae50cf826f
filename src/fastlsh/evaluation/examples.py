"""Examples of pairs for each step of similarity, by which a threshold is chosen."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

EXAMPLES = 4
"""Of each step, at most."""


def similarity_steps(lowest: float) -> list[float]:
    """Return where each step begins: `lowest`, each tenth above it, and 1.

    Examples
    --------
    >>> similarity_steps(0.75)
    [0.75, 0.8, 0.9, 1.0]
    """
    return [lowest, *(n / 10 for n in range(1, 11) if n / 10 > lowest + 1e-9)]


def example_rows(similarity: NDArray[np.float64], lowest: float) -> NDArray[np.int64]:
    """Return the numbers of some pairs of each step, evenly spread over their similarities."""
    order = np.argsort(similarity, kind="stable")
    starts = np.searchsorted(similarity[order], similarity_steps(lowest)).tolist()
    chosen = [
        np.unique(np.linspace(start, stop - 1, EXAMPLES).round().astype(np.int64))
        for start, stop in pairwise([*starts, len(order)])
        if stop > start
    ]
    rows: NDArray[np.int64] = order[np.concatenate([np.empty(0, np.int64), *chosen])]
    return rows
