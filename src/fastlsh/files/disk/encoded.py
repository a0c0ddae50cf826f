"""Texts of a block as bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn, column_of
from fastlsh.io import take
from fastlsh.texts import as_texts


def encoded_texts(texts: Any, order: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64], bool]:
    """Return texts as UTF-8, in an order of their own, their sizes, and whether all are strict."""
    chosen = take(texts, order)
    if not isinstance(chosen, TextColumn):
        chosen = column_of(as_texts(chosen).spans(0, len(chosen)))
    return *chosen.packed(), chosen.strict
