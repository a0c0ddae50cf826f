"""Standard input and pipes: read once as they come, or copied to where they can be read again."""

import errno
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from fastlsh.errors import InputError

_STANDARD = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

STANDARD = "-"
"""The standard input as an input, the standard output as an output."""

_PIECE = 1 << 16
"""Bytes that are copied at a time."""


class CopiedInput(str):
    """The path of a pipe that is copied to a temporary file for as long as `spooled` lasts."""

    copy: str | None
    """Where the copy is; None: it is there no longer."""
    is_whole = False
    """Whether all of the pipe has been copied."""


def real(path: str) -> str:
    """Return where the bytes of a file of this machine are."""
    return _copy_of(path) or path


def _copy_of(path: str) -> str | None:
    return path.copy if isinstance(path, CopiedInput) else None


def is_piped(path: str) -> bool:
    """Whether this is the standard input, a pipe or a device, which can be read only once."""
    file = real(path)
    if file == STANDARD:
        return True
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def has_end(path: str) -> bool:
    """Whether the end of a file can be read: that of a pipe, only if it has been copied."""
    return path.is_whole if isinstance(path, CopiedInput) else not is_piped(path)


def open_file(path: str) -> io.BufferedReader:
    """Open a file of this machine, or the standard input, for reading.

    Raises
    ------
    InputError
        It is the standard input, which is closed.
    """
    file = real(path)
    if _copy_of(path) is None and (file == STANDARD or os.path.abspath(file) in _STANDARD):
        _check_open(path)
    return open(os.dup(0) if file == STANDARD else file, "rb")


def _check_open(path: str) -> None:
    """Raise if the standard input is closed: a command has a file in its place that only writes."""
    try:
        os.read(0, 0)
    except OSError as error:
        closed = "the standard input is closed"
        reason = closed if error.errno == errno.EBADF else error.strerror or str(error)
        raise InputError(path, reason) from error


@contextmanager
def spooled(
    paths: list[str],
    tell: Callable[[str], None],
    is_enough: Callable[[str], bool] | None = None,
) -> Iterator[dict[str, CopiedInput]]:
    """Copy what comes through pipes to temporary files, so that it can be read again and again.

    Parameters
    ----------
    paths : list of str
        Pipes, devices and ``-``.
    tell : callable
        Is called with a message about what is copied.
    is_enough : callable, optional
        Whether what has been copied of a pipe is all that will be read of it; takes the copied
        input.

    Yields
    ------
    dict of str to CopiedInput
        What to read instead of each path.

    Raises
    ------
    OSError
        With the name of the pipe, if there is no room for the copy.
    """
    copied: dict[str, CopiedInput] = {}
    with ExitStack() as stack:
        for path in dict.fromkeys(paths):
            tell(f"{_name(path)} is read more than once, and copied to {tempfile.gettempdir()}")
            copy = stack.enter_context(_temporary())
            try:
                with open_file(path) as pipe:
                    unnamed = f"/proc/self/fd/{copy.fileno()}"
                    copied[path] = CopiedInput(path)
                    copied[path].copy = unnamed if os.path.exists(unnamed) else copy.name
                    stack.callback(setattr, copied[path], "copy", None)
                    enough = is_enough and partial(is_enough, copied[path])
                    copied[path].is_whole = _copy(pipe, copy, enough)
            except OSError as error:
                reason = f"{error.strerror} in {tempfile.gettempdir()}, where TMPDIR puts its copy"
                raise OSError(error.errno, reason, _name(path)) from error
        yield copied


def _copy(
    pipe: io.BufferedReader, copy: io.BufferedWriter, is_enough: Callable[[], bool] | None
) -> bool:
    """Copy a pipe; return whether to its end, as each time that the copy has doubled is asked."""
    copied = asked = 0
    while piece := pipe.read(_PIECE):
        copied += copy.write(piece)
        if is_enough is not None and copied >= 2 * asked:
            copy.flush()
            if is_enough():
                return False
            asked = copied
    copy.flush()
    return True


@contextmanager
def _temporary() -> Iterator[io.BufferedWriter]:
    if os.path.isdir("/proc/self/fd"):  # a file without a name goes with the process
        with tempfile.TemporaryFile() as copy:
            yield copy  # type: ignore[misc]
        return
    with tempfile.NamedTemporaryFile(prefix="fastlsh-", delete=False) as named:
        try:
            yield named  # type: ignore[misc]
        finally:
            named.close()
            os.unlink(named.name)


def _name(path: str) -> str:
    return "the standard input" if path == STANDARD else path
