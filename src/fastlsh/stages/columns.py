"""Columns of integers that engines hand in: arrays, or Arrow columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_column(column: Any, name: str) -> NDArray[Any]:
    """Return a column of integers as an array of one dimension, or raise TypeError."""
    values = np.asarray(column)
    if values.ndim == 1 and not len(values):
        return values.astype(np.int64) if values.dtype.kind not in "iu" else values
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a column of integers without nulls, got {values.dtype} "
            f"of {values.ndim} dimensions"
        )
    return values


def check_numbers(column: Any, name: str, n: int | None = None) -> NDArray[np.int64]:
    """Return a column of n document numbers as int64, or raise.

    Raises
    ------
    TypeError
        It has no integers.
    ValueError
        It has another length, or a number below 0 or above 2^63 - 1.
    """
    values = check_column(column, name)
    if n is not None and len(values) != n:
        raise ValueError(f"{name} has {len(values)} elements, expected {n}")
    if len(values) and not (values.min() >= 0 and int(values.max()) < 2**63):
        row = int(np.argmax((values < 0) | (values > 2**63 - 1)))
        raise ValueError(f"{name} must be from 0 to 2^63 - 1, got {values[row]} in row {row}")
    return values.astype(np.int64, copy=False)


def check_ascending(numbers: NDArray[np.int64], name: str) -> None:
    """Raise ValueError unless each number is greater than the one before."""
    wrong = np.flatnonzero(numbers[1:] <= numbers[:-1])
    if len(wrong):
        row = int(wrong[0]) + 1
        raise ValueError(
            f"{name} must ascend: row {row} has {numbers[row]} after {numbers[row - 1]}"
        )
