"""Rows as Parquet, by pyarrow; what is nested stays so."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.convert.parsing import Row
from fastlsh.io.convert.text import WriteRows
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import parquet_writer
from fastlsh.io.shards import Output


class ParquetTable:
    """A Parquet file, whose columns have the type that all values of a key have.

    Integers and fractions together are float64, an absent key is null, objects have the keys of
    all of them. The JSON reader of pyarrow is not used: it makes timestamps of strings and
    fractions of large integers.

    Parameters
    ----------
    output : Output
        What is written.
    names : sequence of str
        The columns that are known before the rows; they are strings.
    default : sequence of str
        The columns if there is no other one.
    """

    def __init__(self, output: Output, names: Sequence[str], default: Sequence[str]) -> None:
        self._path = output.path
        self._pa = pyarrow(output.path)
        self._errors = (self._pa.ArrowException, OverflowError, ValueError)
        self._schema = self._strings(names)
        self._default = default

    def learn(self, rows: Sequence[Row], first: int) -> None:
        """Learn the columns, and their types, from rows that are written later."""
        keys = dict.fromkeys(chain.from_iterable(rows))
        try:
            found = self._pa.table({key: [row.get(key) for row in rows] for key in keys}).schema
            self._schema = self._both(self._schema, found)
        except self._errors as error:
            raise self._misfit(rows, first, error) from error

    @contextmanager
    def open(self, temporary: str) -> Iterator[WriteRows]:
        """Open the output for rows."""
        schema = self._schema if len(self._schema) else self._strings(self._default)

        def write(rows: Sequence[Row], first: int) -> None:
            try:
                table = self._pa.Table.from_pylist(rows, schema=schema)
            except self._errors as error:
                raise self._misfit(rows, first, error) from error
            tables.write(table)

        with open_parquet(temporary, self._path, schema) as tables:
            yield write

    def _strings(self, names: Sequence[str]) -> Any:
        return self._pa.schema([(name, self._pa.string()) for name in names])

    def _both(self, one: Any, other: Any) -> Any:
        """Return the schema that has the values of both; ArrowException if there is none."""
        return self._pa.unify_schemas([one, other], promote_options="permissive")

    def _misfit(self, rows: Sequence[Row], first: int, error: Exception) -> InputError:
        """Return the error of the first value that does not go with those before it."""
        schema = self._schema
        for number, row in enumerate(rows, first):
            for key, value in row.items():
                try:
                    found = self._pa.table({key: [value]}).schema
                except self._errors as reason:
                    return self._error(key, number, str(reason))
                try:
                    schema = self._both(schema, found)
                except self._errors:
                    where, was, now = self._innermost(
                        key, schema.field(key).type, found.field(key).type
                    )
                    return self._error(where, number, f"{now}, but {was} in rows before")
        for number, row in enumerate(rows, first):
            for key, value in row.items():
                try:
                    self._pa.array([value], schema.field(key).type)
                except self._errors as reason:  # noqa: PERF203
                    return self._error(key, number, str(reason))
        return InputError(self._path, str(error))

    def _innermost(self, where: str, was: Any, now: Any) -> tuple[str, Any, Any]:
        """Return the path to what differs inside objects and lists, and both types of it."""
        types = self._pa.types
        inside = []
        if types.is_list(was) and types.is_list(now):
            inside = [(f"{where}[]", was.value_type, now.value_type)]
        elif types.is_struct(was) and types.is_struct(now):
            names = {field.name for field in was} & {field.name for field in now}
            inside = [
                (f"{where}.{name}", was.field(name).type, now.field(name).type)
                for name in sorted(names)
            ]
        for path, one, other in inside:
            try:
                self._both(*(self._pa.schema([("", kind)]) for kind in (one, other)))
            except self._pa.ArrowException:  # noqa: PERF203
                return self._innermost(path, one, other)
        return where, was, now

    def _error(self, where: str, number: int, reason: str) -> InputError:
        return InputError(self._path, f"the value of {where!r} does not fit: {reason}", number)


@contextmanager
def open_parquet(temporary: str, path: str, schema: Any, threads: int = 1) -> Iterator[Any]:
    """Open a Parquet file for tables; `path` is its name in messages."""
    unknown = pyarrow(path).ArrowNotImplementedError
    try:
        with parquet_writer(temporary, schema, threads=threads) as tables:
            yield tables
    except unknown as reason:
        message = f"Parquet cannot hold it: {reason}"
        for field in schema:
            if "struct<>" in str(field.type):
                message = f"all objects of {field.name!r} are empty, which Parquet does not have"
        raise InputError(path, message) from reason
