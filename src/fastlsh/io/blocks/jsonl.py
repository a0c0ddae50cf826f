"""JSON lines: one object a line; of repeated keys the last counts."""

import re
from itertools import pairwise

import numpy as np

from fastlsh._kernels import MOST_KEYS, json_strings, object_ends, spans_of_list, value_places
from fastlsh.errors import InputError
from fastlsh.io.blocks.added import check_new_keys, json_tails
from fastlsh.io.blocks.checks import Bytes
from fastlsh.io.blocks.contract import AddedColumns, BlockExtent, Head
from fastlsh.io.blocks.json_columns import JsonColumns, JsonRow
from fastlsh.io.blocks.json_rows import JsonRows
from fastlsh.io.blocks.lines import ENDS, Indices, Lines, line_feeds
from fastlsh.io.blocks.new_texts import json_with_text
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.sources import Source

_BRACE = ord("{")


class JsonLines:
    """The format `.jsonl`; blank lines are no rows."""

    begun = True

    def __init__(self, source: Source) -> None:
        self.source = source
        self.head = Head(row_ends=ENDS)

    def split(self, data: Bytes, last: bool) -> Lines:
        """Find the lines."""
        return line_feeds(data, last)

    def begin(self, data: Bytes, lines: Lines, row: int) -> int:
        """Return 0."""
        return 0

    def end(self, lines: Lines, row: int) -> None:
        """Do nothing."""

    def block(
        self, extent: BlockExtent, data: Bytes, lines: Lines, bad: Indices | None
    ) -> "JsonBlock":
        """Make a block."""
        return JsonBlock(self.source, self.head, extent, data, lines, bad)


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
        columns = JsonColumns(self._data, self._lines.bounds, rows, options)
        bad: list[InputError] = []
        if len(columns.refused):
            good, bad = self._one_by_one(rows, columns.refused)
            columns.complete(good)
        numbers = {name: columns.numbers(name) for name in options.numbers}
        labels = {name: columns.labels(name) for name in options.labels}
        return Parsed(columns.texts(), columns.ids(), bad, numbers, labels, len(columns.refused))

    def _one_by_one(
        self, rows: Indices, numbers: Indices
    ) -> tuple[dict[int, JsonRow], list[InputError]]:
        """Read the rows with some numbers by the json module."""
        strict = JsonRows(self.source)
        good: dict[int, JsonRow] = {}
        bad: list[InputError] = []
        for number, (row, raw) in zip(numbers.tolist(), self._records(rows[numbers]), strict=True):
            try:
                self.check(row, raw)
                good[number] = JsonRow(*strict.parse(row, raw))
            except InputError as error:  # noqa: PERF203
                bad.append(error)
        return good, bad

    def _values(
        self, rows: Indices, texts: list[str], ends: Indices
    ) -> tuple[Indices, list[bytes]]:
        plain = np.full(len(rows), self.head.codec != "utf-8", np.uint8)
        places, offsets = np.empty((len(rows), 2), np.int64), np.empty(len(rows) + 1, np.int64)
        key = self.source.options.texts()[0].encode("utf-8", "surrogatepass")
        value_places(self._data, self._lines.bounds, rows, key, places, plain)
        joined = json_strings(spans_of_list(texts), plain, offsets)
        values = [joined[start:stop] for start, stop in pairwise(offsets.tolist())]
        unusual = np.flatnonzero(places[:, 0] < 0)
        own = [texts[n] for n in unusual.tolist()]
        places[unusual], others = super()._values(rows[unusual], own, ends[unusual])
        for number, value in zip(unusual.tolist(), others, strict=True):
            values[number] = value
        return places, values

    def _with_text(self, raw: str, text: str) -> str:
        (key,) = self.source.options.texts()
        return json_with_text(raw, key, text, plain=self.head.codec != "utf-8")

    def _tails(self, added: AddedColumns, good: Indices) -> tuple[list[bytes], Indices]:
        ends, doubtful = np.empty(len(good), np.int64), np.empty(len(good), np.uint8)
        names = tuple(name.encode() for name in added.types)
        lowest = _lowest_escape("".join(added.types))
        object_ends(self._data, self._lines.bounds, good, names[:MOST_KEYS], lowest, ends, doubtful)
        if len(names) > MOST_KEYS:
            doubtful[:] = 1
        for number, raw in self._records(good[doubtful > 0]):
            check_new_keys(added, self.source, number, raw)
        return json_tails(added, plain=self.head.codec != "utf-8"), ends


def _lowest_escape(letters: str) -> int:
    """Return which escapes may stand for one of these letters, as `object_ends` takes it."""
    if re.fullmatch("[a-z_]*", letters):
        return ord("5")
    simple = letters.isascii() and letters.isprintable() and not {*letters} & {*'"/\\'}
    return ord("2") if simple else 0
