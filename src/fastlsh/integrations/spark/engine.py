"""The way of the rows through Spark: keys, links, families, parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastlsh.arguments import check_choice, check_integer
from fastlsh.files import RemovalRules
from fastlsh.integrations.spark import families as finding
from fastlsh.integrations.spark import families as parts
from fastlsh.integrations.spark import workers
from fastlsh.integrations.spark.search_columns import (
    NOT_EMPTY,
    SHORT,
    SearchColumns,
    check_frame,
    problem_of,
    raise_problem,
    rows_of,
)
from fastlsh.integrations.spark.workers import check_workers
from fastlsh.parameters import SearchParams, check_params
from fastlsh.search import warn_of_long_shingles
from fastlsh.stages import check_keep

REPORTED = 1000
"""Problems that are looked at; the worst of them is named."""

PROBLEM = f"earlier BETWEEN {NOT_EMPTY + 1} AND -1"
"""Which rows of `_links` are no links and no counts."""


def family_rows(
    df: Any,
    against: Any | None,
    columns: SearchColumns,
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
        (family, fixed, id, text[, priority]), and `SearchColumns.values`.
    """
    check_choice(families, "families")
    if partitions is not None:
        check_integer(partitions, "partitions")
    rows = rows_of(df, against, columns)
    all_links = _links(rows, columns, params, partitions).persist()
    try:
        counts = _counts_of(all_links)
        if counts["problems"]:
            wrong = all_links.where(PROBLEM).limit(REPORTED).collect()
            raise_problem(rows, columns, [(row["earlier"], row["later"]) for row in wrong])
        warn_of_long_shingles([(counts["short"], counts["not_empty"])], params.shingler)
        links = all_links.where("earlier >= 0")
        if families == "auto":
            families = "driver" if 16 * counts["links"] <= finding.LINKS else "rounds"
        find = finding.on_driver if families == "driver" else finding.by_rounds
        return rows.join(find(links), "number").drop("number", "bad")
    finally:
        all_links.unpersist()


def _links(rows: Any, columns: SearchColumns, params: SearchParams, partitions: int | None) -> Any:
    """Return (later, earlier), and what is wrong."""
    within = [] if columns.within is None else ["within"]
    problem = problem_of(rows, columns).alias("problem")
    ranked = [] if columns.priority is None else ["priority"]
    keys = rows.select("number", problem, "text", *within, *ranked).mapInArrow(
        workers.signer(params), "key long, number long"
    )
    together = _by(keys, "key", partitions).sortWithinPartitions("key", "number")
    return together.mapInArrow(workers.link, "later long, earlier long")


def _counts_of(all_links: Any) -> Any:
    """Return the numbers of links, problems, and short and other documents, in one job for all."""
    count = "coalesce(sum(if(earlier = {}, later, 0)), 0) AS {}"
    (counts,) = all_links.selectExpr(
        "count_if(earlier >= 0) AS links",
        f"count_if({PROBLEM}) AS problems",
        count.format(SHORT, "short"),
        count.format(NOT_EMPTY, "not_empty"),
    ).collect()
    return counts


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
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StructField, StructType

    types = {
        "id": rows.schema["id"].dataType, "double": DoubleType(), "boolean": BooleanType(),
        "long": LongType(),
    }  # fmt: skip
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


@dataclass(frozen=True)
class Search:
    """A search whose families are known."""

    rows: Any
    params: SearchParams
    keep: str | None
    removal: RemovalRules
    columns: SearchColumns
    partitions: int | None

    @property
    def id(self) -> str:
        """The column of ids."""
        return self.columns.id

    def work(self, method: str, schema: Mapping[str, str]) -> Any:
        """Return what a method of `workers.Decider` yields."""

        def worker(sizes: tuple[int, int]) -> workers.Worker:
            decider = workers.Decider(self.params, self.keep, self.removal, self.columns, *sizes)
            task: workers.Worker = getattr(decider, method)
            return task

        return work(self.rows, worker, schema, self.partitions)


def search(
    df: Any,
    threshold: float,
    *,
    removal: RemovalRules,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",  # noqa: A002
    within: str | None = None,
    keep: str = "first",
    priority: str | None = None,
    against: Any | None = None,
    max_candidates: int = 1000,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: Any,
) -> Search:
    """Check the arguments, and find the families."""
    params = check_params(SearchParams.of(threshold, **keywords))
    check_keep(keep, with_priority=priority is not None)
    columns = SearchColumns(
        text, id, priority, join_with, roles, within, removal.labels, removal.counts
    )  # fmt: skip
    check_frame(df, columns)
    check_workers(df)
    if against is not None:
        check_frame(against, columns, "against")
    rows = family_rows(df, against, columns, params, partitions, families)
    kept = None if priority is not None else keep
    return Search(rows, params, kept, removal, columns, partitions)
