"""Texts of a block as bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn
from fastlsh.io import take


def encoded_texts(
    texts: Any, order: NDArray[np.int64]
) -> tuple[bytes, NDArray[np.int64] | list[int], bool]:
    """Return texts as UTF-8, in an order of their own, their sizes, and whether all are strict."""
    chosen, strict = take(texts, order), True
    if isinstance(chosen, TextColumn):
        return *chosen.packed(), chosen.strict
    if hasattr(chosen, "to_pylist"):
        values = chosen.cast("large_string").cast("large_binary").to_pylist()
        encoded = [value or b"" for value in values]
    else:
        try:
            encoded = [(text or "").encode() for text in chosen]
        except UnicodeEncodeError:  # lone surrogates, which JSON may have
            strict = False
            encoded = [(text or "").encode("utf-8", "surrogatepass") for text in chosen]
    return b"".join(encoded), [len(text) for text in encoded], strict
