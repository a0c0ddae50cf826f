"""Columns of dictionaries, whose chunks may have different ones: one for all that is written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io.errors import pyarrow


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
        self._type = kind.value_type
        if str(self._type) in ("string_view", "binary_view"):  # which Arrow can hardly work on
            self._type = pyarrow("").type_for_alias(f"large_{self._type}".removesuffix("_view"))
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
            wanted = used[order]
            values = chunk.dictionary.cast(self._type)
            tables.append(values.take(pa.array(wanted, mask=wanted < 0)))
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
        found: list[int | None] = []
        new: list[int] = []
        for number, value in enumerate(values.to_pylist()):
            if value is not None and repr(value) not in names:
                names[repr(value)] = len(names)
                new.append(number)
            found.append(None if value is None else names[repr(value)])
        self.values = pa.concat_arrays([self.values, values.take(pa.array(new, pa.int64()))])
        return pa.array(found, pa.int64())

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
