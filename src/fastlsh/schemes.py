"""The hash functions of the signature: which family, and its coefficients from a seed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_NUM_PERM = 65_535


class Affine32(NamedTuple):
    """The functions h_j(x) = a[j] * x + b[j] mod 2^32, with a[j] odd; both uint32 (num_perm,)."""

    a: NDArray[np.uint32]
    b: NDArray[np.uint32]


def affine32(num_perm: int, seed: int) -> Affine32:
    """Draw the coefficients that datasketch 2.0 draws from the same seed.

    Parameters
    ----------
    num_perm
        How many functions, 1 to 65,535.
    seed
        0 to 2^32 - 1, of the Mersenne Twister MT19937 (docs/signature-spec.md).

    Raises
    ------
    ValueError
        A number out of range.
    """
    if not 1 <= num_perm <= MAX_NUM_PERM:
        raise ValueError(f"num_perm must be between 1 and {MAX_NUM_PERM:,}, got {num_perm}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed must be between 0 and 2**32 - 1, got {seed}")
    # The stream of RandomState is frozen by numpy's policy (NEP 19).
    draw = np.random.RandomState(seed)
    half = draw.randint(0, 2**31, num_perm, np.uint32)
    b = draw.randint(0, 2**32, num_perm, np.uint32)
    return Affine32(half * np.uint32(2) + np.uint32(1), b)


SCHEMES = {"affine32": affine32}


def draw_scheme(scheme: str, num_perm: int, seed: int) -> Affine32:
    """Return the functions of a scheme by its name; ValueError names the known ones."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    return SCHEMES[scheme](num_perm, seed)
