"""Columns of a result as Arrow, without pyarrow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import arrow_stream

Column = NDArray[Any] | Sequence[Any]


def export(columns: dict[str, Column]) -> object:
    """Return an ``arrow_array_stream`` capsule of equally long columns.

    Integers become int64, floats float64, booleans bool, all else large_string (by str()).
    """
    rows = len(next(iter(columns.values())))
    return arrow_stream([(name, *_encode(column)) for name, column in columns.items()], rows)


def _encode(column: Column) -> tuple[str, list[NDArray[Any]]]:
    if isinstance(column, np.ndarray) and column.dtype.kind == "b":
        return "b", [np.packbits(column, bitorder="little")]
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return "l", [column.astype(np.int64, copy=False)]
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return "g", [column.astype(np.float64, copy=False)]
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in column):
        return "l", [np.array(column, np.int64)]
    encoded = [str(value).encode("utf-8", "replace") for value in column]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return "U", [offsets, np.frombuffer(b"".join(encoded), np.uint8)]
