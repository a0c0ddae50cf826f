"""Objects of JSON, in lines or in an array; of repeated keys the last counts."""

import re
from collections.abc import Callable, Iterator
from copy import copy
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from fastlsh import _kernels
from fastlsh._kernels import MOST_KEYS, element_bounds, element_lines
from fastlsh.errors import InputError
from fastlsh.io.blocks.added import check_new_keys, json_tails
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.contract import AddedColumns, ArrayError, BlockExtent, Flags, NewTexts
from fastlsh.io.blocks.cutting import Format
from fastlsh.io.blocks.json_columns import JsonColumns, JsonRow
from fastlsh.io.blocks.json_rows import AbsentKeyError, JsonRows, NotJsonError, rows_inside
from fastlsh.io.blocks.lines import Indices, Lines
from fastlsh.io.blocks.new_texts import json_text, json_value
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.blocks.writing import BREAKS
from fastlsh.io.streams import JSON_SPACE, Stream

_BRACE, _SPACE = ord("{"), ord(" ")
_CLOSED = 1
"""What `element_bounds` says behind the end of an array."""

_LOOK = 1 << 16
"""Bytes in which an array of rows is looked for that is inside an object."""

T = TypeVar("T")


class Json(Format):
    """JSON: lines, of which blank ones are no rows, or an array, whose elements are the rows."""

    _is_array = False

    def open(self, stream: Stream) -> None:
        """Learn from the first character which of them it is."""
        self._stream = stream
        self._is_array = stream.is_array()
        self._scan = np.zeros(5, np.int64)
        self._has_rows = False

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the rows; one with a syntax error is the last one of an array."""
        if not self._is_array:
            return super().split(data, last)
        if self._scan[0]:
            self._check_rest(data)
            return Lines(np.array([len(data)]), None, 0)
        self._scan[:] = 0
        bounds = element_bounds(data, self._scan)
        if self._scan[0] == _CLOSED and len(bounds) == 2 and not self._has_rows:
            is_empty = not data[: bounds[1] - 1].tobytes().strip(JSON_SPACE)
            bounds = bounds[is_empty:]
        self._has_rows |= len(bounds) > 1
        return Lines(bounds, None, len(bounds) - 1)

    def _check_rest(self, data: Bytes) -> None:
        """Raise if more than white space follows the array."""
        rest = data.tobytes().lstrip(JSON_SPACE)
        if rest and self._scan[0] == _CLOSED:
            place = self._stream.position - len(rest) + 1
            reason = f"byte {place} is behind the end of the array: a file has one array, or lines"
            raise self.source.error(reason)

    def next_end(self, data: Bytes) -> int | None:
        """Return where a row ends; see `Format`."""
        if not self._is_array:
            return super().next_end(data)
        bounds = element_bounds(data, self._scan)
        return int(bounds[1]) if len(bounds) > 1 else None

    def end(self, rest: Bytes, lines: Lines, row: int) -> None:
        """Raise if the array is not closed, or is not the end."""
        if not self._is_array:
            return
        self._check_rest(rest)
        if not self._scan[0]:
            where = f"behind byte {self._stream.position}, before the end of the array"
            raise self.source.error(f"the file ends {where}", row)

    def block(
        self, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None
    ) -> "JsonBlock":
        """Make a block."""
        kind = ArrayBlock if self._is_array else JsonBlock
        return kind(self.source, self.head, extent, data, lines, bad)


class JsonBlock(RowBlock):
    """Some lines.

    A kernel reads them together. The lines that it refuses are read by the json module, whose
    answers and errors count.
    """

    def _not_blank(self) -> Indices:
        bounds = self._lines.bounds
        filled = np.ones(len(self._lines), np.bool_)
        doubtful = np.flatnonzero(self._data[bounds[:-1]] != _BRACE)
        for i in doubtful.tolist():
            line = self._data[bounds[i] : bounds[i + 1]].tobytes()
            filled[i] = not line.decode("utf-8", self.head.errors).isspace()
        return np.flatnonzero(filled)

    def _parse(self, rows: Indices) -> Parsed:
        options = self.source.options
        columns = JsonColumns(self._data, self._lines.bounds, rows, self.source)
        bad: list[InputError] = []
        if len(columns.refused):
            good, bad = self._one_by_one(rows, columns.refused)
            columns.complete(good)
        numbers = {name: columns.numbers(name) for name in options.counts}
        there = filter(columns.has, self.source.optional)
        labels = {name: columns.labels(name) for name in (*options.labels, *there)}
        priorities, absent = None, ""
        if (name := options.priority) is not None:
            priorities = columns.priorities(name)
            absent = "" if columns.has(name) else f"no key {name!r}"
        return Parsed(
            columns.texts(), columns.ids(), bad, numbers, labels, priorities, absent,
            len(columns.refused),
        )  # fmt: skip

    def _is_refused(self, rows: Indices) -> bool:
        return len(JsonColumns(self._data, self._lines.bounds, rows, self.source).refused) > 0

    def _one_by_one(
        self, rows: Indices, numbers: Indices
    ) -> tuple[dict[int, JsonRow], list[InputError]]:
        """Read the rows with some numbers by the json module."""
        each = list(self._each(rows[numbers], JsonRows(self.source).parse))
        found = dict(zip(numbers.tolist(), each, strict=True))
        good = {n: JsonRow(*each) for n, each in found.items() if not isinstance(each, InputError)}
        return good, [each for each in found.values() if isinstance(each, InputError)]

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number and the members of each row; raise the error of a bad one."""
        each = self._each(self.filled, JsonRows(self.source).value)
        for number, found in zip(self._row_numbers(self.filled).tolist(), each, strict=True):
            if isinstance(found, InputError):
                raise found
            yield number, found

    def _each(self, rows: Indices, parse: Callable[[int, str], T]) -> Iterator[T | InputError]:
        """Yield what a function makes of each row, or the error that it raises."""
        for index, (row, raw) in zip(rows.tolist(), self._records(rows), strict=True):
            try:
                self.check(row, raw)
                yield parse(row, raw)
            except InputError as error:  # noqa: PERF203
                yield self._explained(index, error)

    def _explained(self, index: int, error: InputError) -> InputError:
        """Return the error of a row; of the first one in a file, with where the rows may be."""
        is_first = self.extent.index == 0 and index == self.filled[0]
        if is_first and isinstance(error, (AbsentKeyError, NotJsonError)):
            start, stop = self._lines.bounds[index : index + 2].tolist()
            where = None
            if self._data[start:stop].tobytes().strip() == b"{":
                where = "an object over several lines must be in an array, or else be one line"
            name = rows_inside(str(self._data[start : start + _LOOK].data, "utf-8", "replace"))
            if name is not None:
                where = f"the rows may be in {name!r}: give a file that is this array alone"
            if where is not None:
                return InputError(error.path, f"{error.reason}; {where}", error.row)
        return error

    def _values(
        self, rows: Indices, texts: list[str], ends: Indices
    ) -> tuple[Indices, list[bytes]]:
        plain = np.full(len(rows), self.head.codec != "utf-8", np.uint8)
        places, offsets = np.empty((len(rows), 2), np.int64), np.empty(len(rows) + 1, np.int64)
        (key,) = self.source.options.texts()
        name = key.encode("utf-8", "surrogatepass")
        _kernels.value_places(self._data, self._lines.bounds, rows, name, places, plain)
        joined = _kernels.json_strings(_kernels.spans_of_list(texts), plain, offsets)
        values = [joined[start:stop] for start, stop in pairwise(offsets.tolist())]
        unusual = np.flatnonzero(places[:, 0] < 0)
        for number, (_, raw) in zip(unusual.tolist(), self._records(rows[unusual]), strict=True):
            begin, end = json_value(raw, key)
            place = self._lines.bounds[rows[number]] + len(raw[:begin].encode())
            places[number] = place, place + len(raw[begin:end].encode())
            ascii_only = self.head.codec != "utf-8" or raw.isascii()
            values[number] = json_text(texts[number], plain=ascii_only)
        return places, values

    def _tails(self, added: AddedColumns, good: Indices) -> tuple[list[bytes], Indices]:
        ends, doubtful = np.empty(len(good), np.int64), np.empty(len(good), np.uint8)
        names = tuple(name.encode() for name in added.types)
        lowest = _lowest_escape("".join(added.types))
        _kernels.object_ends(
            self._data, self._lines.bounds, good, names[:MOST_KEYS], lowest, ends, doubtful
        )
        if len(names) > MOST_KEYS:
            doubtful[:] = 1
        plain = self.head.codec != "utf-8"
        tails, others = json_tails(added, plain=plain), np.flatnonzero(doubtful)
        without = {frozenset[str](): tails}  # by which of them a row has itself
        for at, (number, raw) in zip(others.tolist(), self._records(good[others]), strict=True):
            there = check_new_keys(added, self.source, number, raw)
            if there not in without:
                rest = added.beside(there)
                without[there] = json_tails(rest, plain=plain) if rest else [b""] * len(tails)
            tails[at] = without[there][at]
        return tails, ends


