"""Where rows end."""

import csv
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import line_bounds
from fastlsh.io.blocks.checks import Bytes

LF, CR, QUOTE = 10, 13, 34
ENDS = b"\r\n", b"\n"
"""What may end a row; of CSV, a carriage return may, too."""
_FIELD_LIMIT = 2**31 - 1  # fits a C long everywhere
_ONE_AT_A_TIME = Lock()
Indices = NDArray[np.int64]


@dataclass
class Lines:
    """The whole rows at the beginning of some bytes; blank lines count as rows here."""

    bounds: Indices
    """int64 (rows + 1,): row i is ``bounds[i]`` ... ``bounds[i + 1] - 1``, with its line end."""
    numbers: Indices | None
    """int64 (rows,): the physical line that each begins on, from 0; None: each is one."""
    count: int
    """Physical lines, up to the last bound."""
    is_open: bool = False
    """Whether what follows, to the end of the file, is a quote that is never closed."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.bounds) - 1

    @property
    def end(self) -> int:
        """Where the last row ends."""
        return int(self.bounds[-1])

    def from_row(self, row: int) -> "Lines":
        """Return those from a row on, as if they were the first."""
        start = int(self.bounds[row])
        before = self.line(row)
        numbers = None if self.numbers is None else self.numbers[row:] - before
        return Lines(self.bounds[row:] - start, numbers, self.count - before, self.is_open)

    def up_to_row(self, row: int) -> "Lines":
        """Return those before a row, as if nothing came behind them."""
        numbers = None if self.numbers is None else self.numbers[:row]
        return Lines(self.bounds[: row + 1], numbers, self.line(row))

    def line(self, row: int) -> int:
        """Return the physical line that a row begins on; of the one after the last, too."""
        if row == len(self):
            return self.count
        return row if self.numbers is None else int(self.numbers[row])


Split = Callable[[Bytes, bool], Lines]
"""Splits bytes; True: the file ends there."""


def line_feeds(data: Bytes, last: bool) -> Lines:
    """Split at each line feed."""
    bounds = line_bounds(data, last)
    return Lines(bounds, None, len(bounds) - 1)


def delimited(delimiter: str, quotes: bool) -> Split:
    """Return how CSV is split: line ends inside quotes are text."""

    def split(data: Bytes, last: bool) -> Lines:
        physical = line_bounds(data, last, returns=True)
        marks = np.flatnonzero(data == QUOTE) if quotes else physical[:0]
        if not len(marks):
            return Lines(physical, None, len(physical) - 1)
        if delimiter.isascii() and _as_written(data, marks, ord(delimiter)):
            outside = np.searchsorted(marks, physical) % 2 == 0
        else:
            outside = _as_read(data, physical, delimiter)
        bounds = physical[outside]
        numbers = np.flatnonzero(outside)
        is_open = last and int(bounds[-1]) < len(data)
        return Lines(bounds, numbers[:-1].astype(np.int64), int(numbers[-1]), is_open)

    return split


def _as_written(data: Bytes, marks: Indices, delimiter: int) -> bool:
    """Whether each quote opens a field, closes it, or is doubled inside: then they alternate."""
    if sys.version_info < (3, 11) and not data.all():  # which ends a row at each NUL
        return False
    edge = np.zeros(256, np.bool_)
    edge[[LF, CR, QUOTE, delimiter]] = True
    opening, closing = marks[::2], marks[1::2]
    before = edge[data[opening[opening > 0] - 1]]
    after = edge[data[closing[closing < len(data) - 1] + 1]]
    # Before an opening one, a quote is that which closed; after a closing one, that which opens.
    return bool(before.all() and after.all())


def _as_read(data: Bytes, physical: Indices, delimiter: str) -> NDArray[np.bool_]:
    """Ask the csv module which line ends are those of rows."""
    outside = np.zeros(len(physical), np.bool_)
    outside[0] = True
    # Each byte as a character takes least memory, and shows the same quotes and delimiters.
    codec = "latin-1" if delimiter.isascii() else "utf-8"
    stored = io.BytesIO(data[: physical[-1]].tobytes())
    lines = io.TextIOWrapper(stored, codec, "replace", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    with fields_of_any_size():
        while True:
            try:
                next(reader)
            except StopIteration:
                return outside
            except csv.Error as error:
                if "unexpected end" in str(error):
                    return outside
            outside[reader.line_num] = True


@contextmanager
def fields_of_any_size() -> Iterator[None]:
    """Lift the limit of the csv module, which is one for the whole process."""
    with _ONE_AT_A_TIME:
        limit = csv.field_size_limit(_FIELD_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(limit)
