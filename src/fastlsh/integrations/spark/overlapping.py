"""How much of each data set of a Spark DataFrame is in each other one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.arguments import check_integer
from fastlsh.errors import TooManyPairsError
from fastlsh.integrations.spark import workers
from fastlsh.integrations.spark.columns import Columns, check_frame, quoted, rows_of
from fastlsh.integrations.spark.engine import family_rows, work
from fastlsh.integrations.spark.parts import whole_families
from fastlsh.integrations.spark.worker_python import check_workers
from fastlsh.io import label_hashes
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions
from fastlsh.parameters import REMOVAL_ONLY, SearchParams
from fastlsh.results import Overlap
from fastlsh.search import check_countable, check_data_sets
from fastlsh.signatures import MinHasher
from fastlsh.stages import (
    MOST_DATA_SETS,
    Shared,
    added_up,
    characters_of,
    shared_counts_of_part,
)
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchKeywords

MINIMA = 4
"""A document whose minima are all ones has no shingle; so many that no other one has."""


@shares(SearchParams.of, without=REMOVAL_ONLY)
def overlap(
    df: Any,
    threshold: float = 0.8,
    *,
    source: str,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",
    max_pairs: int = 100_000_000,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: "Unpack[SearchKeywords]",
) -> Overlap:
    """Count the documents of each data set that have a near-duplicate in each other data set.

    The answer is that of `fastlsh.overlap` for the same documents. No pairs are written, and only
    counts come to the driver.

    Parameters
    ----------
    df, threshold, text, join_with, roles, id, partitions, families
        As in `deduplicate`.
    source
        A column of strings or numbers, whose values are the data sets, from 2 to 64. To compare
        several DataFrames, give each such a column, and unite them with ``unionByName``.
    max_pairs
        Raise an error if more pairs of different texts have to be compared in a part, which
        consists of at least one family.

    Returns
    -------
    fastlsh.Overlap
        The counts, and the order of the data sets in which least is lost. The data sets are in the
        order of their smallest ids.

    Raises
    ------
    TypeError, ValueError
        As in `deduplicate`; or `source` is null or NaN in a row, or has less than 2 or more than 64
        values.

    Examples
    --------
    >>> rows = [(1, "some text", "old"), (2, "some text", "new"), (3, "other", "new")]
    >>> df = spark.createDataFrame(rows, ["id", "text", "crawl"])
    >>> found = overlap(df, source="crawl")
    >>> found.names, found.shared_documents.tolist()
    (['old', 'new'], [[0, 1], [1, 0]])
    """
    params = made(SearchParams.of, keywords, threshold)
    check_countable(params)
    max_pairs = check_integer(max_pairs, "max_pairs")
    columns = Columns(text, id, None, join_with, roles, None, (source,))
    check_frame(df, columns)
    check_workers(df)
    found = family_rows(df, None, columns, params, partitions, families)
    totals = _totals(rows_of(df, None, columns), params)
    names = [str(row["label_0"]) for row in totals]
    if len(names) > MOST_DATA_SETS:
        raise ValueError(f"column {source!r} has more than {MOST_DATA_SETS} values, the data sets")
    check_data_sets(names)
    hashes = label_hashes([row["label_0"] for row in totals])
    counts = work(
        found, lambda sizes: _counter(params, hashes, max_pairs, *sizes),
        dict.fromkeys(Shared.names or (), "long"), partitions,
    )  # fmt: skip
    rows = [tuple(row) for row in counts.collect()]
    shared = np.array(rows, np.int64).reshape(len(rows), -1).view(Shared).reshape(-1)
    return Overlap(
        names,
        np.array([row["documents"] for row in totals], np.int64),
        np.array([row["characters"] for row in totals], np.int64),
        added_up(shared),
        empty=sum(row["empty"] for row in totals),
        params=params.lsh,
    )


def _totals(rows: Any, params: SearchParams) -> list[Any]:
    """Return (label_0, documents, characters, empty) of each data set, of up to one too many."""
    from pyspark.sql import functions
    from pyspark.sql.types import LongType, StructField, StructType

    own = [rows.schema[name] for name in ("id", "label_0")]
    counts = [StructField(name, LongType()) for name in ("characters", "empty")]
    measured = rows.select("id", "label_0", "text").mapInArrow(
        _measurer(params), StructType([*own, *counts])
    )
    totals = measured.groupBy("label_0").agg(
        functions.min("id").alias("first"),
        functions.count("*").alias("documents"),
        functions.sum("characters").alias("characters"),
        functions.sum("empty").alias("empty"),
    )
    found: list[Any] = totals.orderBy(quoted("first")).limit(MOST_DATA_SETS + 1).collect()
    return found


def _measurer(params: SearchParams) -> workers.Worker:
    """Return a worker from (id, label_0, text) to (id, label_0, characters, empty)."""

    def measure(batches: Iterable[Any]) -> Iterator[Any]:
        options = RunOptions.of(1)
        hasher = MinHasher(MINIMA, shingler=params.shingler, threads=1)
        for batch in batches:
            texts = as_texts(batch.column(2))
            empty = (hasher.signatures(batch.column(2)) == np.uint32(2**32 - 1)).all(axis=1)
            yield workers.batch_of(
                id=batch.column(0), label_0=batch.column(1),
                characters=characters_of(texts, params.shingler, options),
                empty=empty.astype(np.int64),
            )  # fmt: skip

    return measure


def _counter(
    params: SearchParams, hashes: Any, max_pairs: int, part: int, spill: int
) -> workers.Worker:
    """Return a worker from rows of whole families to rows of `Shared`."""

    def count(batches: Iterable[Any]) -> Iterator[Any]:
        order = np.argsort(hashes)
        for rows in whole_families(batches, part, spill):
            labels = label_hashes(rows["label_0"].combine_chunks())
            data_set = order[np.searchsorted(hashes, labels, sorter=order)]
            lengths = characters_of(as_texts(rows["text"]), params.shingler, RunOptions.of(1))
            try:
                found = shared_counts_of_part(
                    rows["text"], np.arange(len(rows)), data_set, lengths, params,
                    max_pairs=max_pairs, threads=1, scratch=None,
                )  # fmt: skip
            except TooManyPairsError as error:
                first = rows["id"][0].as_py()
                raise TooManyPairsError(f"{error} (in the part from id {first!r} on)") from None
            yield workers.batch_of(
                **{name: found[name].astype(np.int64) for name in found.dtype.names or ()}
            )

    return count
