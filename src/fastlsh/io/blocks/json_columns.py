"""The columns of a block of JSON lines, as the kernel finds them."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh._kernels import TextColumn, json_lines
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.lines import Indices
from fastlsh.io.sources import Options

Keys = tuple[bytes, bytes, bytes | None]


def keys_of(options: Options) -> Keys | None:
    """Return the keys of text, id and priority, if the kernel can look for them."""
    text, identity, priority = options.text or "text", options.id or "id", options.priority
    names = [text, identity] if priority is None else [text, identity, priority]
    if options.tokens or len(set(names)) < len(names) or "." in "".join(names):
        return None  # a key with a dot may be one inside another
    try:
        return text.encode(), identity.encode(), None if priority is None else priority.encode()
    except UnicodeEncodeError:
        return None


class JsonRow(NamedTuple):
    """What one row has, as objects of Python."""

    text: str | None
    id: Any
    priority: Any


class JsonColumns:
    """Texts, ids and priorities of rows.

    Parameters
    ----------
    data, bounds
        The lines.
    rows
        Which of them.
    options
        How the rows are read.

    Attributes
    ----------
    refused
        int64: the numbers, among the rows, of those that are wrong or unusual.
    """

    def __init__(self, data: Bytes, bounds: Indices, rows: Indices, options: Options) -> None:
        keys = keys_of(options)
        size = int((bounds[rows + 1] - bounds[rows]).sum())
        out = np.empty(size + _kernels.PADDING, np.uint8)
        kinds, members = np.zeros((3, len(rows)), np.uint8), np.empty((6, len(rows)), np.int64)
        used = 0
        if keys is not None:
            used = json_lines(data, bounds, rows, keys, out, kinds, members)
        if options.id is not None:
            kinds[0, np.isin(kinds[1], (_kernels.ABSENT, _kernels.NULL_VALUE))] = _kernels.REFUSED
        self._out = out[:used].copy() if 2 * used < size else out
        self._used = used
        self._kinds = kinds
        self._text = members[:2]
        self._text[1, kinds[0] != _kernels.STRING] = -1
        self._id = members[2:4]
        self._priority = members[4:]
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
            self._text[:, number] = end - len(text), -1 if null else len(text)
            self._strict = self._strict and text == text.decode("utf-8", "ignore").encode()
        joined = np.frombuffer(b"".join(texts), np.uint8)
        self._out = np.concatenate([self._out[: self._used], joined])
        places = np.cumsum(good) - 1
        self._unusual = {int(places[number]): row for number, row in unusual.items()}
        self._kinds = self._kinds[:, good]
        self._text, self._id, self._priority = (
            np.ascontiguousarray(each[:, good]) for each in (self._text, self._id, self._priority)
        )

    def texts(self) -> TextColumn:
        """Return the texts."""
        starts, sizes = _rows_of(self._text)
        return TextColumn(self._out, starts, sizes, self._strict)

    def ids(self) -> Indices | TextColumn | list[Any] | None:
        """Return the ids; a list if they are of several types, None if there is none."""
        kinds = self._kinds[1]
        starts, sizes = _rows_of(self._id)
        kind = int(kinds[0]) if len(kinds) else _kernels.NULL_VALUE
        if not self._unusual and (kinds == kind).all():
            if kind == _kernels.INTEGER:
                return starts
            if kind == _kernels.STRING:
                return TextColumn(self._out, starts, sizes)
        values = self._values(1, self._id)
        for number, row in self._unusual.items():
            values[number] = row.id
        return None if all(value is None for value in values) else values

    def _values(self, which: int, members: Indices) -> list[Any]:
        """Return ids or priorities as objects."""
        each = zip(self._kinds[which].tolist(), *members.tolist(), strict=True)
        return [self._value(kind, start, size) for kind, start, size in each]

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

    def priority(self) -> NDArray[Any] | list[Any]:
        """Return the priorities, int64 or float64; a list if some are unusual."""
        kinds = self._kinds[2]
        values, sizes = _rows_of(self._priority)
        if self._unusual:
            found = self._values(2, self._priority)
            for number, row in self._unusual.items():
                found[number] = row.priority
            return found
        integers = kinds == _kernels.INTEGER
        if integers.all():
            return values
        numbers: NDArray[np.float64] = values.view(np.float64).copy()
        numbers[integers] = values[integers]
        for i in np.flatnonzero(kinds == _kernels.LONG_REAL).tolist():
            numbers[i] = float(self._piece(int(values[i]), int(sizes[i])))
        return numbers


def _rows_of(members: Indices) -> tuple[Indices, Indices]:
    first, second = members
    return first, second
