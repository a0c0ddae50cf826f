"""Large arrays in files that the system maps, so that they may be larger than the memory."""

import mmap
import os
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Empty = Callable[[Any, DTypeLike], NDArray[Any]]
"""`numpy.empty`, or what does the same elsewhere."""

SMALL = 1 << 20
"""Bytes: less is taken from the memory as ever."""


def mapped_in(folder: str | os.PathLike[str]) -> Empty:
    """Return a function like `numpy.empty` whose larger arrays are mapped files in a folder.

    The files have no name and end with their arrays. Their room on the disk is taken at once, so
    that a full disk raises OSError and does not kill the process later.
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
