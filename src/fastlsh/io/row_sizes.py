"""The size of rows: of a table by its values alone, however Arrow may hold them, and in Python."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io.errors import pyarrow

Sizes = NDArray[np.int64]

_VIEWS = ("string_view", "binary_view")
_LISTS = ("is_list", "is_large_list", "is_map")

PER_ROW = 6
"""Bytes of memory for each one of a long row: it is read, parsed, and a character may take four."""
LIGHT = 32
"""A row with fewer bytes than this part of the longest row has objects for which there is room."""
AS_OBJECTS = "as objects of Python"
"""What `LongRowError` says of a row whose objects take too much memory."""
PER_VALUE = 48
"""Bytes of memory for a value as an object of Python, without its text."""
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
    objects = sum(each * np.count_nonzero(data == ord(mark)) for mark, each in marks.items())
    return len(data) * (2 * wide + 3) + copies * int(objects)


def table_as_objects(table: Any) -> Sizes:
    """Return about how many bytes of memory each row of a table takes as objects of Python."""
    return 4 * row_sizes(table) + row_sizes(table, PER_VALUE)


def row_sizes(table: Any, each: int = 0) -> Sizes:
    """Return the bytes of each row of a table, with a dictionary's value counted in every row.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        Rows whose structure is sound.
    each
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
            total[start : start + len(chunk)] += value_sizes(chunk, each)
            start += len(chunk)
    return total


def value_sizes(array: Any, each: int = 0) -> Any:
    """Return the bytes of each value of an array: int64 (n,), or one number for all."""
    pa = pyarrow("")
    if isinstance(array.type, pa.BaseExtensionType):
        return value_sizes(array.storage, each)
    return _sizes(array, each) + (4 * each if pa.types.is_struct(array.type) else each)


def _sizes(array: Any, each: int) -> Any:
    pa = pyarrow("")
    types, kind = pa.types, array.type
    if types.is_null(kind):
        return 0
    if types.is_dictionary(kind):
        codes = _dense(array.indices).astype(np.int64)
        values = np.broadcast_to(value_sizes(array.dictionary, each), len(array.dictionary))
        return _valid(array, np.append(values, 0)[np.where(_are_null(array), -1, codes)])
    if types.is_struct(kind):
        parts = (value_sizes(array.field(number), each) for number in range(kind.num_fields))
        return _valid(array, sum(parts))
    if types.is_fixed_size_list(kind):
        # Values begin where the array does.
        values = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        sizes = value_sizes(values, each)
        if np.ndim(sizes):
            sizes = sizes.reshape(len(array), kind.list_size).sum(axis=1, dtype=np.int64)
        else:
            sizes *= kind.list_size
        return _valid(array, sizes)
    if any(getattr(types, name)(kind) for name in _LISTS):
        offsets = np.asarray(array.offsets).astype(np.int64)
        values = array.values.slice(offsets[0], offsets[-1] - offsets[0])
        sizes = value_sizes(values, each)
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


def _are_null(array: Any) -> Any:
    if not array.null_count:
        return False
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), np.bool_)


def _valid(array: Any, sizes: Sizes) -> Sizes:
    if array.null_count:
        return np.where(_are_null(array), 0, sizes)
    return sizes
