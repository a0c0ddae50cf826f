"""The permutation schemes of datasketch 2.0: what each stores, and how a seed draws it."""

import operator
import os
from functools import lru_cache
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import AFFINE32, AFFINE64, LEGACY, Permutations

CACHED_NUM_PERM = 4096


class Scheme(NamedTuple):
    """A permutation scheme."""

    kernel: int
    """The kernels' number for it."""
    dtype: np.dtype[Any]
    """The type of element hashes, permutations and hash values."""
    largest: int
    """The largest hash value, which an empty set has."""
    code: int
    """The code in serialised sketches; 0: the format before there were schemes."""
    letter: str
    """The format of a serialised hash value, as in `struct`."""


SCHEMES = {
    "affine32": Scheme(AFFINE32, np.dtype(np.uint32), 2**32 - 1, 1, "I"),
    "affine64": Scheme(AFFINE64, np.dtype(np.uint64), 2**64 - 1, 2, "Q"),
    "legacy": Scheme(LEGACY, np.dtype(np.uint64), 2**32 - 1, 0, "I"),
}
BY_CODE = {scheme.code: name for name, scheme in SCHEMES.items() if scheme.code}


def check_scheme(scheme: object) -> str:
    """Return the scheme if it is known.

    Raises
    ------
    ValueError
        The message names the known ones.
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    return scheme


def scheme_of_code(code: int) -> str:
    """Return the scheme that a serialised sketch names.

    Raises
    ------
    ValueError
        There is no such code.
    """
    if code not in BY_CODE:
        raise ValueError(f"scheme code must be one of {sorted(BY_CODE)}, got {code}")
    return BY_CODE[code]


def draw(scheme: str, num_perm: int, seed: SupportsIndex | None) -> Permutations:
    """Draw the permutations that datasketch draws from numpy's RandomState(seed).

    Parameters
    ----------
    scheme
        A key of `SCHEMES`.
    num_perm
        The number of functions.
    seed
        0 to 2**32 - 1; None: a different one each time; otherwise what RandomState takes.

    Returns
    -------
    Permutations
        `coefficients`, (2, num_perm), are a and b of the functions, read-only. Draws of usual
        size are kept and shared.
    """
    try:
        number = int.from_bytes(os.urandom(4), "little") if seed is None else operator.index(seed)
    except TypeError:
        return _make(scheme, num_perm, seed)
    if not 0 <= number < 2**32:
        raise ValueError(f"Seed must be between 0 and 2**32 - 1, got {number}")
    make = _kept if num_perm <= CACHED_NUM_PERM and seed is not None else _make
    return make(scheme, num_perm, number)


def _make(scheme: str, num_perm: int, seed: Any) -> Permutations:
    kind = SCHEMES[scheme]
    coefficients: NDArray[Any]
    stream = np.random.RandomState(seed)  # its stream is frozen by numpy's policy (NEP 19)
    if scheme == "legacy":  # a from [1, 2^61 - 1) and b from [0, 2^61 - 1), in turn
        least = np.tile(np.array([1, 0], np.uint64), num_perm)
        numbers = stream.randint(least, 2**61 - 1, dtype=np.uint64)
        coefficients = numbers.reshape(num_perm, 2).T.copy()
    else:
        coefficients = stream.randint(0, kind.largest + 1, (2, num_perm), kind.dtype)
        # Without its top bit, doubled, plus one: the top bit falls out of the doubling.
        coefficients[0] = coefficients[0] * kind.dtype.type(2) + kind.dtype.type(1)
    coefficients.flags.writeable = False
    return Permutations(kind.kernel, coefficients)


_kept = lru_cache(maxsize=64)(_make)
