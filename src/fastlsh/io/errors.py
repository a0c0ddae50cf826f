"""The error of bad input, what becomes one, and the one way to reach pyarrow."""

import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def one_line(text: str) -> str:
    """Return `text` with control characters, line ends and surrogates escaped.

    Parameters
    ----------
    text : str
        Anything: a file name, a message of another library.

    Returns
    -------
    str
        The same text if it was printable; always a single line.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


class InputError(ValueError):
    """A file, or a row of it, that cannot be taken.

    ``str()`` of it is one line, ``FILE: row N: reason`` or ``FILE: reason``.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    reason : str
        What is wrong with it.
    row : int, optional
        Where, counted from 1: the physical line on which the record starts (JSONL, CSV, TSV; a
        header and blank lines count), or the row of the table (Parquet, Arrow).
    """

    def __init__(self, path: str | os.PathLike[str], reason: str, row: int | None = None) -> None:
        # All three go to args, so that the error survives pickling between processes.
        super().__init__(path, reason, row)
        self.path = os.fspath(path)
        self.reason = reason
        self.row = row

    def __str__(self) -> str:
        """Return the one line."""
        where = "" if self.row is None else f"row {self.row}: "
        return one_line(f"{self.path}: {where}{self.reason}")


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
        If pyarrow is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            path, 'Parquet, Arrow and zstd need pyarrow: pip install "fastlsh[io]"'
        ) from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what goes wrong in opening, reading and decompressing into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except EOFError as error:
        raise InputError(path, f"truncated: {error}") from error
    # pyarrow's errors are OSError and ValueError; so is a codec's.
    except (OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, reason) from error
