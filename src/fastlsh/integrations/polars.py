"""Expressions for polars, like ``pl.col("text").fastlsh.keep()``, that process whole columns.

    import fastlsh.integrations.polars

    clean = frame.filter(pl.col("text").fastlsh.keep(0.8))

Importing this module registers the expressions; it needs polars.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from fastlsh.integrations.options import checked_options
from fastlsh.results import Deduplication
from fastlsh.search import deduplicate
from fastlsh.signatures import MinHasher

__all__ = ["Expressions"]


@pl.api.register_expr_namespace("fastlsh")
class Expressions:
    """The expressions of ``pl.col("text").fastlsh``. Null counts as an empty document.

    Arguments are checked when an expression is built, and texts when it is evaluated.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def signature(self, num_perm: int = 128, **options: Any) -> pl.Expr:
        """Return the signature of each text.

        Parameters
        ----------
        num_perm, **options
            As in `MinHasher`.

        Returns
        -------
        polars.Expr
            An expression of type Array(UInt32, num_perm).

        Examples
        --------
        >>> frame = pl.DataFrame({"text": ["some text", "another text"]})
        >>> frame.select(pl.col("text").fastlsh.signature(64)).dtypes
        [Array(UInt32, shape=(64,))]
        """
        hasher = MinHasher(num_perm, **options)
        dtype = pl.Array(pl.UInt32, hasher.num_perm)

        def sign(texts: pl.Series) -> pl.Series:
            return pl.Series(texts.name, hasher.signatures(texts), dtype=dtype)

        return self._expr.map_batches(sign, dtype, is_elementwise=True)

    def keep(
        self, threshold: float = 0.8, *, priority: pl.Expr | str | None = None, **options: Any
    ) -> pl.Expr:
        """Return for each document whether `fastlsh.deduplicate` keeps it.

        Parameters
        ----------
        threshold, **options
            As in `fastlsh.deduplicate`.
        priority
            An expression or the name of a column of numbers or dates, null for none. Of similar
            documents, the one with the highest number or the latest date is kept, instead of the
            one that ``keep=`` chooses.

        Returns
        -------
        polars.Expr
            An expression of type Boolean. It depends on the whole column, so it cannot be
            evaluated piece by piece.

        Examples
        --------
        >>> frame = pl.DataFrame({"text": ["some text", "another text", "some text"]})
        >>> frame.filter(pl.col("text").fastlsh.keep())["text"].to_list()
        ['some text', 'another text']
        """
        return self._decided(lambda result: result.kept, pl.Boolean(), threshold, priority, options)

    def cluster(
        self, threshold: float = 0.8, *, priority: pl.Expr | str | None = None, **options: Any
    ) -> pl.Expr:
        """Return for each document the row (from 0) of the kept document that it duplicates.

        Parameters
        ----------
        threshold, priority, **options
            As in `keep`.

        Returns
        -------
        polars.Expr
            An expression of type Int64, with the values of `Deduplication.kept_index`. A kept
            document has its own row; -1 means that a document was removed because of one of
            `against`.

        Examples
        --------
        >>> frame = pl.DataFrame({"text": ["some text", "another text", "some text"]})
        >>> frame.select(pl.col("text").fastlsh.cluster())["text"].to_list()
        [0, 1, 0]
        """
        return self._decided(
            lambda result: result.kept_index, pl.Int64(), threshold, priority, options
        )

    def _decided(
        self,
        answer: Callable[[Deduplication], np.ndarray[Any, Any]],
        dtype: pl.DataType,
        threshold: float,
        priority: pl.Expr | str | None,
        options: dict[str, Any],
    ) -> pl.Expr:
        options = checked_options(threshold, options, priority=priority)

        def decide(columns: Sequence[pl.Series]) -> pl.Series:
            texts, *priorities = columns
            column = priorities[0] if priorities else None
            result = deduplicate(texts, threshold, priority=column, **options)
            return pl.Series(texts.name, answer(result), dtype=dtype)

        if priority is None:
            return self._expr.map_batches(lambda texts: decide((texts,)), dtype)
        other = pl.col(priority) if isinstance(priority, str) else priority
        return pl.map_batches([self._expr, other], decide, dtype)
