"""JSON lines: one object a line."""

import json
from collections.abc import Iterator
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.streams import Record, TextReader


class JsonLines(TextReader):
    """Reader of ``.jsonl``; blank lines are no rows, of repeated keys the last counts."""

    def records(self) -> Iterator[Record]:
        """Yield the lines."""
        for row, raw in enumerate(self.lines(), 1):
            if not raw.isspace():
                yield Record(row, raw, [])

    def parse(self, record: Record) -> tuple[str | None, Any]:
        """Return the text and the id of a row; the id is None if there is none."""
        self.check(record)
        value = self._value(record)
        options = self.source.options
        text = self._member(record, value, options.text or "text")
        if text is not None and not isinstance(text, str):
            raise self._not(record, options.text or "text", text, "a string")
        if options.id is None:
            identity = value.get("id")
        else:
            identity = self._member(record, value, options.id)
            if identity is None:
                raise self._not(record, options.id, identity, "an id")
        if isinstance(identity, (list, dict)):
            raise self._not(record, options.id or "id", identity, "an id")
        return text, identity

    def _value(self, record: Record) -> dict[str, Any]:
        try:
            value = json.loads(record.raw)
        except RecursionError:
            raise self.source.error("nested too deeply", record.row) from None
        except ValueError as error:
            reason = f"not JSON: {getattr(error, 'msg', error)}"
            column = f" at column {error.colno}" if hasattr(error, "colno") else ""
            array = "; an array is not JSON lines" if record.raw.startswith("[") else ""
            raise self.source.error(reason + column + array, record.row) from None
        if not isinstance(value, dict):
            raise self.source.error(f"{_kind(value)}, not an object", record.row)
        return value

    def _member(self, record: Record, value: dict[str, Any], key: str) -> Any:
        if key not in value:
            there = ", ".join(map(repr, value)) or "none"
            raise self.source.error(f"no key {key!r} (there is: {there})", record.row)
        return value[key]

    def _not(self, record: Record, key: str, value: Any, wanted: str) -> InputError:
        return self.source.error(f"{key!r} is {_kind(value)}, not {wanted}", record.row)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")
