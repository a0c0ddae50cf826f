"""The pairs of an audit, and the answers: a line of JSON for each, appended to a file."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from errno import ENOSPC
from threading import Lock
from typing import NamedTuple

import numpy as np

from fastlsh.errors import InputError


class AuditPair(NamedTuple):
    """A removed document of the sample, and the kept one."""

    row: int
    """Of the table of removals, from 0."""
    id: str
    kept_id: str
    similarity: float
    """NaN if it was not verified."""
    text: str
    kept_text: str


class Answers:
    """What was answered for each pair of a sample, in this session and before.

    Parameters
    ----------
    pairs
        The sample.
    path
        The file. Answers for pairs of other samples in it are left alone, and do not count; of two
        answers for a pair, the later one counts.

    Raises
    ------
    InputError
        The file cannot be read, or a line of it is no answer.
    """

    def __init__(self, pairs: Sequence[AuditPair], path: str) -> None:
        self._sample = pairs
        self._path = path
        self._lock = Lock()
        self._pairs = [(pair.id, pair.kept_id) for pair in pairs]
        self._known = set(self._pairs)
        self._answers: dict[tuple[str, str], bool] = {}
        self.others = 0
        """Answers for other pairs."""
        self._end = self._size = 0
        """Where the last whole line ends, and the file, with a part of a line after a kill."""
        self._read()

    def _read(self) -> None:
        with suppress(FileNotFoundError):
            try:
                with open(self._path, "rb") as file:
                    for row, line in enumerate(file, 1):
                        self._size += len(line)
                        if line.endswith(b"\n"):
                            self._end = self._size
                            self._take(line, row)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise InputError(self._path, error.strerror or str(error)) from error

    def _take(self, line: bytes, row: int) -> None:
        try:
            found = json.loads(line)
            pair, is_duplicate = (found["id"], found["kept_id"]), found["duplicate"]
            is_known = pair in self._known
        except (ValueError, KeyError, TypeError, RecursionError):
            is_duplicate = None
        if not isinstance(is_duplicate, bool):
            raise InputError(self._path, "is no answer with id, kept_id and duplicate", row)
        if is_known:
            self._answers[pair] = is_duplicate
        else:
            self.others += 1

    def __len__(self) -> int:
        return sum(pair in self._answers for pair in self._pairs)

    def get(self, number: int) -> bool | None:
        """Return the answer for a pair of the sample, if there is one."""
        return self._answers.get(self._pairs[number])

    def add(self, number: int, is_duplicate: bool) -> None:
        """Append an answer to the file; OSError if it cannot be written, and it does not count."""
        pair = self._sample[number]
        line = {
            "id": pair.id, "kept_id": pair.kept_id, "similarity": pair.similarity,
            "duplicate": is_duplicate,
            "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }  # fmt: skip
        if np.isnan(pair.similarity):
            del line["similarity"]
        data = json.dumps(line).encode() + b"\n"
        # Unbuffered, so that nothing is written later; another process may append, too.
        with self._lock, open(self._path, "ab", buffering=0) as file:
            if os.fstat(file.fileno()).st_size == self._size > self._end:
                file.truncate(self._end)
            self._size = self._end
            start = os.fstat(file.fileno()).st_size
            try:
                if file.write(data) < len(data):
                    raise OSError(ENOSPC, os.strerror(ENOSPC), self._path)
                os.fsync(file.fileno())
            except OSError:
                file.truncate(start)
                raise
            self._answers[self._pairs[number]] = is_duplicate

    @property
    def following(self) -> int | None:
        """The first pair without an answer."""
        return next((n for n, pair in enumerate(self._pairs) if pair not in self._answers), None)

    def values(self) -> list[bool | None]:
        """Return the answer for each pair of the sample; None if it was not judged."""
        with self._lock:
            return [self._answers.get(pair) for pair in self._pairs]
