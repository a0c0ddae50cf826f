"""Files that appear whole or not at all."""

import bz2
import gzip
import io
import lzma
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from fastlsh.io.errors import InputError, pyarrow, reading


def check_target(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Check that a file can be written, before the work whose result it takes.

    Parameters
    ----------
    path : path
        The output.
    inputs : iterable of paths
        Files that it must not replace.

    Raises
    ------
    InputError
        If the directory does not exist or cannot be written to, or the output is a directory or
        one of the inputs.
    """
    name = os.fspath(path)
    parent = os.path.dirname(os.path.realpath(name))
    with reading(name):
        if not os.path.isdir(parent):
            raise InputError(name, f"there is no directory {parent}")
        if os.path.isdir(name):
            raise InputError(name, "the output is a directory")
        if not is_special(name) and not os.access(parent, os.W_OK):
            raise InputError(name, f"the directory {parent} cannot be written to")
        for given in inputs:
            if os.path.exists(name) and os.path.exists(given) and os.path.samefile(name, given):
                raise InputError(name, "the output is one of the inputs")


def is_special(name: str) -> bool:
    """Whether this is a device or pipe, which is written to and never replaced."""
    return os.path.exists(name) and not os.path.isfile(name)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file that becomes `path` if all goes well.

    Parameters
    ----------
    path : path
        The output; a symbolic link is followed. A device or pipe is written to directly.

    Yields
    ------
    str
        A name in the same directory, where nothing is yet.
    """
    if is_special(os.fspath(path)):
        yield os.fspath(path)
        return
    name = os.path.realpath(path)
    unique = f".fastlsh-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    temporary = os.path.join(os.path.dirname(name), unique)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except BaseException:  # an interrupt too leaves nothing behind
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextmanager
def open_output(path: str, compression: str | None) -> Iterator[io.BufferedWriter]:
    """Open a file for writing bytes that are compressed on their way.

    Parameters
    ----------
    path : str
        As `replacing` gives it.
    compression : {None, "gz", "bz2", "xz", "zst"}
        How.

    Yields
    ------
    io.BufferedWriter
    """
    with ExitStack() as stack:
        raw: Any = stack.enter_context(open(path, "wb"))
        if compression == "gz":
            # No name and no time inside: the same rows give the same bytes.
            raw = gzip.GzipFile("", "wb", 6, raw, mtime=0)
        elif compression == "bz2":
            raw = bz2.BZ2File(raw, "wb")
        elif compression == "xz":
            raw = lzma.LZMAFile(raw, "wb")  # noqa: SIM115
        elif compression == "zst":
            raw = pyarrow(path).CompressedOutputStream(raw, "zstd")
        yield stack.enter_context(io.BufferedWriter(raw, 1 << 17))
