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
from fastlsh.parallel import batches

LF, CR, QUOTE = 10, 13, 34
ENDS = b"\r\n", b"\n"
"""What may end a row; of CSV, a carriage return may, too."""
_PIECE = 1 << 20
"""Bytes in which quotes are looked for together."""
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
        if not quotes or not (data == QUOTE).any():
            return Lines(physical, None, len(physical) - 1)
        outside = _as_written(data, physical, ord(delimiter)) if delimiter.isascii() else None
        if outside is None:
            outside = _as_read(data, physical, delimiter)
        bounds = physical[outside]
        numbers = np.flatnonzero(outside)
        is_open = last and int(bounds[-1]) < len(data)
        return Lines(bounds, numbers[:-1].astype(np.int64), int(numbers[-1]), is_open)

    return split


def _as_written(data: Bytes, physical: Indices, delimiter: int) -> NDArray[np.bool_] | None:
    """Return which line ends are those of rows, if quotes are as one writes them.

    Each one then opens a field, closes it, or is doubled inside: so they alternate. None: they do
    not. One piece of the data is looked at after the other, for the places of all quotes may take
    more memory than the data.
    """
    if sys.version_info < (3, 11) and not data.all():  # which ends a row at each NUL
        return None
    edge = np.zeros(256, np.bool_)
    edge[[LF, CR, QUOTE, delimiter]] = True
    outside = np.zeros(len(physical), np.bool_)
    count = done = 0
    for start, stop in batches(len(data), _PIECE):
        marks = np.flatnonzero(data[start:stop] == QUOTE) + start
        opening, closing = marks[count % 2 :: 2], marks[1 - count % 2 :: 2]
        before = edge[data[opening[opening > 0] - 1]]
        after = edge[data[closing[closing < len(data) - 1] + 1]]
        # Before an opening one, a quote is that which closed; after a closing one, it opens.
        if not (before.all() and after.all()):
            return None
        end = int(np.searchsorted(physical, stop, "right"))
        outside[done:end] = (count + np.searchsorted(marks, physical[done:end])) % 2 == 0
        count, done = count + len(marks), end
    return outside


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
