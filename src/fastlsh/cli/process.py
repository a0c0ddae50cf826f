"""The process of a command: its standard streams, and the signals that end it."""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

from fastlsh._startup import leave
from fastlsh.io import STANDARD


class Ended(BaseException):
    """A signal that ends the process, raised so that temporary files are removed first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def interrupts_raised() -> None:
    """Raise KeyboardInterrupt from now on, where Ctrl-C has ended the process during imports."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ending_raised() -> Iterator[None]:
    """Raise `Ended` where a signal would end the process at once; one that is ignored stays so."""
    names = ("SIGTERM", "SIGHUP", "SIGXCPU")
    present = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [number for number in present if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []  # Python has handlers set by the main thread only

    def end(number: int, _: FrameType | None) -> None:
        raise Ended(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def die_by(number: int) -> int:
    """End the process by a signal, as its parent expects; return the status if that fails."""
    os.kill(os.getpid(), number)
    return 128 + number


def open_standard_streams() -> None:
    """Open the standard streams that the shell has closed, so that no file takes their numbers.

    Reading the input and writing to the output fail as on closed ones; messages are lost.
    """
    if sys.stdin is None:
        sys.stdin = _null(os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _null(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _null(os.O_WRONLY, "w")


class _Output(io.TextIOWrapper):
    """The standard output, with its name in the errors."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            error.filename = STANDARD
            raise


@contextmanager
def named_output() -> Iterator[None]:
    """Give errors of the standard output of the process its name, as errors of files have one."""
    stream = sys.stdout
    if stream is not sys.__stdout__ or not isinstance(stream, io.TextIOWrapper):
        yield
        return
    how = {name: getattr(stream, name) for name in ("encoding", "errors", "line_buffering")}
    sys.stdout = named = _Output(stream.buffer, write_through=stream.write_through, **how)
    try:
        yield
    finally:
        sys.stdout = stream
        named.detach()


def _null(flags: int, mode: str) -> TextIO:
    # The lowest free number is taken: that of the stream, for those below it are in use.
    return open(os.open(os.devnull, flags), mode, encoding="utf-8")  # type: ignore[return-value]


def discard(stream: TextIO) -> bool:
    """Drop what a stream cannot write, which Python would try again at exit; return if any."""
    try:
        stream.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        return True
    return False
