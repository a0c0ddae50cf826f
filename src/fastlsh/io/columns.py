"""Columns of documents, whatever holds them: a list, an array, texts in one buffer, Arrow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn, TextColumns

_PLAIN = {"string_view": "large_string", "binary_view": "large_binary"}
"""Instead of types that pyarrow cannot take values of."""


def take(column: Any, positions: NDArray[np.int64]) -> Any:
    """Return the values at some positions, as a column of the same kind; of None, None.

    Views of Arrow become ordinary texts.
    """
    if column is None:
        return None
    if isinstance(column, (TextColumn, TextColumns)):
        return column.chosen(np.ascontiguousarray(positions))
    if isinstance(column, list):
        return [column[i] for i in positions.tolist()]
    plain = _PLAIN.get(str(getattr(column, "type", "")))
    return (column if plain is None else column.cast(plain)).take(positions)


def as_list(column: Any) -> list[Any]:
    """Return the values as objects of Python."""
    if isinstance(column, np.ndarray):
        values: list[Any] = column.tolist()
        return values
    return column if isinstance(column, list) else list(column.to_pylist())
