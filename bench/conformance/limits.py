"""How far chance goes: limits that a sound library exceeds with a stated probability at most."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

FALSE_ALARM = 1e-5
"""The probability that one check fails a sound library; its cells and slots share it."""


def normal_limit(cells: int) -> float:
    """Return the |z| that the largest of so many normal deviates reaches by chance."""
    return NormalDist().inv_cdf(1 - FALSE_ALARM / cells / 2)


def count_excess(hits: NDArray[np.int64], trials: int, p: float) -> NDArray[np.float64]:
    """Return -log of a bound for the probability of counts so far from the expected ones.

    Chernoff's bound on one side of a binomial distribution, exp(-trials * KL(hits/trials, p)):
    never too small, whatever p is.
    """
    q = np.asarray(hits, np.float64) / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(q > 0, q * np.log(q / p), 0.0)
        no = np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - p)), 0.0)
    return np.asarray(trials * (yes + no))


def count_limit(cells: int) -> float:
    """Return what `count_excess` reaches by chance in one of so many cells."""
    return math.log(2 * cells / FALSE_ALARM)


def spread_limit(trials: int, kurtosis: float, cells: int) -> float:
    """Return what the mean of so many squared standard deviates reaches by chance.

    Wilson and Hilferty's cube root of chi-square, of as many degrees of freedom as give the
    variance that squares of this excess kurtosis have.
    """
    freedom = 2 * trials / (2 + kurtosis)
    part = 2 / (9 * freedom)
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / cells)
    return float((1 - part + z * math.sqrt(part)) ** 3)


def correlation_limit(trials: int, p: float, cells: int) -> float:
    """Return what the correlation of two independent columns of hits reaches by chance.

    Bernstein's inequality for the sum of the products of standardised hits.
    """
    most = max(p, 1 - p) ** 2 / (p * (1 - p))
    need = math.log(2 * cells / FALSE_ALARM)
    # t^2 / 2 = need * (1 + most * t / (3 sqrt(trials)))
    half = need * most / (3 * math.sqrt(trials))
    t = half + math.sqrt(half * half + 2 * need)
    return t / math.sqrt(trials)
