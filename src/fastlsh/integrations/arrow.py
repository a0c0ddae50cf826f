"""Signatures as Arrow columns, to be stored in Parquet, Lance or a vector store."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import check_signatures

__all__ = ["signatures_from_arrow", "signatures_to_arrow"]


def signatures_to_arrow(signatures: NDArray[np.uint32]) -> Any:
    """Return signatures as a pyarrow.FixedSizeListArray of uint32, without a copy.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm), as `MinHasher.signatures` returns them. The column shares their
        memory: do not write to them while it is in use.

    Returns
    -------
    pyarrow.FixedSizeListArray
        One list of num_perm minima for each document.

    Raises
    ------
    TypeError, ValueError
        The array has another dtype or shape.

    Examples
    --------
    >>> from fastlsh import MinHasher
    >>> column = signatures_to_arrow(MinHasher(64).signatures(["some text", ""]))
    >>> print(column.type)
    fixed_size_list<item: uint32>[64]
    """
    import pyarrow as pa

    signatures = check_signatures(signatures)
    return pa.FixedSizeListArray.from_arrays(pa.array(signatures.ravel()), signatures.shape[1])


def signatures_from_arrow(column: Any) -> NDArray[np.uint32]:
    """Return the signatures of an Arrow column, without a copy if it is a single chunk.

    Parameters
    ----------
    column
        A pyarrow array or chunked array of fixed-size lists of uint32, or such a column of any
        library that supports the Arrow PyCapsule protocol, for example polars or DuckDB.

    Returns
    -------
    ndarray of uint32, shape (n, num_perm)
        The array shares the memory of the column and is read-only. If the column has several
        chunks, they are copied into one array.

    Raises
    ------
    TypeError
        The column has another type.
    ValueError
        The column contains a null; every document has a signature, even an empty one.

    Examples
    --------
    >>> from fastlsh import MinHasher
    >>> column = signatures_to_arrow(MinHasher(64).signatures(["some text", ""]))
    >>> signatures_from_arrow(column).shape
    (2, 64)
    """
    import pyarrow as pa

    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        column = pa.chunked_array(column)
    kind = column.type
    if not (pa.types.is_fixed_size_list(kind) and kind.value_type == pa.uint32()):
        raise TypeError(f"column must hold fixed-size lists of uint32, got {kind}")
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    pieces = []
    for chunk in chunks:
        values = chunk.flatten()  # of these rows, where the chunk is a slice
        if chunk.null_count or values.null_count:
            raise ValueError("column holds null where a signature should be")
        pieces.append(values.to_numpy(zero_copy_only=True).reshape(len(chunk), kind.list_size))
    if not pieces:
        return np.empty((0, kind.list_size), np.uint32)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
