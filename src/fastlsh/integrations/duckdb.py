"""SQL functions for DuckDB.

    from fastlsh.integrations import duckdb as fastlsh_duckdb

    fastlsh_duckdb.register(connection)
    connection.sql("SELECT fastlsh_jaccard(a, b) FROM pairs")

This needs ``pip install duckdb pyarrow``.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.candidates import band_keys
from fastlsh.keywords import made, shares
from fastlsh.parameters import SearchParams
from fastlsh.sets import exact_jaccard
from fastlsh.signatures import MinHasher

__all__ = ["register"]

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import BandingKeywords


@shares(SearchParams.of, command="explain", without={"verify"})
def register(
    connection: Any,
    threshold: float = 0.8,
    *,
    threads: int | None = None,
    **keywords: "Unpack[BandingKeywords]",
) -> SearchParams:
    """Register three functions on texts with a DuckDB connection; NULL is an empty document.

    ==========================  ======================  =======================================
    fastlsh_signature(text)     UINTEGER[num_perm]      as `MinHasher.signatures`
    fastlsh_band_keys(text)     UBIGINT[bands]          as `band_keys`; documents with the same
                                                        key in a band are candidates, but 0
                                                        stands for an empty document
    fastlsh_jaccard(a, b)       DOUBLE                  as `exact_jaccard`
    ==========================  ======================  =======================================

    Parameters
    ----------
    connection
        A DuckDBPyConnection. If it already has functions with these names, they are replaced.
    threshold, threads
        As in `near_duplicates`.

    Returns
    -------
    SearchParams
        The parameters that the functions use; ``.lsh`` contains the bands and rows.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable; the message names it.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> params = register(connection)
    >>> connection.sql("SELECT fastlsh_jaccard('some text', 'some text')").fetchall()
    [(1.0,)]
    """
    import pyarrow as pa

    params = made(SearchParams.of, keywords, threshold)
    if not hasattr(connection, "create_function"):
        raise TypeError(f"connection must be one of DuckDB, got {type(connection).__name__}")
    hasher = MinHasher(
        params.num_perm, seed=params.seed, shingler=params.shingler, scheme=params.scheme,
        threads=threads,
    )  # fmt: skip

    def lists(values: Any) -> Any:
        flat = pa.array(np.ascontiguousarray(values).ravel())
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])

    def signature(text: Any) -> Any:
        return lists(hasher.signatures(text))

    def keys(text: Any) -> Any:
        return lists(band_keys(hasher.signatures(text), params.lsh, threads=threads).T)

    def jaccard(a: Any, b: Any) -> Any:
        return pa.array(exact_jaccard(a, b, params.shingler, threads=threads))

    for name, function, texts, kind in (
        ("fastlsh_signature", signature, 1, f"UINTEGER[{params.num_perm}]"),
        ("fastlsh_band_keys", keys, 1, f"UBIGINT[{params.lsh.bands}]"),
        ("fastlsh_jaccard", jaccard, 2, "DOUBLE"),
    ):
        if _has(connection, name):
            _remove(connection, name)
        connection.create_function(
            name, function, ["VARCHAR"] * texts, kind, type="arrow", null_handling="special"
        )
    return params


def _remove(connection: Any, name: str) -> None:
    import duckdb

    try:
        connection.remove_function(name)
    except duckdb.InvalidInputException as error:
        raise ValueError(
            f"{name} belongs to another connection or cursor of this database: register the"
            " functions there"
        ) from error


def _has(connection: Any, name: str) -> bool:
    count = "SELECT count(*) FROM duckdb_functions() WHERE function_name = ?"
    return bool(connection.execute(count, [name]).fetchall()[0][0])
