"""A progress line in a notebook: one output, whose last state is saved."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


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
