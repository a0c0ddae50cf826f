"""Files that appear whole or not at all."""

import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.errors import codec, pyarrow, reading
from fastlsh.io.files import is_special


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
    number = _descriptor(name)
    parent = os.path.dirname(os.path.realpath(name))
    with reading(name):
        if number is not None:
            os.fstat(number)
        elif not os.path.isdir(parent):
            raise InputError(name, f"there is no directory {parent}")
        if os.path.isdir(name):
            raise InputError(name, "the output is a directory")
        if not is_written_in_place(name) and not os.access(parent, os.W_OK):
            raise InputError(name, f"the directory {parent} cannot be written to")
        for given in inputs:
            if os.path.exists(name) and os.path.exists(given) and os.path.samefile(name, given):
                raise InputError(name, "the output is one of the inputs")


def check_targets(
    outputs: Mapping[str, str | os.PathLike[str] | None],
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Check several outputs, of which no two may be one file.

    Parameters
    ----------
    outputs : mapping of str to path or None
        Those that are asked for, by the name of the option.
    inputs : iterable of paths
        Files that they must not replace.

    Raises
    ------
    InputError
        As `check_target`, or if two outputs are one file.
    """
    inputs = list(inputs)
    written: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        check_target(path, inputs)
        if (other := written.setdefault(os.path.realpath(path), option)) != option:
            raise InputError(path, f"{option} is the file of {other}")


def _descriptor(name: str) -> int | None:
    """Return the number of the open file that a name like ``/dev/stdout`` stands for."""
    path = os.path.abspath(name)
    folder, _, number = path.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd") and number.isdecimal():
        return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def is_written_in_place(name: str) -> bool:
    """Whether this is a device, a pipe or an open file, which is written to and never replaced."""
    return _descriptor(name) is not None or is_special(name)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give the name of a temporary file that becomes `path` if all goes well.

    A file that is replaced leaves its mode to the new one; where there was none, the mode is the
    usual one.

    Parameters
    ----------
    path : path
        The output; a symbolic link is followed. What `is_written_in_place` has no other name.

    Yields
    ------
    str
        A name in the same directory, for `open_output`.
    """
    if is_written_in_place(os.fspath(path)):
        yield os.fspath(path)
        return
    name = os.path.realpath(path)
    unique = f".fastlsh-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    temporary = os.path.join(os.path.dirname(name), unique)
    mode = _mode(name) if os.path.exists(name) else None
    try:
        if mode is not None:  # until it is whole, nobody else may read what may be a secret
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        if mode is not None and _mode(temporary) != mode:
            os.chmod(temporary, mode)
        os.replace(temporary, name)
    except BaseException:  # an interrupt too leaves nothing behind
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _mode(name: str) -> int:
    return stat.S_IMODE(os.stat(name).st_mode) & 0o777


class _InPlace(io.FileIO):
    """An output that is not replaced; its position is the number of bytes written here."""

    def __init__(self, file: str | int) -> None:
        super().__init__(file, "wb")
        self._written = 0

    def write(self, data: Any, /) -> int:
        """Write, and count."""
        count = super().write(data)
        self._written += count
        return count

    def tell(self) -> int:
        """Return the position: Parquet and Arrow need one, which a pipe does not have."""
        return self._written

    def seekable(self) -> bool:
        """Return False."""
        return False


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
        raw: Any
        if is_written_in_place(path):
            number = _descriptor(path)
            # A second opening of a file would begin at its start.
            raw = _InPlace(path if number is None else os.dup(number))
        else:
            raw = open(path, "wb", buffering=0)  # noqa: SIM115
        raw = stack.enter_context(io.BufferedWriter(raw, 1 << 17))
        if compression == "gz":
            # No name and no time inside: the same rows give the same bytes.
            raw = codec(path, compression).GzipFile("", "wb", 6, raw, mtime=0)
        elif compression == "zst":
            raw = pyarrow(path).CompressedOutputStream(raw, "zstd")
        elif compression:
            raw = codec(path, compression).open(raw, "wb")
        if compression:
            raw = stack.enter_context(io.BufferedWriter(raw, 1 << 17))
        yield raw


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with replacing(path) as name, open_output(name, None) as file:
        file.write(text.encode())


@contextmanager
def parquet_writer(path: str, schema: Any) -> Iterator[Any]:
    """Open a Parquet file for writing tables.

    Parameters
    ----------
    path : str
        As `replacing` gives it.
    schema : pyarrow.Schema
        Of the tables.

    Yields
    ------
    pyarrow.parquet.ParquetWriter
    """
    parquet = pyarrow(path, "pyarrow.parquet")
    compression = "zstd" if pyarrow(path).Codec.is_available("zstd") else "snappy"
    with (
        open_output(path, None) as file,
        parquet.ParquetWriter(file, schema, compression=compression) as writer,
    ):
        yield writer
