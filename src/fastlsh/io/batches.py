"""Rows as batches whose edges and bytes depend on the rows alone."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fastlsh.io.dictionaries import Dictionary
from fastlsh.io.errors import pyarrow
from fastlsh.io.row_sizes import row_sizes

MOST_ROWS = 1 << 20
"""Rows of a batch at most."""
MOST_BYTES = 1 << 25
"""A batch ends with the row with which it has so many bytes."""


Columns = Iterable[list[Any]]
"""The chunks of each column of a batch, pyarrow.Array; at least one for each. They can be iterated
over once: so the memory of a column is free before the next one is made."""


class BatchWriter:
    """Gathers tables, and writes their rows as batches.

    A batch ends with the row with which it has `MOST_BYTES`, as `row_sizes` counts, or `MOST_ROWS`.
    So batches do not depend on how rows were divided among the tables.

    Parameters
    ----------
    write : callable
        Takes the `Columns` of a batch.
    """

    def __init__(self, write: Callable[[Columns], object]) -> None:
        self._write = write
        self._columns: list[list[Any]] = []
        self._rows = 0
        self._bytes = 0

    def write(self, table: Any) -> None:
        """Take some rows."""
        ends = np.cumsum(row_sizes(table))
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
    if str(kind) in ("string_view", "binary_view"):
        return array.cast(f"large_{kind}".removesuffix("_view")).cast(kind)
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
    absent = np.asarray(array.is_null().to_numpy(zero_copy_only=False), np.bool_)
    try:
        return array.take(pyarrow("").array(np.arange(len(array)), mask=absent))
    except NotImplementedError:  # views inside lists, for example
        return array
