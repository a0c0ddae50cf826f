"""Operations on arrays and values for which NumPy has none, or a slow one."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
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


def cumcount(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each item how many items before it have the same group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    count = np.empty(len(groups), np.int64)
    count[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return count


def covered(first: NDArray[np.int64], size: int, total: int) -> NDArray[np.bool_]:
    """Return which of `total` places lie in a window of `size` places that begins at `first`."""
    inside = np.zeros(total, np.bool_)
    for offset in range(size):
        inside[first + offset] = True
    return inside


def covered_length(
    owners: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]
) -> int:
    """Return the length of what spans cover; those of one owner ascend, and may overlap."""
    shared = (end[:-1] - begin[1:])[owners[1:] == owners[:-1]]
    return int((end - begin).sum() - shared[shared > 0].sum())


def compare_share(
    part: NDArray[np.int64], whole: NDArray[np.int64] | int, share: float
) -> NDArray[np.float64]:
    """Return whether counts are below a share of the whole, equal to it or above: -1, 0 or 1.

    29 of 100 is the share 0.29. The product 0.29 * 100 is rounded to less than 29; a quotient is
    rounded to the number that "0.29" stands for.
    """
    return np.sign(part / whole - share)


def offsets_of(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each item begins if all lie one after the other, and where the last one ends."""
    offsets = np.zeros(len(size) + 1, np.int64)
    np.cumsum(size, out=offsets[1:])
    return offsets


def ranges_of(start: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other: size[i] from start[i] on."""
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(int(size.sum()))


def sorted_range(values: NDArray[np.int64], start: int, stop: int) -> slice:
    """Return where the values from `start` to `stop` - 1 are among sorted ones.

    `numpy.searchsorted` would first copy them all if they are a column of several.
    """
    return slice(bisect_left(values, start), bisect_left(values, stop))


def plain_value(value: Any) -> Any:
    """Return a value of Python's own type for an instance of a subclass, or of a type of NumPy.

    A member of ``class E(str, Enum)`` is equal to its value, but its ``str()`` and its hash are
    others. Values that are no text and no number are returned unchanged.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(None))
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        number = value.item()
        return number if type(number) in _PLAIN else float(number)  # of more than 64 bits
    return value


def plain_values(values: list[Any]) -> list[Any]:
    """Return the plain form of many values."""
    return values if set(map(type, values)) <= _PLAIN else list(map(plain_value, values))


_PLAIN = {str, bytes, int, float, bool}

EXACT = np.dtype([("near", np.float64), ("rest", np.int64), ("least", np.int64)])
"""Numbers that compare as they are, integers with fractions: the nearest float64, and how much more
the number is, in units of 2^-63 of its last place and 2^-63 of these. NaN: there is none."""

_ROUNDED = 2.0**53
"""Integers from here on are rounded by float64."""


def exact(numbers: Any) -> NDArray[Any]:
    """Return numbers, of an array or a list, as `EXACT`; None becomes NaN.

    OverflowError if one is too large for a float64.
    """
    if getattr(numbers, "dtype", None) == EXACT:
        return numbers  # type: ignore[no-any-return]
    values = np.zeros(len(numbers), EXACT)
    kind = getattr(numbers, "dtype", np.dtype(object)).kind
    values["near"] = np.array(numbers, np.float64)
    unsure = np.abs(values["near"]) >= _ROUNDED
    if kind == "O":
        unsure |= [isinstance(element, Fraction) for element in numbers]
    for i in np.flatnonzero(unsure).tolist() if kind in "iuO" else ():
        if not isinstance(numbers[i], float):
            number = int(numbers[i]) if isinstance(numbers[i], np.integer) else numbers[i]
            values["rest"][i], values["least"][i] = _rest(number, float(values["near"][i]))
    return values


def _rest(number: int | Fraction, near: float) -> tuple[int, int]:
    """Return how much more a number is than the nearest float64, as `EXACT` has it."""
    (a, b), (c, d), (e, f) = (value.as_integer_ratio() for value in (number, near, math.ulp(near)))
    return divmod(((a * d - b * c) * f << 126) // (b * d * e), 1 << 63)


def settled(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return `EXACT` numbers as float64 if that rounds none of them."""
    is_exact = not (numbers["rest"].any() or numbers["least"].any())
    return np.ascontiguousarray(numbers["near"]) if is_exact else numbers


def rounded(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with which numpy can calculate: of `EXACT` ones the nearest float64."""
    return numbers["near"] if numbers.dtype == EXACT else numbers


def float_sum(values: Sequence[float]) -> float:
    """Return the float that is nearest to the exact sum of numbers, whatever their order."""
    try:
        return math.fsum(values)
    except OverflowError:  # only some of the numbers together may be too large
        total = sum(map(Fraction, values), Fraction())
        if abs(total) < 2**1024 - 2**970:  # from here on, the nearest float would be 2**1024
            return float(total)
        return math.inf if total > 0 else -math.inf
    except ValueError:  # infinite ones of both signs
        return math.nan


def numbers_of(values: NDArray[Any] | list[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all are such integers, else as float64, or `EXACT` if need be."""
    if isinstance(values, np.ndarray):
        return values
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    return settled(exact(values))


def joined_numbers(blocks: list[NDArray[Any]]) -> NDArray[Any]:
    """Return columns of numbers one behind the other, as `numbers_of` would."""
    if len({block.dtype for block in blocks}) == 1:
        return np.concatenate(blocks)
    return settled(np.concatenate(list(map(exact, blocks))))
