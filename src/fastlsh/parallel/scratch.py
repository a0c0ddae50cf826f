"""Large arrays in memory-mapped files, so that they can be larger than the memory."""

import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Empty = Callable[[Any, DTypeLike], NDArray[Any]]
"""`numpy.empty`, or a function like it."""

Write = Callable[[memoryview, int], None]
"""Writes bytes at a position."""

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
            return _mapped(file, size).view(kind).reshape(shape)

    return empty


@contextmanager
def mapped_file(
    folder: str | os.PathLike[str], size: int
) -> Iterator[tuple[Write, NDArray[np.uint8]]]:
    """Give a function that fills a mapped file without a name, and the array of its bytes.

    The function takes bytes and their position, and takes less time than to fill the array, of
    which each page would be filled with zeros before.
    """
    import tempfile

    with tempfile.TemporaryFile(dir=folder, prefix="fastlsh-") as file:
        array = _mapped(file, size)

        def write(data: memoryview, position: int) -> None:
            if not hasattr(os, "pwrite"):
                array[position : position + len(data)] = data
                return
            while data:
                count = os.pwrite(file.fileno(), data, position)
                data, position = data[count:], position + count

        yield write, array


def _mapped(file: IO[bytes], size: int) -> NDArray[np.uint8]:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)
    return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
