"""A log of a run, as JSON lines."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from fastlsh.io import InputError

EVERY = 60.0
"""Seconds between two lines about one stage; its begin and its end are always written."""


class Log:
    """Appends a line of JSON for each event: ``time``, ``event``, and what belongs to it.

    Parameters
    ----------
    path : str
        The file; lines are added to what is there.
    clock : callable
        Tells seconds.

    Raises
    ------
    InputError
        If it cannot be written.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        try:
            self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from error
        self._clock = clock
        self._stage = ""
        self._start = self._told = clock()

    def event(self, event: str, **more: Any) -> None:
        """Write a line."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event, **more}
        try:
            self._file.write(json.dumps(line, default=os.fspath) + "\n")
            self._file.flush()
        except OSError as error:
            self.close()
            raise InputError(self._path, f"{error.strerror}: the log cannot be written") from error

    def progress(self, stage: str, done: int, total: int) -> None:
        """Write how far a stage is, if it is time for it; called as a `ProgressOption` is."""
        now = self._clock()
        began = stage != self._stage
        if began:
            self._stage, self._start = stage, now
        if began or done >= total or now - self._told >= EVERY:
            self._told = now
            seconds = round(now - self._start, 3)
            self.event("progress", stage=stage, done=done, total=total, seconds=seconds)

    def close(self) -> None:
        """End the log; what could not be written has been reported."""
        with suppress(OSError):
            self._file.close()
