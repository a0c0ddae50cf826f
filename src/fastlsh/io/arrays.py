"""Arrow arrays and batches: their values as NumPy sees them, dictionaries and sizes of rows."""

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from fastlsh.io.errors import pyarrow


def check_structure(table: Any) -> None:
    """Raise ValueError if a column is damaged, so that reading its values would not be safe.

    Reading an Arrow file checks the lengths of its parts only: offsets, indices and views may point
    anywhere. Strings that are not UTF-8 are let through; who reads the texts will look.

    Parameters
    ----------
    table : pyarrow.Table
        As it was read.
    """
    table.validate()
    for name, column in zip(table.column_names, table.columns, strict=True):
        check_column(name, column)


def check_column(name: str, column: Any) -> None:
    """Raise ValueError if a column is damaged."""
    try:
        # As bytes, there is nothing wrong with a string but its structure.
        as_binary(column).validate(full=True)
    except pyarrow("").ArrowInvalid as error:
        raise ValueError(f"column {name!r} is damaged: {error}") from error


def as_binary(column: Any) -> Any:
    """Return a column whose strings are taken as bytes, without a copy.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of any type; strings inside lists, structs and dictionaries are strings, too.

    Returns
    -------
    pyarrow.ChunkedArray
    """
    kind = _binary_type(pyarrow(""), column.type)
    if kind == column.type:
        return column
    return pyarrow("").chunked_array([chunk.view(kind) for chunk in column.chunks], kind)


