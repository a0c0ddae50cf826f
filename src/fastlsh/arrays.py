"""Operations on arrays and values for which NumPy has none, or a slow one."""

from bisect import bisect_left
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
        found = value.item()
        return found if type(found) in _PLAIN else float(found)  # of more than 64 bits
    return value


def plain_values(values: list[Any]) -> list[Any]:
    """Return the plain form of many values."""
    return values if set(map(type, values)) <= _PLAIN else list(map(plain_value, values))


_PLAIN = {str, bytes, int, float, bool}
