"""The choice of bands and rows, the band keys, and the permutation schemes of datasketch."""

import operator
import os
from collections.abc import Sized
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.compat._compat import Permutations
from fastlsh._kernels.minhash._signatures import AFFINE32, AFFINE64, LEGACY
from fastlsh.banding import least_error, least_weighted_area, quadrature


def band_key(hashvalues: NDArray[Any]) -> bytes:
    """Return the key of a band: the bytes of its values, byte-swapped."""
    return bytes(hashvalues.byteswap().data)


def band_keys(hashvalues: NDArray[Any], bands: int, rows: int) -> list[bytes]:
    """Return the keys of the first bands of `rows` minima each."""
    data = hashvalues[: bands * rows].byteswap().tobytes()
    width = len(data) // bands if bands else 1
    return [data[i : i + width] for i in range(0, len(data), width)]


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


def checked_scheme(scheme: object) -> str:
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


class Sketch(Sized, Protocol):
    """A sketch for an index: MinHash, LeanMinHash or WeightedMinHash, of fastlsh or datasketch."""

    @property
    def hashvalues(self) -> NDArray[Any]:
        """The minima, along the first axis."""
        ...


def check_weights(weights: tuple[float, float]) -> None:
    """Raise ValueError unless the weights lie in [0, 1] and sum to 1."""
    if any(w < 0.0 or w > 1.0 for w in weights):
        raise ValueError(f"Weight must be in [0.0, 1.0], got {weights}")
    if sum(weights) != 1.0:
        raise ValueError(f"Weights must sum to 1.0, got {weights}")


def check_threshold(threshold: float, num_perm: int) -> None:
    """Raise ValueError unless the threshold lies in [0, 1] and there are two minima."""
    if threshold > 1.0 or threshold < 0.0:
        raise ValueError(f"threshold must be in [0.0, 1.0], got {threshold}")
    if num_perm < 2:
        raise ValueError(f"Too few permutation functions: num_perm={num_perm}, at least 2")


def check_length(minhash: Sketch, num_perm: int) -> None:
    """Raise ValueError unless the sketch has `num_perm` minima."""
    if len(minhash) != num_perm:
        raise ValueError(f"Expecting minhash with length {num_perm}, got {len(minhash)}")


def check_scheme(remembered: str | None, minhash: Sketch) -> str | None:
    """Return the scheme to remember; ValueError if the sketch has another than the remembered one.

    Minima do not show by which scheme they were made, and minima of two schemes never agree. A
    sketch without a scheme (WeightedMinHash) is accepted.
    """
    scheme: str | None = getattr(minhash, "scheme", None)
    if scheme is None or scheme == remembered:
        return remembered
    if remembered is not None:
        raise ValueError(
            f"MinHash scheme {scheme!r} does not match scheme {remembered!r} of the MinHash "
            "previously given to this index"
        )
    return scheme


def choose_bands(
    threshold: float,
    num_perm: int,
    weights: tuple[float, float],
    params: tuple[int, int] | None,
) -> tuple[int, int]:
    """Return (bands, rows): `params` if they fit, otherwise those of the least weighted error.

    Raises
    ------
    ValueError
        An argument out of range, or fewer than two bands.
    """
    check_threshold(threshold, num_perm)
    check_weights(weights)
    if params is None:
        false_positive_weight, false_negative_weight = weights
        b, r = optimal_param(threshold, num_perm, false_positive_weight, false_negative_weight)
    else:
        b, r = params
        if b * r > num_perm:
            raise ValueError(
                f"The product of b and r in params is {b} * {r} = {b * r} -- it must be less "
                f"than num_perm {num_perm}. Did you forget to specify num_perm?"
            )
    if b < 2:
        raise ValueError(f"The number of bands are too small (b < 2): b={b}, r={r}")
    return b, r


def optimal_param(
    threshold: float,
    num_perm: int,
    false_positive_weight: float,
    false_negative_weight: float,
) -> tuple[int, int]:
    """Return the (b, r) of least weighted false positives and negatives by Jaccard similarity."""
    return least_weighted_area(
        float(threshold),
        operator.index(num_perm),
        float(false_positive_weight),
        float(false_negative_weight),
    )


def optimal_containment_param(
    threshold: float,
    num_perm: int,
    max_r: int,
    xq: float,
    false_positive_weight: float,
    false_negative_weight: float,
) -> tuple[int, int]:
    """Return the (b, r), r <= max_r, of least weighted false positives and negatives.

    By containment: t of the q elements of a query lie in a set of x, and `xq` = x / q; the
    Jaccard similarity of the two is t / (1 + xq - t).
    """
    nodes, node_weights = quadrature()
    end = min(threshold, xq)
    below = nodes * end
    length = max(0.0, min(1.0, xq) - threshold)
    above = min(threshold, xq, 1.0) + nodes * length
    return least_error(
        num_perm,
        max_r,
        (below / (1 + xq - below), node_weights * (end * false_positive_weight)),
        (above / (1 + xq - above), node_weights * (length * false_negative_weight)),
    )