def _binary_type(pa: Any, kind: Any) -> Any:
    # By name, for an old pyarrow lacks some of these types.
    strings = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
    if str(kind) in strings:
        return pa.type_for_alias(strings[str(kind)])
    if pa.types.is_dictionary(kind):
        values = _binary_type(pa, kind.value_type)
        return pa.dictionary(kind.index_type, values, kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([_binary_field(pa, field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_binary_field(pa, kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_binary_field(pa, kind.value_field))
    return kind


def _binary_field(pa: Any, field: Any) -> Any:
    return field.with_type(_binary_type(pa, field.type))


NOT_UTF8 = "not utf-8"
"""What messages call bytes that are no text."""


def not_utf8(column: Any) -> dict[int, str]:
    """Return the rows of a column of strings or bytes that are not UTF-8, and what is wrong."""
    reasons = map(_reason, as_binary(column).to_pylist())
    return {i: reason for i, reason in enumerate(reasons) if reason}


def _reason(value: bytes | None) -> str | None:
    try:
        (value or b"").decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        return f"{NOT_UTF8}: byte 0x{byte:02x} at offset {error.start}: {error.reason}"
    return None


def select(table: Any, flags: npt.NDArray[np.bool_]) -> Any:
    """Return the rows of a table that are flagged."""
    try:
        return table.filter(flags)
    except NotImplementedError:  # pyarrow cannot filter every type, views for example
        edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
        runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        slices = [table.slice(start, stop - start) for start, stop in runs]
        return pyarrow("").concat_tables([table.slice(0, 0), *slices]).combine_chunks()


def join(arrays: list[Any], path: str) -> Any:
    """Make one chunked array of those of several tables.

    Parameters
    ----------
    arrays : list of pyarrow.ChunkedArray
        Of strings of any kind; different kinds become ``large_string``.
    path : str
        A file, for the message if pyarrow is absent.

    Returns
    -------
    pyarrow.ChunkedArray
    """
    pa = pyarrow(path)
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    chunks = [chunk for array in arrays for chunk in array.chunks]
    return pa.chunked_array(chunks, arrays[0].type if arrays else pa.string())


_VIEWS = ("string_view", "binary_view")


def without_views(kind: Any) -> Any:
    """Return a type that pyarrow can work on, instead of one of views."""
    if str(kind) not in _VIEWS:
        return kind
    return pyarrow("").type_for_alias(f"large_{kind}".removesuffix("_view"))


def are_null(array: Any) -> npt.NDArray[np.bool_]:
    """Return which values of an array are null."""
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), np.bool_)


MOST_ROWS = 1 << 20
"""Rows of a batch at most."""
MOST_BYTES = 1 << 25
"""A batch ends with the row with which it has so many bytes."""


Chunks = Iterable[list[Any]]
"""The chunks of each column of a batch, pyarrow.Array; at least one for each. They can be iterated
over once: so the memory of a column is free before the next one is made."""


class BatchWriter:
    """Gathers tables, and writes their rows as batches.

    A batch ends with the row with which it has `MOST_BYTES`, as `row_sizes` counts, or `MOST_ROWS`.
    So batches do not depend on how rows were divided among the tables.

    Parameters
    ----------
    write : callable
        Takes the `Chunks` of a batch.
    per_value : int
        Further bytes of each value, as `row_sizes` counts them.
    """

    def __init__(self, write: Callable[[Chunks], object], per_value: int = 0) -> None:
        self._write = write
        self._per_value = per_value
        self._columns: list[list[Any]] = []
        self._rows = 0
        self._bytes = 0

    def write(self, table: Any) -> None:
        """Take some rows."""
        ends = np.cumsum(row_sizes(table, self._per_value))
        start = 0
        while start < len(table):
            before = int(ends[start - 1]) if start else 0
            full = int(np.searchsorted(ends, before + MOST_BYTES - self._bytes)) + 1
            stop = min(full, start + MOST_ROWS - self._rows, len(table))
            self._take(table.slice(start, stop - start))
            self._rows += stop - start
            self._bytes += int(ends[stop - 1]) - before
            if self._rows >= MOST_ROWS or self._bytes >= MOST_BYTES:
                self.flush()
            start = stop

    def _take(self, table: Any) -> None:
        if not self._columns:
            self._columns = [[] for _ in table.columns]
        for chunks, column in zip(self._columns, table.columns, strict=True):
            chunks += [chunk for chunk in column.chunks if len(chunk)]

    def flush(self) -> None:
        """Write the rows that are left as the last batch."""
        columns, self._columns = self._columns, []
        self._rows = self._bytes = 0
        if columns:
            self._write(columns.pop(0) for _ in range(len(columns)))


def remade(chunks: list[Any], *, fill: bool) -> Any:
    """Return chunks as one array whose bytes depend on the values alone.

    Parameters
    ----------
    chunks : list of pyarrow.Array
        At least one.
    fill : bool
        Whether what lies under nulls is replaced: an Arrow file has it, a Parquet file does not.
    """
    pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
    kind = chunks[0].type
    if pa.types.is_dictionary(kind):
        dictionary = Dictionary(kind)
        return dictionary.array(dictionary.codes(chunks))
    # One array alone would be returned as it is, with what lies beside it in its buffers.
    array = pa.concat_arrays([*chunks, chunks[0].slice(0, 0)])
    if str(kind) in _VIEWS:
        return array.cast(without_views(kind)).cast(kind)
    if pa.types.is_run_end_encoded(kind):
        # Arrow compares what lies under nulls when it looks for runs.
        values = _filled(compute.run_end_decode(array))
        runs = compute.run_end_encode(values, kind.run_end_type)
        return pa.RunEndEncodedArray.from_arrays(runs.run_ends, _filled(runs.values), kind)
    if fill and (array.null_count or pa.types.is_nested(kind)):
        return _filled(array)
    return array


def _filled(array: Any) -> Any:
    """Return an array with nothing under its nulls, if Arrow can make one of this type."""
    try:
        return array.take(pyarrow("").array(np.arange(len(array)), mask=are_null(array)))
    except NotImplementedError:  # views inside lists, for example
        return array


class Dictionary:
    """The values of a column, without repetition.

    They have the order in which they occur in the rows; values that do not occur are left out. Of
    an ordered type, whole dictionaries are taken, in the order in which they come.

    Parameters
    ----------
    kind : pyarrow.DictionaryType
        The type of the column.

    Attributes
    ----------
    values : pyarrow.Array
        Those of all chunks so far.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._type = without_views(kind.value_type)
        self.values = pyarrow("").array([], self._type)

    def codes(self, chunks: list[Any]) -> Any:
        """Add the values of some chunks; return the codes of their rows' values, with nulls.

        Parameters
        ----------
        chunks : list of pyarrow.DictionaryArray
            At least one.

        Returns
        -------
        pyarrow.Array of int64
        """
        pa = pyarrow("")
        rows, tables = [], []
        start = 0
        for chunk in chunks:
            codes = np.asarray(chunk.indices.cast(pa.int64()).fill_null(-1))
            used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
            order = np.argsort(first, kind="stable")
            if self.kind.ordered:
                used, inverse = np.arange(-1, len(chunk.dictionary)), codes + 1
                order = np.arange(len(used))
            ordered = used[order]
            values = chunk.dictionary.cast(self._type)
            tables.append(values.take(pa.array(ordered, mask=ordered < 0)))
            new = np.empty(len(used), np.int64)
            new[order] = np.arange(start, start + len(used))
            rows.append(new[inverse])
            start += len(used)
        return self._codes_of(pa.concat_arrays(tables)).take(pa.array(np.concatenate(rows)))

    def _codes_of(self, values: Any) -> Any:
        """Return where each value is in the dictionary, null for null; adds what is new."""
        pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
        try:
            new = compute.is_in(values, value_set=self.values, skip_nulls=True)
            absent = values.filter(compute.invert(compute.or_(new, values.is_null())))
            self.values = pa.concat_arrays([self.values, absent.unique()])
            return compute.index_in(values, value_set=self.values, skip_nulls=True).cast("int64")
        except NotImplementedError:  # lists, for example, which Arrow does not look up
            return self._codes_by_name(values)

    def _codes_by_name(self, values: Any) -> Any:
        pa = pyarrow("")
        names = {repr(value): code for code, value in enumerate(self.values.to_pylist())}
        codes: list[int | None] = []
        new: list[int] = []
        for number, value in enumerate(values.to_pylist()):
            if value is not None and repr(value) not in names:
                names[repr(value)] = len(names)
                new.append(number)
            codes.append(None if value is None else names[repr(value)])
        self.values = pa.concat_arrays([self.values, values.take(pa.array(new, pa.int64()))])
        return pa.array(codes, pa.int64())

    def array(self, codes: Any) -> Any:
        """Return a column of codes, as `codes` gave them, with the values so far."""
        return pyarrow("").DictionaryArray.from_arrays(
            codes.cast(self.kind.index_type),
            self.values.cast(self.kind.value_type),
            ordered=self.kind.ordered,
        )


def without_repetition(texts: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Return the values of a column of dictionaries, and where that of each row is among them.

    Parameters
    ----------
    texts : list or pyarrow.ChunkedArray
        What is no column of dictionaries is returned as it is.

    Returns
    -------
    values : list, pyarrow.ChunkedArray or pyarrow.Array
    codes : numpy.ndarray of int64 or None
        The number of values stands for null; None: the values are the texts.
    """
    kind = getattr(texts, "type", None)
    if not hasattr(kind, "index_type") or not len(texts):
        return texts, None
    dictionary = Dictionary(kind)
    codes = dictionary.codes([chunk for chunk in texts.chunks if len(chunk)])
    return dictionary.values, np.asarray(codes.fill_null(len(dictionary.values)))


Sizes = NDArray[np.int64]

_LISTS = ("is_list", "is_large_list", "is_map")

PER_ROW = 6
"""Bytes of memory for each one of a long row: it is read, parsed, and a character may take four."""
LIGHT = 32
"""A row with fewer bytes than this part of the longest row has objects for which there is room."""
AS_OBJECTS = "as objects of Python"
"""What `LongRowError` says of a row whose objects take too much memory."""
PER_VALUE = 52 if "t" in getattr(sys, "abiflags", "") else 48
"""Bytes of memory for a value as an object of Python, without its text; more without a GIL."""
_JSON_MARKS = {"{": 64, "[": 96, ":": 120, ",": PER_VALUE}
"""The same for the object, the list, the key or the value that begins there; measured."""
_WIDE_ESCAPE = re.compile(rb"\\u[^0]")


def memory_as_objects(data: NDArray[np.uint8], delimiter: str | None, copies: int = 1) -> int:
    """Return about how many bytes of memory a row takes as objects of Python.

    `delimiter`: of a row of CSV; None: it is a line of JSON. `copies`: see `Block.check_objects`.
    """
    marks = _JSON_MARKS if delimiter is None else {delimiter: PER_VALUE}
    widest = int(data.max(initial=0))
    wide = 4 if widest >= 0xF0 or _WIDE_ESCAPE.search(data.data) else 2 if widest >= 0xC4 else 1
    objects = sum(size * np.count_nonzero(data == ord(mark)) for mark, size in marks.items())
    return len(data) * (2 * wide + 3) + copies * int(objects)


def table_as_objects(table: Any) -> Sizes:
    """Return about how many bytes of memory each row of a table takes as objects of Python."""
    return 4 * row_sizes(table) + row_sizes(table, PER_VALUE)


def row_sizes(table: Any, extra: int = 0) -> Sizes:
    """Return the bytes of each row of a table, with a dictionary's value counted in every row.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        Rows whose structure is sound.
    per_value
        Further bytes of each value, also inside others; of a struct, four times as many.

    Returns
    -------
    numpy.ndarray of int64, shape (rows,)
        At least 1. The value under a null has no bytes, unless all values of the type have the
        same number.
    """
    total = np.ones(len(table), np.int64)
    for column in table.columns:
        start = 0
        for chunk in getattr(column, "chunks", [column]):
            total[start : start + len(chunk)] += value_sizes(chunk, extra)
            start += len(chunk)
    return total


def value_sizes(array: Any, extra: int = 0) -> Any:
    """Return the bytes of each value of an array: int64 (n,), or one number for all."""
    pa = pyarrow("")
    if isinstance(array.type, pa.BaseExtensionType):
        return value_sizes(array.storage, extra)
    return _sizes(array, extra) + (4 * extra if pa.types.is_struct(array.type) else extra)


def _sizes(array: Any, extra: int) -> Any:
    pa = pyarrow("")
    types, kind = pa.types, array.type
    if types.is_null(kind):
        return 0
    if types.is_dictionary(kind):
        codes = _dense(array.indices).astype(np.int64)
        values = np.broadcast_to(value_sizes(array.dictionary, extra), len(array.dictionary))
        return _valid(array, np.append(values, 0)[np.where(are_null(array), -1, codes)])
    if types.is_struct(kind):
        parts = (value_sizes(array.field(number), extra) for number in range(kind.num_fields))
        return _valid(array, sum(parts))
    if types.is_fixed_size_list(kind):
        # Values begin where the array does.
        values = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        sizes = value_sizes(values, extra)
        if np.ndim(sizes):
            sizes = sizes.reshape(len(array), kind.list_size).sum(axis=1, dtype=np.int64)
        else:
            sizes *= kind.list_size
        return _valid(array, sizes)
    if any(getattr(types, name)(kind) for name in _LISTS):
        offsets = np.asarray(array.offsets).astype(np.int64)
        values = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        sizes = value_sizes(values, extra)
        if not np.ndim(sizes):  # for each of very many values, a number would take more memory
            return 4 + _valid(array, np.diff(offsets) * sizes)
        ends = np.append(0, np.cumsum(sizes, dtype=np.int64))[offsets - offsets[0]]
        return 4 + _valid(array, np.diff(ends))
    if str(kind) in _VIEWS:
        return _valid(array, _numbers(array, np.int32, 4)[:, 0].astype(np.int64)) + 16
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return 8 + _valid(array, np.diff(_numbers(array, np.int64, 1, 1)[:, 0]))
    if types.is_string(kind) or types.is_binary(kind):
        return 4 + _valid(array, np.diff(_numbers(array, np.int32, 1, 1)[:, 0]).astype(np.int64))
    try:
        return -(-kind.bit_width // 8)
    except ValueError:  # rare types, such as unions
        return np.array([len(repr(value)) for value in array.to_pylist()], np.int64)


def _numbers(array: Any, dtype: Any, width: int, more: int = 0) -> NDArray[Any]:
    """Return the first buffer behind the validity of an array, `width` numbers for each value."""
    if not len(array):
        return np.zeros((more, width), dtype)
    buffer = array.buffers()[1]
    start = array.offset * width * np.dtype(dtype).itemsize
    return np.frombuffer(buffer, dtype, (len(array) + more) * width, start).reshape(-1, width)


def _dense(indices: Any) -> NDArray[Any]:
    return np.asarray(indices.fill_null(0) if indices.null_count else indices)


def _valid(array: Any, sizes: Sizes) -> Sizes:
    if array.null_count:
        return np.where(are_null(array), 0, sizes)
    return sizes


def as_objects(values: Any) -> list[Any]:
    """Return the values of an Arrow array as objects of Python, with pandas and without it alike.

    Times of nanoseconds, and dates outside the years 1 to 9999, which Python does not have, become
    text as in ISO 8601.

    Raises
    ------
    KeyError
        A map has a key twice.
    """
    pa, types = pyarrow(""), pyarrow("").types
    kind = values.type
    if types.is_timestamp(kind) and kind.unit == "ns":
        with suppress(pa.ArrowInvalid):  # nearly always, no nanoseconds are there
            kind = pa.timestamp("us", kind.tz)
            values = values.cast(kind)
    if "[ns" not in str(values.type):
        with suppress(OverflowError):
            return list(values.to_pylist(maps_as_pydicts="strict"))
    return [_object(value) for value in values]


def _object(value: Any) -> Any:
    types, kind = pyarrow("").types, value.type
    if not value.is_valid:
        return None
    if types.is_struct(kind):
        return {name: _object(item) for name, item in value.items()}
    if types.is_map(kind):
        keys, items = (as_objects(value.values.field(number)) for number in (0, 1))
        if len({*keys}) < len(keys):
            raise KeyError(f"the key {max(keys, key=keys.count)!r} is there twice")
        return dict(zip(keys, items, strict=True))
    if types.is_dictionary(kind):
        return _object(value.value)
    if types.is_nested(kind):
        return as_objects(value.values)
    return _moment(value) if types.is_temporal(kind) else value.as_py()


def _moment(value: Any) -> Any:
    """Return a date, a time or a duration as an object of Python, or as text if that has none."""
    pa, kind = pyarrow(""), value.type
    name, _, rest = str(kind).partition("[")
    if rest.startswith("ns"):
        zone = [kind.tz] if name == "timestamp" else []
        whole, nanoseconds = divmod(value.value, 1000)
        coarse = pa.scalar(whole, getattr(pa, name)("us", *zone)).as_py()
        if not nanoseconds:
            return coarse
        if name == "duration":
            return f"{coarse}{'' if coarse.microseconds else '.000000'}{nanoseconds:03}"
        head, fraction = coarse.isoformat(timespec="microseconds").split(".")
        return f"{head}.{fraction[:6]}{nanoseconds:03}{fraction[6:]}"
    try:
        return value.as_py()
    except OverflowError:
        if name == "duration":
            return str(np.timedelta64(value.value, kind.unit))
        if name != "timestamp":
            return str(np.datetime64(value.cast(pa.date32()).value, "D"))
        text = re.sub(r"\.0+$", "", str(np.datetime64(value.value, kind.unit)))
        return f"{text}+00:00" if kind.tz else text
