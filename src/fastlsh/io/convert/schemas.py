"""The columns of files whose rows become one output: joined by name, before anything is written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.blocks.arrow import ArrowSource
from fastlsh.io.blocks.parquet import ParquetSource
from fastlsh.io.blocks.reading import plain_block, read_blocks, without_keys
from fastlsh.io.convert.rows import check_names
from fastlsh.io.errors import listed, pyarrow, reading
from fastlsh.io.folders import COLUMNAR, DELIMITED
from fastlsh.io.sources import Source

Kind = Any
"""A type of Arrow or its name; None for values without a type, as those of CSV that become CSV."""

_EXACT = 2**53
"""Up to this, every integer is a double."""
_TEXT = ("string", "large_string", "string_view")
_BYTES = ("binary", "large_binary", "binary_view")
_FLOATS = ("halffloat", "float", "double")
_UNITS = ("s", "ms", "us", "ns")


class FileColumns:
    """The columns of one file, and behind them those of its path.

    Parameters
    ----------
    source : Source
        The file.
    layout : sequence of str or pyarrow.Schema
        The columns, as the file names them.
    kinds : mapping of str to Kind
        The type of each column, by name; those of the path are added.
    inexact : mapping of str to int, optional
        Of JSON lines, an integer of a column that no double is.
    """

    def __init__(
        self,
        source: Source,
        layout: Any,
        kinds: Mapping[str, Kind],
        inexact: Mapping[str, int] | None = None,
    ) -> None:
        self.source = source
        self.layout = layout
        self._is_table = source.format in COLUMNAR
        self._keys = {key.name: key for key in source.keys if kinds and key.name not in kinds}
        has_types = self._is_table or None not in kinds.values()
        keys = {name: key.kind if has_types else None for name, key in self._keys.items()}
        self.kinds = {**kinds, **keys}
        self._inexact = inexact or {}

    @classmethod
    def of(cls, source: Source, target: str) -> "FileColumns":
        """Look at the columns of a file that is not JSON, whose rows become those of a format."""
        if source.format in COLUMNAR:
            with reading(source.path):
                schema = _table(source).head.layout
            return cls(source, schema, dict(zip(schema.names, schema.types, strict=True)))
        names: Sequence[str] = ("id", "text")
        if source.format in DELIMITED:
            names = plain_block(next(iter(read_blocks(source)))).head.layout or ()
        return cls(source, names, dict.fromkeys(names, None if target in DELIMITED else "string"))

    def check(self) -> None:
        """Raise InputError if two columns have one name."""
        names = self.layout.names if self._is_table else self.layout
        check_names(self.source, names, "converted, or joined with that of another file")

    def is_required(self, name: str) -> bool:
        """Whether a column cannot have a null."""
        is_own = self._is_table and name in self.kinds and name not in self._keys
        return is_own and not self.layout.field(name).nullable

    def has_values(self, name: str) -> bool:
        """Whether a column has a value that is not null."""
        if name in self._keys:
            return self._keys[name].value is not None
        if not self._is_table:
            return True
        with reading(self.source.path):
            return any(chunk.null_count < len(chunk) for chunk in _table(self.source).column(name))

    def misfit(self, name: str, wide: Kind) -> Any:
        """Return a value of a column that a wider type does not have, None if it has all."""
        if name in self._keys:
            key = self._keys[name]
            return _misfit(pyarrow("").array([key.value], key.kind), wide)
        if not self._is_table:
            return self._inexact.get(name)
        with reading(self.source.path):
            misfits = (_misfit(array, wide) for array in _table(self.source).column(name))
            return next((value for value in misfits if value is not None), None)


def _table(source: Source) -> ParquetSource | ArrowSource:
    plain = without_keys(source)
    return ParquetSource(plain) if plain.format == "parquet" else ArrowSource(plain)


def joined_columns(files: Sequence[FileColumns]) -> dict[str, Kind]:
    """Return the columns that the rows of all files fit into: those of the first, others behind.

    A column whose values are all null takes the type that it has in other files. Types of numbers,
    texts, bytes, dates and decimals are joined as `_common` says, and no value changes.

    Raises
    ------
    InputError
        If a column has types that cannot be joined, or a file two columns of one name.
    """
    headless = [f for f in files if f.source.format in DELIMITED and not f.source.options.header]
    for file in files:
        file.check()
        if file in headless and len(file.layout) != len(headless[0].layout):
            raise file.source.error(
                f"it has {len(file.layout)} columns, but {headless[0].source.path} has"
                f" {len(headless[0].layout)}, and no header names them: -o DIR/ keeps each as it is"
            )
    names = dict.fromkeys(chain.from_iterable(file.kinds for file in files))
    return {name: _united(name, [file for file in files if name in file.kinds]) for name in names}


def warn_of_missing(files: Sequence[FileColumns], joined: Iterable[str]) -> None:
    """Warn, once for all, of columns that files do not have."""
    missing = {file.source.path: [n for n in joined if n not in file.kinds] for file in files}
    lacking = [path for path, names in missing.items() if names]
    if lacking:
        names = dict.fromkeys(chain.from_iterable(missing.values()))
        warn_caller(
            f"columns are missing in {len(lacking):,} of {len(files):,} files, the first of which"
            f" is {lacking[0]}: rows of these files have no value of {listed([*names])}",
            UserWarning,
        )


def joined_schema(files: Sequence[FileColumns], joined: Mapping[str, Kind]) -> Any:
    """Return joined columns as Arrow has them: that of the first file, if it has them all."""
    pa = pyarrow(files[0].source.path if files else "")
    fields = []
    for name, kind in joined.items():
        required = [file.is_required(name) for file in files]
        nullable = not required or not all(required)
        fields.append(pa.field(name, "string" if kind is None else kind, nullable))
    schema = pa.schema(fields)
    return next((f.layout for f in files[:1] if schema == f.layout), schema)


def cast(table: Any, schema: Any) -> Any:
    """Return rows of a file with the columns of `joined_schema`."""
    pa = pyarrow("")
    columns = []
    for field in schema:
        is_present = field.name in table.schema.names
        column = table.column(field.name) if is_present else pa.nulls(len(table), field.type)
        if column.type != field.type and column.null_count == len(column):
            column = pa.nulls(len(table), field.type)
        elif column.type != field.type:
            chunks = [_cast(chunk, field.type) for chunk in column.chunks]
            column = pa.chunked_array(chunks, field.type)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def _united(name: str, files: Sequence[FileColumns]) -> Kind:
    """Return the type of a column in all of these files."""
    files = [file for file in files if file.kinds[name] is not None]
    if len({file.kinds[name] for file in files}) > 1:
        typed = [file for file in files if str(file.kinds[name]) != "null"]
        files = [file for file in typed if file.has_values(name)] or typed[:1]
    if len({file.kinds[name] for file in files}) < 2:
        return files[0].kinds[name] if files else None
    pa = pyarrow(files[0].source.path)
    firsts: dict[Any, FileColumns] = {}
    for file in files:
        kind = file.kinds[name]
        firsts.setdefault(pa.type_for_alias(kind) if isinstance(kind, str) else kind, file)
    for one, other in combinations(firsts, 2):
        if _common([one, other]) is None:
            raise refusal(name, other, firsts[other].source, one, firsts[one].source)
    wide = _common([*firsts])
    for file in files:
        kind, types = file.kinds[name], pa.types
        can_lose = types.is_timestamp(wide) or (
            types.is_floating(wide) and str(kind) not in _FLOATS
        )
        value = file.misfit(name, wide) if can_lose and kind != wide else None
        if value is not None:
            other = next(k for k in firsts if k == wide or pa.types.is_floating(k))
            raise refusal(name, kind, file.source, other, firsts[other].source, value)
    return wide


def refusal(
    name: str, kind: Kind, source: Source, other: Kind, other_source: Source, value: Any = None
) -> InputError:
    """Return the error of a column with two types; `value` is what one of them does not have."""
    without = "" if value is None else f", which does not have the value {value}"
    return source.error(
        f"the column {name!r} is {kind}, but {other} in {other_source.path}{without}: rows of both"
        " cannot go into one file, and -o DIR/ keeps each as it is"
    )


def _common(kinds: Sequence[Kind]) -> Kind:
    """Return the narrowest type that has the values of some types; None if there is none."""
    pa = pyarrow("")
    types = pa.types
    kinds = [kind.value_type if types.is_dictionary(kind) else kind for kind in kinds]

    # Not a set: lists whose items have another name are equal, but not of one hash.
    mixed = any(kind != kinds[0] for kind in kinds)

    def are(*tests: Callable[[Any], bool]) -> bool:
        return all(any(test(kind) for test in tests) for kind in kinds)

    if are(lambda kind: str(kind) in _TEXT):
        return pa.large_string()  # as a dictionary may repeat what a string cannot hold
    if are(lambda kind: str(kind) in _BYTES or (mixed and types.is_fixed_size_binary(kind))):
        return pa.large_binary()
    if not mixed:
        return kinds[0]
    if are(types.is_integer):
        signed = any(map(types.is_signed_integer, kinds))
        widths = [k.bit_width << (signed and types.is_unsigned_integer(k)) for k in kinds]
        name = f"{'int' if signed else 'uint'}{max(widths)}"
        return pa.type_for_alias(name) if max(widths) <= 64 else None
    if are(types.is_integer, types.is_floating):
        return max(kinds, key=lambda k: k.bit_width) if are(types.is_floating) else pa.float64()
    if are(types.is_timestamp, types.is_date):
        times = [kind for kind in kinds if types.is_timestamp(kind)]
        if len({getattr(kind, "tz", None) for kind in kinds}) > 1:
            return None
        return max(times, key=lambda k: _UNITS.index(k.unit), default=pa.date64())
    if are(types.is_decimal) and len({kind.scale for kind in kinds}) == 1:
        digits = max(kind.precision for kind in kinds)
        return (pa.decimal128 if digits <= 38 else pa.decimal256)(digits, kinds[0].scale)
    return None


def first_inexact(integers: Any) -> int | None:
    """Return the first of an array of integers that no double is, None if there is none."""
    values = np.asarray(integers.drop_null())
    large = values[np.abs(values) > _EXACT].tolist()
    return next((value for value in large if float(value) != value), None)


def _misfit(array: Any, wide: Kind) -> Any:
    """Return a value that a wider type does not have exactly, None if there is none."""
    pa = pyarrow("")
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(wide):
        return first_inexact(array)
    try:
        array.cast(wide)
    except pa.ArrowInvalid:  # out of its reach
        return str(array[0]) if len(array) == 1 else next(
            value for row in range(len(array)) if (value := _misfit(array.slice(row, 1), wide))
        )  # fmt: skip
    return None


def _cast(array: Any, kind: Kind) -> Any:
    """Return an array of another type; of a dictionary, its values are cast."""
    types = pyarrow("").types
    safe = not types.is_floating(kind)  # each integer is such a double; Arrow refuses some that are
    if types.is_dictionary(array.type):
        return array.dictionary.cast(kind, safe=safe).take(array.indices)
    return array.cast(kind, safe=safe)
