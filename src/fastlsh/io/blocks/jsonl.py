"""JSON lines: one object a line; of repeated keys the last counts."""

from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from fastlsh.errors import InputError
from fastlsh.io.blocks.added import check_new_keys, json_tails
from fastlsh.io.blocks.checks import Bytes, is_utf8, may_have_long_number
from fastlsh.io.blocks.contract import AddedColumns, BlockExtent, Head
from fastlsh.io.blocks.json_rows import JsonRows
from fastlsh.io.blocks.lines import Indices, Lines, line_feeds
from fastlsh.io.blocks.new_texts import json_with_text
from fastlsh.io.blocks.rows import Parsed, RowBlock
from fastlsh.io.sources import Options, Source

_PLAIN = {str, int, float, bool, type(None)}
_BRACE, _END = ord("{"), ord("}")


class JsonLines:
    """The format `.jsonl`; blank lines are no rows."""

    begun = True

    def __init__(self, source: Source) -> None:
        self.source = source
        self.head = Head()

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

    They are parsed together where msgspec is there and takes them all, else one by one, and those
    that it refuses by the json module, whose answers and errors count. What msgspec would take
    though json does not is looked for before.
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
        decoder = _decoder(self.source.options)
        data, separate = self._gathered(rows)
        if decoder is None or may_have_long_number(data):
            return self._one_by_one(rows, None)
        if separate and is_utf8(data):
            try:
                found = decoder.decode_lines(data.data)
            except (ValueError, RecursionError):
                found = []
            if len(found) == len(rows) and (parsed := _fields(found, self.source.options)):
                return parsed
        return self._one_by_one(rows, decoder)

    def _with_text(self, raw: str, text: str) -> str:
        key = self.source.options.text or "text"
        return json_with_text(raw, key, text, plain=self.head.codec != "utf-8")

    def _tails(self, added: AddedColumns, good: Indices) -> list[bytes]:
        data = self._data.tobytes()
        if any(f'"{name}"'.encode() in data for name in added.types):
            for number, raw in self._records(good):
                check_new_keys(added, self.source, number, raw)
        return json_tails(added, plain=self.head.codec != "utf-8")

    def _with_tail(self, raw: bytes, tail: bytes) -> bytes:
        brace = raw.rindex(b"}")
        return b"".join((raw[:brace], tail, raw[brace:]))

    def _gathered(self, rows: Indices) -> tuple[Bytes, bool]:
        """Return the bytes of rows, and whether no object can reach beyond its line.

        That is so where each line begins and ends with a brace: after a brace that closes an
        inner object, the next line cannot begin with one that opens. Two objects on one line
        are seen by their number.
        """
        bounds = self._lines.bounds
        first, last = self._data[bounds[rows]], bounds[rows + 1] - 1
        if len(rows) == len(self._lines):
            data = self._data
        else:
            edges = np.flatnonzero(np.diff(rows, prepend=-2, append=len(self._lines) + 1) != 1)
            data = np.concatenate(
                [
                    self._data[bounds[rows[start]] : bounds[rows[stop - 1] + 1]]
                    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
                ]
                or [self._data[:0]]
            )
        for ending in b"\n\r":
            last = last - (self._data[last] == ending)
        return data, bool((first == _BRACE).all() and (self._data[last] == _END).all())

    def _one_by_one(self, rows: Indices, decoder: Any) -> Parsed:
        options = self.source.options
        strict = JsonRows(self.source)
        found: list[tuple[Any, Any, Any]] = []
        bad: list[InputError] = []
        for number, raw in self._records(rows):
            try:
                self.check(number, raw)
                found.append(_one(decoder, raw, options) or strict.parse(number, raw))
            except InputError as error:  # noqa: PERF203
                bad.append(error)
        texts, ids, priority = map(list, zip(*found, strict=True)) if found else ([], [], [])
        named = any(identity is not None for identity in ids)
        return Parsed(texts, ids if named else None, priority if options.priority else None, bad)


def _one(decoder: Any, raw: str, options: Options) -> tuple[Any, Any, Any] | None:
    """Parse one line, if msgspec takes it."""
    if decoder is None:
        return None
    try:
        row = decoder.decode(raw)
    except (ValueError, RecursionError):
        return None
    parsed = _fields([row], options)
    if parsed is None:
        return None
    identity = None if parsed.ids is None else parsed.ids[0]
    return parsed.texts[0], identity, parsed.priority and parsed.priority[0]


def _fields(found: list[Any], options: Options) -> Parsed | None:
    """Return the columns of decoded rows, if all values are of types that are taken."""
    ids: list[Any] | None = list(map(attrgetter("id"), found))
    kinds = set(map(type, ids or ()))
    if not kinds <= (_PLAIN if options.id is None else _PLAIN - {type(None)}):
        return None
    if kinds <= {type(None)}:
        ids = None
    priority = None
    if options.priority is not None:
        priority = list(map(attrgetter("priority"), found))
        if not set(map(type, priority)) <= {int, float}:
            return None
        if any(type(value) is int and abs(value) > 2**1000 for value in priority):
            return None
    return Parsed(list(map(attrgetter("text"), found)), ids, priority, [])


@lru_cache(8)
def _decoder(options: Options) -> Any:
    """Return a decoder of msgspec; None where it is absent or cannot do it."""
    if options.tokens:  # it takes 1.0 for a whole number
        return None
    if any("." in (key or "") for key in (options.text, options.id, options.priority)):
        return None  # a key inside another one, or with a dot in its name
    try:
        import msgspec
    except ImportError:
        return None
    keys = {"text": options.text or "text", "id": options.id or "id"}
    fields: list[Any] = [("text", str | None), ("id", Any)]
    if options.id is None:
        fields[1] += (None,)
    if options.priority is not None:
        keys["priority"] = options.priority
        fields.append(("priority", Any))
    if len(set(keys.values())) < len(keys):
        return None
    try:
        row = msgspec.defstruct("Row", fields, rename=keys, gc=False, kw_only=True)
        return msgspec.json.Decoder(row)
    except (ValueError, TypeError):  # a key that is no text
        return None
