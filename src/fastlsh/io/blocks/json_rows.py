"""One line of JSON, by the json module."""

import json
import math
import re
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.blocks.columns import LABEL
from fastlsh.io.blocks.json_columns import ABSENT, names_of
from fastlsh.io.record_texts import kind_of, text_of_members
from fastlsh.io.sources import Source
from fastlsh.io.token_ids import words_of_list

_INSIDE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*\[\s*\{(?!\s*"(?:role|from|content|value)")')
"""A key, and the beginning of an array of objects, which are not messages."""


class NotJsonError(InputError):
    """A row is not JSON."""


class AbsentKeyError(InputError):
    """A row has no member of a key."""


def rows_inside(text: str) -> str | None:
    """Return the key of an array of objects, which may be the rows, in the beginning of a file."""
    found = _INSIDE.search(text)
    return found and found[1]


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

    def _not(self, row: int, key: str, value: Any, wanted: str) -> InputError:
        return self.source.error(f"{key!r} is {kind_of(value)}, not {wanted}", row)
