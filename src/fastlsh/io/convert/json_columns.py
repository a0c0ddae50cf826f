"""The columns of JSON that becomes a table, which its rows alone tell."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.convert.rows import Row
from fastlsh.io.convert.schemas import FileColumns, first_inexact, refusal
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Source


class JsonColumns:
    """The columns of all files of JSON that become one output, and their types.

    A column has the type that all values of a key have. Integers and fractions together are
    float64, an absent key is null, objects have the keys of all of them. The JSON reader of pyarrow
    is not used: it makes timestamps of strings and fractions of large integers.

    Parameters
    ----------
    path : str
        The output, for messages.
    typed : bool
        Whether it has types; if not, the names are enough.
    """

    def __init__(self, path: str, *, typed: bool) -> None:
        self._path = path
        self._typed = typed
        self._kinds: dict[str, Any] = {}
        self._firsts: dict[str, Source] = {}
        """By key, the file that has the first value of it."""
        self._inexact: dict[str, tuple[Source, int, int]] = {}
        self._of_file: dict[str, dict[str, None]] = {}

    def of(self, source: Source) -> FileColumns | None:
        """Return the columns of a file; None if no row of it is written."""
        names = self._of_file.get(source.path)
        if names is None:
            return None
        inexact = {name: value for name, (*_, value) in self._inexact.items()}
        kinds = {name: self._kinds.get(name) for name in names}
        return FileColumns(source, [*names], kinds, inexact)

    def learn(self, source: Source, rows: Sequence[Row], first: int) -> None:
        """Learn from rows of a file; `first` is the number of the first of them in the output.

        Raises
        ------
        InputError
            If a value does not go with those before it.
        """
        keys = dict.fromkeys(chain.from_iterable(rows))
        if rows:
            self._of_file.setdefault(source.path, {}).update(keys)
        for key in keys if self._typed else ():
            self._learn(source, key, [row.get(key) for row in rows], first)

    def _learn(self, source: Source, key: str, values: Sequence[Any], first: int) -> None:
        types = pyarrow(self._path).types
        try:
            array = array_of(values)
            kind = _both(self._kinds.get(key, array.type), array.type)
        except _errors() as error:
            if len(values) == 1:
                raise self._misfit(source, key, values, first) from error
            for number, value in enumerate(values, first):
                self._learn(source, key, [value], number)
            return
        if types.is_int64(array.type) and key not in self._inexact:
            value = first_inexact(array)
            if value is not None:
                self._inexact[key] = source, first + values.index(value), value
        if key in self._inexact and types.is_floating(kind):
            inexact, number, value = self._inexact[key]
            other = source if inexact != source else self._firsts.get(key, source)
            if other != inexact:
                raise refusal(key, "int64", inexact, kind, other, value)
            reason = f"Integer value {value} is no {kind}, as other rows need"
            raise self._error(key, number, reason)
        self._kinds[key] = kind
        if not types.is_null(kind):
            self._firsts.setdefault(key, source)

    def _misfit(self, source: Source, key: str, values: Sequence[Any], number: int) -> InputError:
        """Return the error of a value that does not go with those before it."""
        try:
            kind = array_of(values).type
        except OverflowError:
            reason = "an integer is beyond int64: write .jsonl or .csv, or make it a text"
            return self._error(key, number, reason)
        except _errors() as error:
            return self._error(key, number, str(error))
        where, was, now = _innermost(key, self._kinds[key], kind)
        first = self._firsts.get(key, source)
        if first != source:
            return refusal(where, now, source, was, first)
        return self._error(where, number, f"{now}, but {was} in rows before")

    def _error(self, where: str, number: int, reason: str) -> InputError:
        return InputError(self._path, f"the value of {where!r} does not fit: {reason}", number)


def array_of(values: Sequence[Any], kind: Any = None) -> Any:
    """Return values as an Arrow array, of their own type or a wider one.

    Integers beside fractions become these if that changes none; Arrow refuses some that are exact.
    """
    pa = pyarrow("")
    if kind is not None and all(value is None for value in values):
        return pa.nulls(len(values), kind)
    try:
        return pa.array(values, kind)
    except pa.ArrowInvalid:
        if kind is None and float not in map(type, values):
            raise
        exact = [float(v) if type(v) is int and float(v) == v else v for v in values]
        return pa.array(exact, kind)


def _errors() -> tuple[type[Exception], ...]:
    return (pyarrow("").ArrowException, OverflowError, ValueError)


def _both(one: Any, other: Any) -> Any:
    """Return the type that has the values of both; ArrowException if there is none."""
    pa = pyarrow("")
    schemas = [pa.schema([("", kind)]) for kind in (one, other)]
    return pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def _innermost(where: str, was: Any, now: Any) -> tuple[str, Any, Any]:
    """Return the path to what differs inside objects and lists, and both types of it."""
    pa = pyarrow("")
    types = pa.types
    inside = []
    if types.is_list(was) and types.is_list(now):
        inside = [(f"{where}[]", was.value_type, now.value_type)]
    elif types.is_struct(was) and types.is_struct(now):
        fields = {field.name: field.type for field in was}
        inside = [(f"{where}.{f.name}", fields[f.name], f.type) for f in now if f.name in fields]
    for path, one, other in inside:
        try:
            _both(one, other)
        except pa.ArrowException:  # noqa: PERF203
            return _innermost(path, one, other)
    return where, was, now
