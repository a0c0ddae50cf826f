"""Rows as JSON lines, which pyarrow does not write, and as CSV, where it has no nested values."""

import datetime
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.blocks import maybe_array
from fastlsh.io.convert.parsing import Row
from fastlsh.io.delimited import csv_row
from fastlsh.io.outputs import open_output
from fastlsh.io.shards import Output

WriteRows = Callable[[Sequence[Row], int], None]
"""Takes rows, and the number of the first of them in the output."""


class JsonLines:
    """JSON lines: dates and decimals as text, NaN and infinities as null.

    Parameters
    ----------
    output : Output
        What is written.
    names : sequence of str
        The columns that are known before the rows.
    default : sequence of str
        The columns if there is no other one.
    """

    def __init__(self, output: Output, names: Sequence[str], default: Sequence[str]) -> None:
        self._output = output
        self._names = dict.fromkeys(names)
        self._default = default

    @contextmanager
    def open(self, temporary: str) -> Iterator[WriteRows]:
        """Open the output for rows."""
        with (
            open_output(temporary, self._output.compression) as file,
            maybe_array(file, self._output.array) as stream,
        ):
            stream.write(self._header().encode())

            def write(rows: Sequence[Row], first: int) -> None:
                for number, row in enumerate(rows, first):
                    try:
                        stream.write(self._line(row).encode())
                    except (ValueError, TypeError) as error:  # noqa: PERF203
                        raise self._error(row, number, error) from error

            yield write

    def _header(self) -> str:
        return ""

    def _line(self, row: Row) -> str:
        plain = {key: as_json(value) for key, value in row.items()}
        return json.dumps(plain, ensure_ascii=False) + "\n"

    def _error(self, row: Row, number: int, error: Exception) -> InputError:
        """Return the error of a row, with the key whose value cannot be written."""
        for key, value in row.items():
            try:
                json.dumps(as_json({key: value}), ensure_ascii=False).encode()
            except (ValueError, TypeError) as reason:  # noqa: PERF203
                message = f"the value of {key!r} cannot be written: {reason}"
                return InputError(self._output.path, message, number)
        return InputError(self._output.path, str(error), number)


class CsvTable(JsonLines):
    """CSV with a column for each key: null is empty, and nested values are JSON."""

    def learn(self, rows: Sequence[Row], first: int) -> None:
        """Learn the columns from rows that are written later."""
        for row in rows:
            self._names.update(dict.fromkeys(row))

    def _header(self) -> str:
        return csv_row(list(self._names) or self._default)

    def _line(self, row: Row) -> str:
        return csv_row([cell(row.get(name)) for name in self._names])


def as_json(value: Any) -> Any:
    """Return a value as JSON has it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(as_json(key)): as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (Decimal, datetime.timedelta)) or hasattr(value, "hex"):  # UUIDs
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def cell(value: Any) -> str:
    """Return a value as the text of a cell: null is empty, and nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    plain = as_json(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
