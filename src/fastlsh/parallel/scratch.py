"""Large arrays in memory-mapped files, so that they can be larger than the memory."""

import mmap
import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Empty = Callable[[Any, DTypeLike], NDArray[Any]]
"""`numpy.empty`, or a function like it."""

SMALL = 1 << 20
"""Bytes: smaller arrays are in memory as usual."""


def mapped_in(folder: str | os.PathLike[str]) -> Empty:
    """Return a function like `numpy.empty` whose larger arrays are mapped files in a folder.

    The files have no name, and disappear with their arrays. Their space on the disk is reserved at
    once, so that a full disk raises OSError instead of killing the process later.
    """
    import tempfile  # rarely needed, and slow to import

    def empty(shape: Any, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        size = prod(shape if isinstance(shape, tuple) else (shape,)) * kind.itemsize
        if size < SMALL:
            return np.empty(shape, kind)
        with tempfile.TemporaryFile(dir=folder, prefix="fastlsh-") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            data = mmap.mmap(file.fileno(), size)
        return np.frombuffer(data, kind).reshape(shape)

    return empty
