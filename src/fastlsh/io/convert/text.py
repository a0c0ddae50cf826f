"""Rows as JSON lines and CSV."""

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, BinaryIO

from fastlsh.errors import InputError
from fastlsh.io.convert.parsing import Row, of_lines
from fastlsh.io.delimited import csv_text
from fastlsh.io.outputs import nameless_file

_PIECE = 1 << 22


class JsonRows:
    """Writes rows as JSON lines: dates and decimals as text, NaN and infinities as null."""

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self._stream = stream
        self._path = path
        self._count = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Write some rows."""
        for row in rows:
            self._count += 1
            try:
                line = json.dumps(
                    {key: as_json(value) for key, value in row.items()}, ensure_ascii=False
                )
                self._stream.write(line.encode() + b"\n")
            except (ValueError, TypeError) as error:
                raise _error(self._path, self._count, row, error) from error


class CsvRows:
    """Writes rows as CSV: null as nothing, what is nested as JSON."""

    def __init__(self, stream: BinaryIO, path: str, names: Sequence[str]) -> None:
        self._stream = stream
        self._path = path
        self._names = names
        self._count = 0
        if names:
            stream.write(_line(names))

    def write(self, rows: Sequence[Row]) -> None:
        """Write some rows."""
        for row in rows:
            self._count += 1
            try:
                self._stream.write(_line([_cell(row.get(name)) for name in self._names]))
            except (ValueError, TypeError) as error:
                raise _error(self._path, self._count, row, error) from error


class KeyedCsvRows:
    """Writes rows as CSV whose columns are all keys there are, in order of their appearance.

    Parameters
    ----------
    stream : file
        The output.
    beside : str
        In whose directory the rows wait for the columns to be known.
    path : str
        For messages.
    default : list of str
        The columns if there is no row.
    """

    def __init__(self, stream: BinaryIO, beside: str, path: str, default: list[str]) -> None:
        self._stream = stream
        self._path = path
        self._default = default
        self._names: dict[str, None] = {}
        self._spill = Spill(beside)

    def write(self, rows: Sequence[Row]) -> None:
        """Take some rows."""
        for row in rows:
            self._names.update(dict.fromkeys(row))
        self._spill.write(rows)

    def __enter__(self) -> "KeyedCsvRows":
        """Return itself."""
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        """Write them, if nothing was raised."""
        with self._spill:
            if kind is None:
                out = CsvRows(self._stream, self._path, list(self._names) or self._default)
                for rows in self._spill.read():
                    out.write(rows)


class Spill:
    """Rows that wait in a file without a name, beside an output."""

    def __init__(self, beside: str) -> None:
        self._file = nameless_file(beside)

    def write(self, rows: Sequence[Row]) -> None:
        """Append rows that came from JSON."""
        self._file.writelines(json.dumps(row).encode() + b"\n" for row in rows)

    def read(self) -> Iterator[list[Row]]:
        """Yield all rows, some megabytes at a time."""
        self._file.seek(0)
        while lines := self._file.readlines(_PIECE):
            yield of_lines(b"".join(lines))

    def __enter__(self) -> "Spill":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the file."""
        self._file.close()


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


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    plain = as_json(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _line(cells: Sequence[str]) -> bytes:
    return csv_text([cells]).encode()


def _error(path: str, number: int, row: Row, error: Exception) -> InputError:
    """Return the error of a row, with the key whose value cannot be written."""
    for key, value in row.items():
        if reason := _why_not({key: value}):
            return InputError(path, f"the value of {key!r} cannot be written: {reason}", number)
    return InputError(path, str(error), number)


def _why_not(row: Row) -> str | None:
    try:
        json.dumps(as_json(row), ensure_ascii=False).encode()
    except (ValueError, TypeError) as error:
        return str(error)
    return None
