"""Rows as Parquet; what is nested stays so."""

from collections.abc import Sequence
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.convert.parsing import Row
from fastlsh.io.convert.text import Spill
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import parquet_writer


class JsonTables:
    """Writes rows of JSON or of text columns as Parquet.

    A column has the one type that all its values have: integers and fractions together are
    float64, an absent key is null, objects have the keys of all of them.

    Parameters
    ----------
    temporary : str
        Where it is written.
    path : str
        For messages.
    names : list of str, optional
        Columns that are there in any case: those of a CSV file, whose values are strings.
    default : list of str
        Columns that are there if there is no other one.
    """

    def __init__(
        self, temporary: str, path: str, names: list[str] | None, default: list[str]
    ) -> None:
        self._temporary = temporary
        self._path = path
        self._pa = pyarrow(path)
        self._types: dict[str, Any] = dict.fromkeys(names or (), self._pa.string())
        self._default = default
        self._count = 0
        self._spill = Spill(temporary)

    def __enter__(self) -> "JsonTables":
        """Return itself."""
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        """Write them, if nothing was raised."""
        with self._spill:
            if kind is None:
                self._finish()

    def write(self, rows: Sequence[Row]) -> None:
        """Take some rows, and learn the types of their columns."""
        for key in dict.fromkeys(key for row in rows for key in row):
            values = [row.get(key) for row in rows]
            try:
                self._types[key] = self._both(self._types.get(key), self._pa.array(values).type)
            except (self._pa.ArrowException, OverflowError, ValueError) as error:
                raise self._locate(key, rows, error) from error
        self._spill.write(rows)
        self._count += len(rows)

    def _finish(self) -> None:
        pa = self._pa
        for key, kind in self._types.items():
            if _has_empty_struct(pa, kind):
                raise InputError(
                    self._path, f"all objects of {key!r} are empty, which Parquet does not have"
                )
        types = self._types or dict.fromkeys(self._default, pa.string())
        schema = pa.schema(list(types.items()))
        done = 0
        with parquet_writer(self._temporary, schema) as writer:
            for rows in self._spill.read():
                arrays = [self._array(key, rows, done) for key in self._types]
                writer.write(pa.Table.from_arrays(arrays, schema=schema))
                done += len(rows)

    def _array(self, key: str, rows: Sequence[Row], done: int) -> Any:
        kind = self._types[key]
        try:
            return self._pa.array([row.get(key) for row in rows], kind)
        except (self._pa.ArrowException, OverflowError, ValueError) as error:
            raise self._first_unfit(key, rows, done, kind, error) from error

    def _both(self, one: Any, other: Any) -> Any:
        """Return the type that has the values of both; ArrowException if there is none."""
        if one is None or one.equals(other):
            return other
        schemas = [self._pa.schema([("x", kind)]) for kind in (one, other)]
        return self._pa.unify_schemas(schemas, promote_options="permissive").field("x").type

    def _locate(self, key: str, rows: Sequence[Row], error: Exception) -> InputError:
        """Find the first row whose value does not go with those before it."""
        before = self._types.get(key)
        for number, row in enumerate(rows, self._count + 1):
            if reason := self._why_not(row.get(key)):
                return self._error(key, number, reason)
            kind = self._pa.array([row.get(key)]).type
            try:
                before = self._both(before, kind)
            except self._pa.ArrowException:
                where, was, now = self._deepest(key, before, kind)
                return self._error(where, number, f"{now}, but {was} in rows before")
        return self._first_unfit(key, rows, self._count, before, error)

    def _first_unfit(
        self, key: str, rows: Sequence[Row], done: int, kind: Any, error: Exception
    ) -> InputError:
        """Return the error of the first row whose value is not of a type."""
        for number, row in enumerate(rows, done + 1):
            if reason := self._why_not(row.get(key), kind):
                return self._error(key, number, reason)
        return InputError(self._path, f"{key!r}: {error}")

    def _why_not(self, value: Any, kind: Any = None) -> str | None:
        try:
            self._pa.array([value], kind)
        except (self._pa.ArrowException, OverflowError, ValueError) as error:
            return str(error)
        return None

    def _deepest(self, where: str, was: Any, now: Any) -> tuple[str, Any, Any]:
        """Return the path to what differs inside objects and lists, and both types of it."""
        types = self._pa.types
        if types.is_list(was) and types.is_list(now):
            return self._deepest(f"{where}[]", was.value_type, now.value_type)
        if types.is_struct(was) and types.is_struct(now):
            for field in was:
                if now.get_field_index(field.name) < 0:
                    continue
                other = now.field(field.name).type
                try:
                    self._both(field.type, other)
                except self._pa.ArrowException:
                    return self._deepest(f"{where}.{field.name}", field.type, other)
        return where, was, now

    def _error(self, where: str, number: int, reason: str) -> InputError:
        return InputError(self._path, f"the value of {where!r} does not fit: {reason}", number)


def _has_empty_struct(pa: Any, kind: Any) -> bool:
    if pa.types.is_struct(kind):
        return kind.num_fields == 0 or any(_has_empty_struct(pa, field.type) for field in kind)
    return pa.types.is_list(kind) and _has_empty_struct(pa, kind.value_type)
