"""Arrays in files of the work directory: written at once, in blocks, or mapped."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array; OSError if the disk is full.

    Into a file itself, numpy would write without the system's number of that error.
    """
    with open(path, "wb") as file:
        stream: Any = SimpleNamespace(write=file.write)
        np.save(stream, array, allow_pickle=False)


def save_blocks(path: Path, dtype: Any, blocks: Iterable[NDArray[Any]]) -> None:
    """Write an array of one dimension, whose blocks come one by one; errors as in `save_array`."""
    count = 0

    def header() -> dict[str, Any]:
        kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
        return {"descr": kind, "fortran_order": False, "shape": (count,)}

    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header())
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data)
            count += len(block)
        file.seek(0)
        np.lib.format.write_array_header_1_0(file, header())  # of the same size for each count


def begin_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> int:
    """Begin the file of an array, whose elements `write_at` writes; return where they begin."""
    kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        return file.tell()


def write_at(path: Path, place: int, array: NDArray[Any]) -> None:
    """Write elements into a file, in any thread; a mapping would take longer to synchronise."""
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(array.data)


def new_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> "np.memmap[Any, Any]":
    """Make an array in a file, mapped; OSError if the disk has no room for all of it.

    Without room, it would be a signal that ends the process, once the array is written to.
    """
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    return array


def complete(array: "np.memmap[Any, Any]") -> None:
    """Let the file of a mapped array have all of it.

    It always has, but not on Windows; and numpy would write it with Python's lock held.
    """
    if os.name == "nt":
        array.flush()
