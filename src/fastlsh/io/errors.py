"""What becomes the error of bad input, and the one way to reach modules that may be missing."""

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.journal import JOURNAL, TEMPORARY

_CODECS = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}
# Errors that are neither OSError nor ValueError, in modules that a run need not have imported.
_FOREIGN = (("zlib", "error"), ("lzma", "LZMAError"), ("pyarrow.lib", "ArrowException"))

_IMPORTING = Lock()
"""Modules of pyarrow import each other: two threads would see them half imported."""

_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def pyarrow(path: str, module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it, on behalf of a file that needs it.

    Parameters
    ----------
    path : str
        The file, for the error message.
    module : str
        The module's full name.

    Returns
    -------
    module

    Raises
    ------
    InputError
        If pyarrow is not installed, or cannot be loaded.
    """
    try:
        with _IMPORTING, _frugal_allocator():
            return import_module(module)
    except ModuleNotFoundError as error:
        reason = "Parquet, Arrow and zstd need pyarrow: pip install pyarrow"
        raise InputError(path, reason) from error
    except ImportError as error:  # too little memory for its libraries, for example
        raise InputError(path, f"pyarrow cannot be imported: {error}") from error


@contextmanager
def _frugal_allocator() -> Iterator[None]:
    """Let pyarrow, if it is imported now, use the allocator that returns freed memory at once.

    Its default, mimalloc, keeps memory of each thread: 70 to 200 MB more when rows are written. A
    process that has imported pyarrow before, or has chosen an allocator, keeps its own. Only with
    glibc does pyarrow always have jemalloc: without it, pyarrow would print a warning.
    """
    chosen = _POOL in os.environ or "pyarrow" in sys.modules
    if chosen or not getattr(sys.implementation, "_multiarch", "").endswith("-linux-gnu"):
        yield
        return
    os.environ[_POOL] = "jemalloc"
    try:
        yield
    finally:
        os.environ.pop(_POOL, None)  # other processes are to choose for themselves


def listed(names: Collection[Any], count: int = 20) -> str:
    """Return the first names for a message, and the number of others: there may be thousands."""
    first = ", ".join(map(str, islice(names, count)))
    more = len(names) - count
    return f"{first} and {more:,} more" if more > 0 else first or "none"


def codec(path: str, compression: str) -> Any:
    """Import the module of the standard library for ``gz``, ``bz2`` or ``xz``.

    InputError names the file if this Python was built without the library that the module needs.
    """
    try:
        return import_module(_CODECS[compression])
    except ImportError as error:
        missing = error.name or _CODECS[compression]
        raise InputError(
            path, f".{compression} needs the module {missing}, which this Python was built without"
        ) from error


def check_writer(path: str, kind: str | None, compression: str | None) -> None:
    """Raise InputError, before the work, if what a format or a compression needs is missing."""
    if kind in ("parquet", "arrow") or compression == "zst":
        pyarrow(path)
    elif compression:
        codec(path, compression)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong in opening, reading and decompressing into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except EOFError as error:
        raise InputError(path, f"truncated: {error}") from error
    except _errors() as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, reason) from error


def _errors() -> tuple[type[Exception], ...]:
    foreign = [getattr(sys.modules[m], name) for m, name in _FOREIGN if m in sys.modules]
    # RuntimeError: what the C++ of Parquet throws, and pyarrow has no error of its own for.
    return (OSError, ValueError, OverflowError, RuntimeError, *foreign)


@contextmanager
def name_output_in_errors(path: str, temporary: str | None) -> Iterator[None]:
    """Let an error of the system name an output, which it has only by a temporary name."""
    try:
        yield
    except OSError as error:
        name = os.path.basename(str(error.filename))
        hidden = JOURNAL.fullmatch(name) or TEMPORARY.fullmatch(name)
        if error.errno is None or not (hidden or error.filename in (None, temporary)):
            raise
        raise OSError(error.errno, error.strerror or str(error), path) from error
