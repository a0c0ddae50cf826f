"""The hash functions of the signature: which scheme, and its coefficients from a seed."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.minhash._signatures import ROUNDS
from fastlsh.arguments import check_choice, check_integer
from fastlsh.keyed import Key
from fastlsh.parameters import SCHEMES


class Scheme(NamedTuple):
    """A scheme with the functions a[j] * x + b[j] mod 2^32, a[j] odd, that it works with."""

    kernel: int
    """By the name that the kernels have for it."""
    a: NDArray[np.uint32]
    b: NDArray[np.uint32]
    """uint32 (num_perm,), one function for each value; for "fss" one more for each round."""


def draw_scheme(scheme: str, num_perm: int, seed: int, key: Key | None = None) -> Scheme:
    """Draw the functions of a scheme.

    Parameters
    ----------
    scheme
        "affine32", whose coefficients are those that datasketch 2.0 draws from the same seed; or
        "fss", which draws as many more as it has rounds.
    num_perm
        How many values a signature has, 1 to 65,535.
    seed
        0 to 2^32 - 1, of the Mersenne Twister MT19937 (docs/signature-spec.md).
    key
        The functions are derived from it and the seed instead.

    Raises
    ------
    TypeError, ValueError
        A number that is no integer or out of range, or an unknown scheme; the message names the
        known ones.
    """
    check_choice(scheme, "scheme")
    num_perm = check_integer(num_perm, "num_perm")
    seed = check_integer(seed, "seed")
    functions = num_perm + (ROUNDS if scheme == "fss" else 0)
    if key is not None:
        return Scheme(SCHEMES[scheme], *key.functions(functions, seed))
    return Scheme(SCHEMES[scheme], *_drawn(functions, seed))


@lru_cache(16)
def _drawn(functions: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return a and b, which cannot be written to: all hashers with this seed share them."""
    # The stream of RandomState is frozen by numpy's policy (NEP 19).
    draw = np.random.RandomState(seed)
    half = draw.randint(0, 2**31, functions, np.uint32)
    a, b = half * np.uint32(2) + np.uint32(1), draw.randint(0, 2**32, functions, np.uint32)
    for array in (a, b):
        array.flags.writeable = False
    return a, b
