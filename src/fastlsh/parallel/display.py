"""A progress line in a terminal or a notebook, and the times of the stages of a run."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from time import monotonic, perf_counter
from typing import Any, ClassVar, TextIO


class NotebookLine:
    """Takes what `Display` writes to a terminal.

    Parameters
    ----------
    show
        IPython's function `display`.
    """

    def __init__(self, show: Callable[..., Any]) -> None:
        self._show = show
        self._handle: Any = None

    def write(self, text: str) -> None:
        """Replace the line by a new one; after a line feed, begin another line."""
        line = {"text/plain": text.strip("\r\n").rstrip()}
        if self._handle is None:
            self._handle = self._show(line, raw=True, display_id=True)
        else:
            self._handle.update(line, raw=True)
        if text.endswith("\n"):
            self._handle = None

    def flush(self) -> None:
        """Do nothing: everything is shown at once."""


def notebook_line() -> NotebookLine | None:
    """Return the stream for progress if this process is a notebook's kernel, otherwise None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if not hasattr(shell, "kernel"):  # a terminal, or none of it
        return None
    return NotebookLine(import_module("IPython.display").display)


BYTES = frozenset({"reading", "signing", "gathering", "writing"})
"""Stages that count bytes of files. The others count documents or steps."""

OFTEN = 0.2
"""Seconds between two updates of the line on a terminal."""

SELDOM = 60.0
"""Seconds between two lines in a file or a pipe."""

SHORTEST = 0.1
"""Seconds from which on a time and a rate are shown: a stage may report only when it is done."""


class Display:
    """Shows progress: a live line on a terminal, elsewhere one line a minute.

    It is called as a `ProgressOption` is.

    Parameters
    ----------
    stream
        Where lines are written; by default, the standard error.
    clock
        Returns the time in seconds.
    live
        Whether the line is updated in place; by default, on a terminal.
    """

    unfinished: ClassVar["Display | None"] = None
    """The display whose line the cursor of the terminal is in."""

    def __init__(
        self,
        stream: TextIO | NotebookLine | None = None,
        clock: Callable[[], float] = monotonic,
        *,
        live: bool | None = None,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        if live is None:
            live = isinstance(self._stream, NotebookLine) or self._stream.isatty()
        self._live = live
        self._clock = clock
        self._stage = ""
        self._start = self._before = clock()
        self._first = 0
        self._shown = self._start
        self._width = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage, if it is time for an update."""
        now = self._clock()
        if stage != self._stage or done < self._before:
            self._stage, self._start, self._first = stage, now, done
            if self._live:
                self._shown = -math.inf
        self._before = done
        over = done >= total
        wait = now - self._shown < (OFTEN if self._live else SELDOM)
        if wait and not (over and self._live):
            return
        self._shown = now
        line = format_progress(stage, done, total, done - self._first, now - self._start)
        if not self._live:
            self._stream.write(f"{line}\n")
        else:
            self._stream.write(f"\r{line:<{self._width}}" + ("\n" if over else ""))
            self._width = 0 if over else len(line)
            Display.unfinished = None if over else self
        self._stream.flush()


def finish_line() -> None:
    """End the progress line that the cursor is in, so that a message begins on a new line."""
    display, Display.unfinished = Display.unfinished, None
    if display is not None:
        display._width = 0
        display._stream.write("\n")
        display._stream.flush()


def format_progress(stage: str, done: int, total: int, lately: int, seconds: float) -> str:
    """Return a line about a stage.

    Parameters
    ----------
    stage, done, total
        The arguments of a `ProgressOption`.
    lately
        How much of it was done in `seconds`, without an earlier run.
    """
    count = amount if stage in BYTES else "{:,}".format
    share = done / total if total else 1.0
    rate = lately / seconds if seconds >= SHORTEST else 0.0
    speed = f"{count(round(rate))}/s" if rate else ""
    if done >= total:
        taken = f"in {duration(seconds)}" if seconds >= SHORTEST else "done"
        parts = [f"{count(total)} {taken}", speed]
    else:
        left = f"{duration((total - done) / rate)} left" if rate else ""
        parts = [f"{share:.0%} of {count(total)}", speed, left]
    return f"{stage}: " + ", ".join(part for part in parts if part)


class Size(int):
    """A number of bytes that was given as a text, which `amount` returns."""

    text: str


def amount(size: float) -> str:
    """Return a number of bytes as people write it; one that was given as a text as it was given."""
    if isinstance(size, Size):
        return size.text
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


def plural(count: int, noun: str) -> str:
    """Return a count and its noun: "1 pair", "12,345 pairs"."""
    return f"{count:,} {noun if count == 1 else _PLURALS.get(noun, noun + 's')}"


_PLURALS = {"match": "matches"}


def aligned(rows: Sequence[Sequence[str]], *, left: int = 0, gap: str = "  ") -> list[str]:
    """Return a line for each row of a table; cells are at the right, of `left` columns left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def duration(seconds: float) -> str:
    """Return a time as people write it."""
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


ProgressOption = bool | Callable[[str, int, int], None]
"""False, True (a line on stderr; in a notebook, below the cell), or a function of
(stage, done, total)."""


class Progress:
    """Reports the progress of a run to the user.

    Parameters
    ----------
    option
        See `ProgressOption`. A function is called in the calling thread, after each of its batches.
    """

    def __init__(self, option: ProgressOption = False) -> None:
        if not (option is None or isinstance(option, bool) or callable(option)):
            raise TypeError(f"progress must be True, False or a function, got {option!r}")
        self.function = Display(notebook_line(), live=True) if option is True else option or None
        """The function that is called, if any."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Begin a stage of `total` documents; call the result with each number that is done."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if self.function:
                self.function(name, done, total)

        return advance


class Stopwatch(dict[str, float]):
    """Seconds by stage."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add the time that the block takes to a stage."""
        start = perf_counter()
        yield
        self[stage] = self.get(stage, 0.0) + perf_counter() - start
