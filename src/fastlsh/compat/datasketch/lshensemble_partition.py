"""Intervals of set sizes for MinHashLSHEnsemble."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def optimal_partitions(
    sizes: NDArray[np.int64] | Sequence[int],
    counts: NDArray[np.int64] | Sequence[int],
    num_part: int,
) -> list[tuple[int, int]]:
    """Return intervals of sizes that expect few false positives.

    A set counts as large as the greatest of its interval, which costs
    (greatest - size) / greatest false positives.

    Parameters
    ----------
    sizes
        The distinct sizes, ascending.
    counts
        How many sets have each.
    num_part
        Number of intervals.

    Returns
    -------
    list of (lower, upper)
        Both inclusive; one for each size if there are fewer sizes than intervals. The same as
        datasketch's, also where that is not the optimum.
    """
    sizes = np.asarray(sizes)
    n = len(sizes)
    if num_part < 2:
        return [(sizes[0], sizes[-1])]
    if num_part >= n:
        return [(size, size) for size in sizes]
    wrong = _false_positives(sizes, np.asarray(counts))

    def costs(first: int, u: int, p: int) -> NDArray[np.float64]:
        # The last interval ends with u and begins after first, first + 1...
        sums: NDArray[np.float64] = least[p, first:u] + wrong[first + 1 : u + 1, u]
        return sums

    # least[p][u]: of p intervals up to u.
    least = np.zeros((num_part, n))
    least[1] = wrong[0]
    for p in range(2, num_part):
        for u in range(p - 1, n):
            least[p, u] = costs(p - 2, u, p - 1).min()
    ends = [n - 1]
    u = num_part - 2 + int(np.argmin(costs(num_part - 2, n - 1, num_part - 1)))
    for p in range(num_part - 1, 1, -1):
        ends.append(u)
        # An optimum would look at p - 1 intervals here.
        u = p - 2 + int(np.argmin(costs(p - 2, u, p)))
    ends.append(u)
    ends.reverse()
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [(sizes[i], sizes[j]) for i, j in zip(starts, ends, strict=True)]


def _false_positives(sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the expected false positives of each interval [lower, upper], (n, n)."""
    wrong = np.zeros((len(sizes), len(sizes)))
    for u in range(len(sizes)):
        greatest = float(sizes[u])
        shares = (greatest - sizes[: u + 1]) / greatest * counts[: u + 1]
        for lower in range(u + 1):  # differences of running sums would break ties otherwise
            wrong[lower, u] = shares[lower:].sum()
    return wrong
