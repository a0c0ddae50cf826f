"""A line of progress in a notebook: one output that changes, and is saved as it was in the end."""

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
        """Show a line in the place of the one before, or a new one behind a line feed."""
        line = {"text/plain": text.strip("\r\n").rstrip()}
        if self._handle is None:
            self._handle = self._show(line, raw=True, display_id=True)
        else:
            self._handle.update(line, raw=True)
        if text.endswith("\n"):
            self._handle = None

    def flush(self) -> None:
        """Do nothing: all is shown."""


def notebook_line() -> NotebookLine | None:
    """Return where progress goes if this process is the kernel of a notebook, else None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if not hasattr(shell, "kernel"):  # a terminal, or none of it
        return None
    return NotebookLine(import_module("IPython.display").display)
