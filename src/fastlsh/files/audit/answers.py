"""The answers of an audit: a line of JSON for each, appended to a file."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from threading import Lock

import numpy as np

from fastlsh.errors import InputError
from fastlsh.evaluation import Precision
from fastlsh.files.audit.sample import Audit


class Answers:
    """What was answered for each pair of a sample, in this session and before.

    Parameters
    ----------
    audit
        The sample.
    path
        The file. Answers for pairs of other samples in it are left alone, and do not count; of two
        answers for a pair, the later one counts.

    Raises
    ------
    InputError
        The file cannot be read, or a line of it is no answer.
    """

    def __init__(self, audit: Audit, path: str) -> None:
        self._audit = audit
        self._path = path
        self._lock = Lock()
        self._number = {(pair.id, pair.kept_id): n for n, pair in enumerate(audit.pairs)}
        self._answers: dict[int, bool] = {}
        self.others = 0
        """Answers for other pairs."""
        self._end = 0
        self._is_cut = False
        """Where the last whole line ends, and whether a part of one follows."""
        self._read()

    def _read(self) -> None:
        with suppress(FileNotFoundError):
            try:
                with open(self._path, "rb") as file:
                    for row, line in enumerate(file, 1):
                        self._is_cut = not line.endswith(b"\n")  # by a kill: it is written over
                        if self._is_cut:
                            break
                        self._end += len(line)
                        self._take(line, row)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise InputError(self._path, error.strerror or str(error)) from error

    def _take(self, line: bytes, row: int) -> None:
        try:
            found = json.loads(line)
            pair, is_duplicate = (found["id"], found["kept_id"]), found["duplicate"]
        except (ValueError, KeyError, TypeError):
            is_duplicate = None
        if not isinstance(is_duplicate, bool):
            raise InputError(self._path, "is no answer with id, kept_id and duplicate", row)
        number = self._number.get(pair)
        if number is None:
            self.others += 1
        else:
            self._answers[number] = is_duplicate

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, number: int) -> bool | None:
        """Return the answer for a pair of the sample, if there is one."""
        return self._answers.get(number)

    def add(self, number: int, is_duplicate: bool) -> None:
        """Append an answer to the file; OSError if it cannot be written, and it does not count."""
        pair = self._audit.pairs[number]
        line = {
            "id": pair.id, "kept_id": pair.kept_id, "similarity": pair.similarity,
            "duplicate": is_duplicate,
            "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }  # fmt: skip
        if np.isnan(pair.similarity):
            del line["similarity"]
        data = json.dumps(line).encode() + b"\n"
        with self._lock:
            if self._is_cut:
                os.truncate(self._path, self._end)
                self._is_cut = False
            with open(self._path, "ab") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._answers[number] = is_duplicate

    @property
    def following(self) -> int | None:
        """The first pair without an answer."""
        n = len(self._audit.pairs)
        return next((number for number in range(n) if number not in self._answers), None)

    def precisions(self) -> Sequence[Precision]:
        """Return what the answers tell."""
        with self._lock:
            answers = dict(self._answers)
        rows = np.array([self._audit.pairs[number].row for number in answers], np.int64)
        return self._audit.removals.precisions(rows, np.array(list(answers.values()), np.bool_))
