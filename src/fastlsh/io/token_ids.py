"""Token ids in files: lists of whole numbers, read as texts of their decimal digits.

The hash of a token id is that of the word of its digits, so such texts, cut into words, give the
same shingles, in memory and on disk.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.io.errors import pyarrow

MOST_IDS = 1 << 26
"""Of documents that are made words at a time."""

EXPECTED = "expected whole numbers from 0 to 2**64 - 1"


def are_lists_of_ids(kind: Any) -> bool:
    """Whether an Arrow type is one of lists of integers."""
    types = pyarrow("").types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if not any(test(kind) for test in lists):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_null(kind.value_type))


def words_of_column(name: str, column: Any) -> tuple[Any, dict[int, str]]:
    """Return the words of each document, and what is wrong with rows.

    Parameters
    ----------
    name : str
        Of the column.
    column : pyarrow.ChunkedArray
        Of lists of integers, whose structure is sound. A null is a document without tokens.

    Returns
    -------
    pyarrow.ChunkedArray of string, dict of int to str
    """
    pa = pyarrow("")
    words: list[Any] = []
    bad: dict[int, str] = {}
    start = 0
    for chunk in _pieces(column.chunks):
        found, wrong = _words(pa, name, chunk)
        words.append(found)
        bad |= {start + row: reason for row, reason in wrong.items()}
        start += len(chunk)
    return pa.chunked_array(words, pa.string()), bad


def _pieces(chunks: list[Any]) -> Iterator[Any]:
    # Arrow joins strings to arrays of at most 2 GB.
    for chunk in chunks:
        if len(chunk) > 1 and len(chunk.flatten()) > MOST_IDS:
            half = len(chunk) // 2
            yield from _pieces([chunk.slice(0, half), chunk.slice(half)])
        else:
            yield chunk


def _words(pa: Any, name: str, chunk: Any) -> tuple[Any, dict[int, str]]:
    compute = pyarrow("", "pyarrow.compute")
    lengths = compute.fill_null(compute.list_value_length(chunk), 0).to_numpy(zero_copy_only=False)
    offsets = np.zeros(len(chunk) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    ids = chunk.flatten()
    bad: dict[int, str] = {}
    if ids.null_count:
        nulls = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
        bad |= dict.fromkeys(_rows(offsets, nulls), f"{name!r} has null among its ids, {EXPECTED}")
        ids = compute.fill_null(ids, 0) if pa.types.is_integer(ids.type) else pa.nulls(0)
        if not len(ids):  # of a type that has no numbers
            return pa.array([""] * len(chunk), pa.string()), bad
    if pa.types.is_signed_integer(ids.type):
        values = ids.to_numpy(zero_copy_only=False)
        for position in np.flatnonzero(values < 0)[::-1].tolist():
            row = _rows(offsets, np.array([position]))[0]
            bad[row] = f"{name!r} has the id {values[position]}, {EXPECTED}"
    digits = ids.cast(pa.string())
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), digits)
    return compute.binary_join(lists, " "), bad


def _rows(offsets: NDArray[np.int64], positions: NDArray[np.int64]) -> list[int]:
    found: list[int] = unique(np.searchsorted(offsets, positions, "right") - 1).tolist()
    return found


def words_of_list(name: str, value: Any) -> str | None:
    """Return the words of a value of JSON; ValueError tells what is wrong with it."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError(f"{name!r} is no array of token ids")
    for each in value:
        if type(each) is not int or not 0 <= each < 2**64:
            raise ValueError(f"{name!r} has {_shown(each)} among its ids, {EXPECTED}")
    return " ".join(map(str, value))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)[:40]
    kinds: dict[type, str] = {list: "an array", dict: "an object", type(None): "null"}
    return kinds.get(type(value), "a string")
