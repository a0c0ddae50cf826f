"""JSON lines and arrays: their rows, the texts in these, and rows as columns."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.rows import _rows
from fastlsh._kernels.rows._rows import (
    MOST_JOIN,
    MOST_KEYS,
    MOST_ROLES,
    element_bounds,
    element_lines,
    json_lines,
)
from fastlsh._kernels.text import _texts
from fastlsh._kernels.text._texts import TextColumn
from fastlsh.errors import InputError
from fastlsh.io.blocks.contract import AddedColumns, ArrayError, BlockExtent, Bytes, Flags, NewTexts
from fastlsh.io.blocks.cutting import Format
from fastlsh.io.blocks.lines import Indices, Lines
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.blocks.tables import LABEL
from fastlsh.io.blocks.writing import BREAKS, check_new_keys, json_tails, json_text, json_value
from fastlsh.io.record_texts import kind_of, text_of_members, words_of_list
from fastlsh.io.sources import Options, Source
from fastlsh.io.streams import JSON_SPACE, Stream

NUMBERS = (_rows.INTEGER, _rows.REAL, _rows.LONG_REAL)
"""Kinds of members."""

ABSENT = ...
"""The value of an optional column in a row without it."""


def names_of(source: Source) -> list[str]:
    """Return the keys of text and id, of counts, of labels and of the priority, each once."""
    options = source.options
    further = dict.fromkeys((*options.further, *source.optional))
    return [options.texts()[0], options.id or "id", *further]


class KernelOptions(NamedTuple):
    """What `json_lines` looks for."""

    keys: tuple[bytes, ...]
    texts: int
    join_with: bytes
    roles: tuple[bytes, ...] | None


def kernel_options(source: Source) -> KernelOptions | None:
    """Return what the kernel looks for, if it can; else every row goes to the json module."""
    options = source.options
    texts = options.texts()
    names = [*texts, *names_of(source)[1:]]
    if options.tokens or len({*names}) < len(names) or len(names) > MOST_KEYS:
        return None
    if "." in "".join(names):
        return None  # it may be a key inside another one
    try:
        join_with = options.join_with.encode()
        keys = tuple(name.encode() for name in names)
        roles = tuple(name.encode() for name in options.roles or ())
    except UnicodeEncodeError:
        return None
    if len(roles) > MOST_ROLES or len(join_with) > MOST_JOIN:
        return None
    return KernelOptions(keys, len(texts), join_with, None if options.editable else roles)


class JsonRow(NamedTuple):
    """What one row has, as objects of Python."""

    text: str | None
    id: Any
    more: tuple[Any, ...] = ()
    """Numbers and labels, in the order of `names_of`."""


class JsonColumns:
    """Texts, ids, numbers and labels of rows.

    Parameters
    ----------
    data, bounds
        The lines.
    rows
        Which of them.
    source
        The file, for how the rows are read.

    Attributes
    ----------
    refused
        int64: the numbers, among the rows, of those that are wrong or unusual.
    """

    def __init__(self, data: Bytes, bounds: Indices, rows: Indices, source: Source) -> None:
        options: Options = source.options
        asked, self._names = kernel_options(source), names_of(source)
        size = int((bounds[rows + 1] - bounds[rows]).sum())
        if asked is not None:
            size += len(rows) * (asked.texts - 1) * len(asked.join_with)
        out = np.empty(size + _rows.PADDING, np.uint8)
        count = len(self._names)
        kinds = np.zeros((count, len(rows)), np.uint8)
        members = np.empty((2 * count, len(rows)), np.int64)
        used = 0
        if asked is not None:
            keys, texts, join_with, roles = asked
            labels = texts + 1 + len({*options.counts})
            used = json_lines(
                data, bounds, rows, keys, labels, out, kinds, members, texts, join_with, roles
            )
        if options.needs_id:
            kinds[0, np.isin(kinds[1], (_rows.ABSENT, _rows.NULL_VALUE))] = _rows.REFUSED
        for which in range(2 + len({*options.counts}), count):
            # The other tokens are longer: true, false, infinities and long integers.
            is_nan = (kinds[which] == _rows.TOKEN) & (members[2 * which + 1] == len("NaN"))
            is_absent = kinds[which] == _rows.ABSENT
            name = self._names[which]
            if name == options.also:
                is_nan = ~np.isin(kinds[which], (_rows.STRING, _rows.NULL_VALUE))
            if name in options.labels:
                kinds[0, is_nan | is_absent] = _rows.REFUSED
            elif name in source.optional:
                kinds[0, is_nan] = _rows.REFUSED
        self._out = out[:used].copy() if 2 * used < size else out
        self._used = used
        self._kinds = kinds
        self._members = members.reshape(count, 2, len(rows))
        self._members[0, 1, kinds[0] != _rows.STRING] = -1
        self._unusual: Mapping[int, JsonRow] = {}
        self._strict = True
        self.refused = np.flatnonzero(kinds[0] == _rows.REFUSED)
        kinds[1:, self.refused] = _rows.ABSENT

    def complete(self, unusual: Mapping[int, JsonRow]) -> None:
        """Take the refused rows that are good, by their numbers; the others are left out."""
        good = np.ones(self._kinds.shape[1], np.bool_)
        good[self.refused] = False
        good[list(unusual)] = True
        texts = [(row.text or "").encode("utf-8", "surrogatepass") for row in unusual.values()]
        ends = self._used + np.cumsum([len(text) for text in texts])
        for number, text, end in zip(unusual, texts, ends.tolist(), strict=True):
            null = unusual[number].text is None
            self._members[0, :, number] = end - len(text), -1 if null else len(text)
            self._strict = self._strict and text == text.decode("utf-8", "ignore").encode()
        joined = np.frombuffer(b"".join(texts), np.uint8)
        self._out = np.concatenate([self._out[: self._used], joined])
        places = np.cumsum(good) - 1
        self._unusual = {int(places[number]): row for number, row in unusual.items()}
        self._kinds = self._kinds[:, good]
        self._members = np.ascontiguousarray(self._members[:, :, good])

    def texts(self) -> TextColumn:
        """Return the texts."""
        starts, sizes = self._members[0]
        return TextColumn(self._out, starts, sizes, self._strict)

    def ids(self) -> Indices | TextColumn | list[Any] | None:
        """Return the ids; a list if they are of several types, None if there is none."""
        values = self._column(1)
        if not isinstance(values, list):
            return values
        return None if all(value is None for value in values) else values

    def labels(self, name: str) -> Indices | TextColumn | list[Any]:
        """Return a column of any values; a list if they are of several types."""
        return self._column(self._names.index(name, 2))

    def has(self, name: str) -> bool:
        """Whether a row has a column, if only null."""
        which = self._names.index(name, 2)
        unusual = any(row.more[which - 2] is not ABSENT for row in self._unusual.values())
        return unusual or bool((self._kinds[which] != _rows.ABSENT).any())

    def _column(self, which: int) -> Indices | TextColumn | list[Any]:
        kinds = self._kinds[which]
        starts: Indices = self._members[which, 0]
        sizes: Indices = self._members[which, 1]
        kind = int(kinds[0]) if len(kinds) else _rows.NULL_VALUE
        if not self._unusual and (kinds == kind).all():
            if kind == _rows.INTEGER:
                return starts.copy()  # a view would keep all members
            if kind == _rows.STRING:
                return TextColumn(self._out, starts, sizes)
        return self._values(which)

    def _values(self, which: int) -> list[Any]:
        """Return a column as objects."""
        places = zip(self._kinds[which].tolist(), *self._members[which].tolist(), strict=True)
        values = [self._value(kind, start, size) for kind, start, size in places]
        if which > 1:
            for number in np.flatnonzero(self._kinds[which] == _rows.ABSENT).tolist():
                values[number] = ABSENT
        for number, row in self._unusual.items():
            values[number] = row.id if which == 1 else row.more[which - 2]
        return values

    def _value(self, kind: int, start: int, size: int) -> Any:
        if kind == _rows.INTEGER:
            return start
        if kind == _rows.REAL:
            return float(np.int64(start).view(np.float64))
        if kind == _rows.STRING:
            return self._piece(start, size).decode()
        if kind in (_rows.LONG_REAL, _rows.TOKEN):
            return json.loads(self._piece(start, size))
        return None

    def _piece(self, start: int, size: int) -> bytes:
        return self._out[start : start + size].tobytes()

    def priorities(self, name: str) -> NDArray[Any] | list[Any] | TextColumn:
        """Return a column as `read_priorities` takes it."""
        values = self.numbers(name)
        if not isinstance(values, list):
            return values
        return [None if value is ABSENT else value for value in values]

    def numbers(self, name: str) -> NDArray[Any] | list[Any]:
        """Return a column of numbers, int64 or float64; as `labels` does if some are unusual."""
        which = self._names.index(name, 2)
        kinds = self._kinds[which]
        if self._unusual or not np.isin(kinds, NUMBERS).all():
            return self._column(which)  # type: ignore[return-value]
        values: Indices = self._members[which, 0]
        sizes: Indices = self._members[which, 1]
        integers = kinds == _rows.INTEGER
        if integers.all():
            return values
        if (np.abs(values[integers].astype(np.float64)) >= 2.0**53).any():
            return self._values(which)
        numbers: NDArray[np.float64] = values.view(np.float64).copy()
        numbers[integers] = values[integers]
        for i in np.flatnonzero(kinds == _rows.LONG_REAL).tolist():
            numbers[i] = float(self._piece(int(values[i]), int(sizes[i])))
        return numbers


_INSIDE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*\[\s*\{(?!\s*"(?:role|from|content|value)")')
"""A key, and the beginning of an array of objects, which are not messages."""


class NotJsonError(InputError):
    """A row is not JSON."""


class AbsentKeyError(InputError):
    """A row has no member of a key."""


def rows_inside(text: str) -> str | None:
    """Return the key of an array of objects, which may be the rows, in the beginning of a file."""
    match = _INSIDE.search(text)
    return match and match[1]


class JsonRows:
    """Takes lines apart.

    Parameters
    ----------
    source : Source
        The file, for messages and its options.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def parse(self, row: int, raw: str) -> tuple[str | None, Any, tuple[Any, ...]]:
        """Return the text, the id, and further members as `names_of`; None if there is no id."""
        value = self.value(row, raw)
        options = self.source.options
        text = self._text(row, value)
        more = [
            self._number(row, name, value)
            if name in options.counts
            else self._priority(row, name, value)
            if name == options.priority and name not in options.labels
            else self._label(row, name, value)
            for name in names_of(self.source)[2:]
        ]
        if options.id is None:
            identity = value.get("id")
        else:
            identity = self._member(row, value, options.id)
            if identity is None and options.needs_id:
                raise self._not(row, options.id, identity, "an id")
        if isinstance(identity, (list, dict)):
            raise self._not(row, options.id or "id", identity, "an id")
        return text, identity, tuple(more)

    def _text(self, row: int, value: dict[str, Any]) -> str | None:
        options = self.source.options
        members = {name: self._member(row, value, name) for name in options.texts()}
        try:
            if options.tokens:
                return words_of_list(*members.popitem())
            return text_of_members(members, options)
        except ValueError as error:
            raise self.source.error(str(error), row) from None

    def value(self, row: int, raw: str) -> dict[str, Any]:
        """Return the members."""
        try:
            value = json.loads(raw)
        except RecursionError:
            raise self.source.error("nested too deeply", row) from None
        except ValueError as error:
            # Some messages of the module end with the preposition of a place already.
            reason = f"not JSON: {getattr(error, 'msg', str(error)).removesuffix(' at')}"
            column = ""
            if isinstance(error, json.JSONDecodeError):
                column = f" at column {min(error.pos, len(raw.rstrip())) + 1}"
            raise NotJsonError(self.source.path, reason + column, row) from None
        if not isinstance(value, dict):
            raise self.source.error(f"{kind_of(value)}, not an object", row)
        return value

    def _number(self, row: int, key: str, value: dict[str, Any]) -> Any:
        number = self._member(row, value, key)
        if type(number) not in (int, float):
            raise self._not(row, key, number, "a number")
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            raise self.source.error(f"{key!r} is too large a number", row)
        if math.isnan(number):
            raise self.source.error(f"{key!r} is NaN, not a number", row)
        return number

    def _priority(self, row: int, key: str, value: dict[str, Any]) -> Any:
        try:
            return self._member(row, value, key)
        except AbsentKeyError:
            return ABSENT

    def _label(self, row: int, key: str, value: dict[str, Any]) -> Any:
        if key in self.source.optional and key not in value:
            return ABSENT
        label = self._member(row, value, key)
        if key == self.source.options.also and not isinstance(label, (str, type(None))):
            raise self._not(row, key, label, "text")
        if isinstance(label, (list, dict)):
            raise self._not(row, key, label, LABEL)
        if label != label:
            raise self.source.error(f"{key!r} is NaN, not {LABEL}", row)
        return label

    def _member(self, row: int, value: dict[str, Any], key: str) -> Any:
        if key in value:
            return value[key]
        inner: Any = value
        for name in key.split("."):
            if not isinstance(inner, dict) or name not in inner:
                raise AbsentKeyError(self.source.path, self.source.missing("key", key, value), row)
            inner = inner[name]
        return inner

    def _not(self, row: int, key: str, value: Any, expected: str) -> InputError:
        return self.source.error(f"{key!r} is {kind_of(value)}, not {expected}", row)


