"""The columns of a block of JSON lines, as the kernel finds them."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh._kernels import MOST_JOIN, MOST_KEYS, MOST_ROLES, TextColumn, json_lines
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.lines import Indices
from fastlsh.io.sources import Options, Source

NUMBERS = (_kernels.INTEGER, _kernels.REAL, _kernels.LONG_REAL)
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
        out = np.empty(size + _kernels.PADDING, np.uint8)
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
            kinds[0, np.isin(kinds[1], (_kernels.ABSENT, _kernels.NULL_VALUE))] = _kernels.REFUSED
        for which in range(2 + len({*options.counts}), count):
            # The other tokens are longer: true, false, infinities and long integers.
            is_nan = (kinds[which] == _kernels.TOKEN) & (members[2 * which + 1] == len("NaN"))
            is_absent = kinds[which] == _kernels.ABSENT
            name = self._names[which]
            if name in options.labels:
                kinds[0, is_nan | is_absent] = _kernels.REFUSED
            elif name in source.optional:
                kinds[0, is_nan] = _kernels.REFUSED
        self._out = out[:used].copy() if 2 * used < size else out
        self._used = used
        self._kinds = kinds
        self._members = members.reshape(count, 2, len(rows))
        self._members[0, 1, kinds[0] != _kernels.STRING] = -1
        self._unusual: Mapping[int, JsonRow] = {}
        self._strict = True
        self.refused = np.flatnonzero(kinds[0] == _kernels.REFUSED)
        kinds[1:, self.refused] = _kernels.ABSENT

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
        return unusual or bool((self._kinds[which] != _kernels.ABSENT).any())

    def _column(self, which: int) -> Indices | TextColumn | list[Any]:
        kinds = self._kinds[which]
        starts: Indices = self._members[which, 0]
        sizes: Indices = self._members[which, 1]
        kind = int(kinds[0]) if len(kinds) else _kernels.NULL_VALUE
        if not self._unusual and (kinds == kind).all():
            if kind == _kernels.INTEGER:
                return starts.copy()  # a view would keep all members
            if kind == _kernels.STRING:
                return TextColumn(self._out, starts, sizes)
        return self._values(which)

    def _values(self, which: int) -> list[Any]:
        """Return a column as objects."""
        each = zip(self._kinds[which].tolist(), *self._members[which].tolist(), strict=True)
        values = [self._value(kind, start, size) for kind, start, size in each]
        if which > 1:
            for number in np.flatnonzero(self._kinds[which] == _kernels.ABSENT).tolist():
                values[number] = ABSENT
        for number, row in self._unusual.items():
            values[number] = row.id if which == 1 else row.more[which - 2]
        return values

    def _value(self, kind: int, start: int, size: int) -> Any:
        if kind == _kernels.INTEGER:
            return start
        if kind == _kernels.REAL:
            return float(np.int64(start).view(np.float64))
        if kind == _kernels.STRING:
            return self._piece(start, size).decode()
        if kind in (_kernels.LONG_REAL, _kernels.TOKEN):
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
        integers = kinds == _kernels.INTEGER
        if integers.all():
            return values
        if (np.abs(values[integers].astype(np.float64)) >= 2.0**53).any():
            return self._values(which)
        numbers: NDArray[np.float64] = values.view(np.float64).copy()
        numbers[integers] = values[integers]
        for i in np.flatnonzero(kinds == _kernels.LONG_REAL).tolist():
            numbers[i] = float(self._piece(int(values[i]), int(sizes[i])))
        return numbers
