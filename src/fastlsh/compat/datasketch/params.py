"""The choice of bands and rows, and the checks that the indexes share."""

import operator
from collections.abc import Sized
from typing import Any, Protocol

from numpy.typing import NDArray

from fastlsh.banding import least_error, least_weighted_area, quadrature


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
