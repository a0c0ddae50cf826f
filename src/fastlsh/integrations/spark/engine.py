"""The way of the rows through Spark: keys, links, families, parts."""

from collections.abc import Callable, Mapping
from typing import Any

from fastlsh.arguments import check_choice, check_integer
from fastlsh.integrations.spark import families as finding
from fastlsh.integrations.spark import parts, workers
from fastlsh.integrations.spark.columns import Columns, problem_of, raise_problem, rows_of
from fastlsh.parameters import SearchParams

REPORTED = 1000
"""Problems that are looked at; the worst of them is named."""


def family_rows(
    df: Any,
    against: Any | None,
    columns: Columns,
    params: SearchParams,
    partitions: int | None,
    families: str,
) -> Any:
    """Return the rows of the documents that share a bucket with another one, and their families.

    Runs what is needed to find them, and leaves nothing behind but, with rounds, checkpoints.

    Parameters
    ----------
    df, against
        Checked DataFrames.
    columns, params, partitions, families
        Of the search, as the functions for users take them.

    Returns
    -------
    pyspark.sql.DataFrame
        (family, fixed, id, text[, priority]).
    """
    check_choice(families, "families")
    if partitions is not None:
        check_integer(partitions, "partitions")
    rows = rows_of(df, against, columns)
    found = _links(rows, columns, params, partitions).persist()
    try:
        problems = found.where("earlier < 0").limit(REPORTED).collect()
        raise_problem(rows, columns, [(row["earlier"], row["later"]) for row in problems])
        links = found.where("earlier >= 0")
        if families == "auto":
            families = "driver" if 16 * links.count() <= finding.LINKS else "rounds"
        find = finding.on_driver if families == "driver" else finding.by_rounds
        return rows.join(find(links), "number").drop("number")
    finally:
        found.unpersist()


def _links(rows: Any, columns: Columns, params: SearchParams, partitions: int | None) -> Any:
    """Return (later, earlier), and what is wrong."""
    keys = rows.select("number", problem_of(columns).alias("problem"), "text").mapInArrow(
        workers.signer(params), "key long, number long"
    )
    together = _by(keys, "key", partitions).sortWithinPartitions("key", "number")
    return together.mapInArrow(workers.link, "later long, earlier long")


def work(
    rows: Any,
    worker: Callable[[tuple[int, int]], workers.Worker],
    schema: Mapping[str, str],
    partitions: int | None,
) -> Any:
    """Let whole families of rows be worked on.

    Parameters
    ----------
    rows
        As `family_rows` returns them.
    worker
        Makes the function for `mapInArrow`, given the sizes that `whole_families` takes.
    schema
        The types of its columns by name; "id" is the type of the ids.
    partitions
        How many.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import BooleanType, DoubleType, StructField, StructType

    types = {"id": rows.schema["id"].dataType, "double": DoubleType(), "boolean": BooleanType()}
    fields = [StructField(name, types[kind]) for name, kind in schema.items()]
    ordered = _by(rows, "family", partitions).sortWithinPartitions(
        "family", functions.desc("fixed"), "id"
    )
    return ordered.mapInArrow(worker((parts.PART, parts.SPILL)), StructType(fields))


def _by(frame: Any, column: str, partitions: int | None) -> Any:
    """Bring the rows with the same value together."""
    if partitions is None:
        return frame.repartition(column)
    return frame.repartition(partitions, column)