_BRACE, _SPACE = ord("{"), ord(" ")
_CLOSED = 1
"""What `element_bounds` says behind the end of an array."""

_LOOK = 1 << 16
"""Bytes in which an array of rows is looked for that is inside an object."""


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
        optional = filter(columns.has, self.source.optional)
        labels = {name: columns.labels(name) for name in (*options.labels, *optional)}
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
        parsed = list(self._each(rows[numbers], JsonRows(self.source).parse))
        by_number = dict(zip(numbers.tolist(), parsed, strict=True))
        good = {n: JsonRow(*row) for n, row in by_number.items() if not isinstance(row, InputError)}
        return good, [row for row in by_number.values() if isinstance(row, InputError)]

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number and the members of each row; raise the error of a bad one."""
        parsed = self._each(self.filled, JsonRows(self.source).value)
        for number, members in zip(self._row_numbers(self.filled).tolist(), parsed, strict=True):
            if isinstance(members, InputError):
                raise members
            yield number, members

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
        _rows.value_places(self._data, self._lines.bounds, rows, name, places, plain)
        joined = _rows.json_strings(_texts.spans_of_list(texts), plain, offsets)
        values = [joined[start:stop] for start, stop in pairwise(offsets.tolist())]
        unusual = np.flatnonzero(places[:, 0] < 0)
        for number, (_, raw) in zip(unusual.tolist(), self.records(rows[unusual]), strict=True):
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
        _rows.object_ends(
            self._data, self._lines.bounds, good, names[:MOST_KEYS], lowest, ends, doubtful
        )
        if len(names) > MOST_KEYS:
            doubtful[:] = 1
        plain = self.head.codec != "utf-8"
        tails, others = json_tails(added, plain=plain), np.flatnonzero(doubtful)
        without = {frozenset[str](): tails}  # by which of them a row has itself
        for at, (number, raw) in zip(others.tolist(), self.records(good[others]), strict=True):
            repeated = check_new_keys(added, self.source, number, raw)
            if repeated not in without:
                rest = added.beside(repeated)
                without[repeated] = json_tails(rest, plain=plain) if rest else [b""] * len(tails)
            tails[at] = without[repeated][at]
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
