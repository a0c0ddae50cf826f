"""Arrow arrays as files have them: whether they are whole, their values, and parts of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

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


def not_utf8(column: Any) -> dict[int, str]:
    """Return the rows of a column of strings or bytes that are not UTF-8, and what is wrong."""
    reasons = map(_reason, as_binary(column).to_pylist())
    return {i: reason for i, reason in enumerate(reasons) if reason}


def _reason(value: bytes | None) -> str | None:
    try:
        (value or b"").decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        return f"not utf-8: byte 0x{byte:02x} at offset {error.start}: {error.reason}"
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