class ArrayBlock(JsonBlock):
    """Some elements of an array, each on a line of its own."""

    def _take(self, data: Bytes, lines: Lines) -> None:
        super()._take(data, lines)
        self._data, bounds = element_lines(data, lines.bounds, _SPACE, _SPACE)
        self._lines = Lines(bounds, None, len(lines))
        self._written = self._data

    def _not_blank(self) -> Indices:
        return np.arange(len(self._lines))  # an empty element is a syntax error

    def _explained(self, index: int, error: InputError) -> InputError:
        """Return the error of a row, with its place."""
        data, lines = self._came
        start, stop = lines.bounds[index : index + 2].tolist()
        space = stop - start - len(data[start:stop].tobytes().lstrip(JSON_SPACE))
        reason = f"{error.reason}; the row begins at byte {self.extent.start + start + space + 1}"
        kind = ArrayError if isinstance(error, NotJsonError) else InputError
        return kind(error.path, reason, error.row)

    def rows_with_breaks(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> memoryview | bytes:
        """Return rows as `rows` does, with `BREAKS` for the line breaks that they came with."""
        data, lines = self._came
        part = copy(self)
        part._written, _ = element_lines(data, lines.bounds, *BREAKS)
        return part.rows(kept, texts, added)


def _lowest_escape(letters: str) -> int:
    """Return which escapes may stand for one of these letters, as `object_ends` takes it."""
    if re.fullmatch("[a-z_]*", letters):
        return ord("5")
    simple = letters.isascii() and letters.isprintable() and not {*letters} & {*'"/\\'}
    return ord("2") if simple else 0
