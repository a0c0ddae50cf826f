"""The way of the rows through Spark: keys, links, families, parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastlsh.arguments import check_choice, check_integer
from fastlsh.files import RemovalRules
from fastlsh.integrations.spark import families as finding
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
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams, check_also
from fastlsh.search import warn_of_long_shingles
from fastlsh.stages import check_keep, hasher_for

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


def _by(frame: Any, column: str, partitions: int | None) -> Any:
    """Bring the rows with the same value together."""
    if partitions is None:
        return frame.repartition(column)
    return frame.repartition(partitions, column)


@dataclass(frozen=True)
class Search:
    """A search whose families are known.

    Attributes
    ----------
    rows : pyspark.sql.DataFrame
        As `family_rows` returns them.
    answers : workers.Answers
        What workers do with whole families of them.
    partitions : int or None
        How many partitions the families are divided into.
    """

    rows: Any
    answers: workers.Answers
    partitions: int | None

    def work(self, method: str, schema: Mapping[str, str]) -> Any:
        """Return what a method of `workers.Answers` yields.

        `schema` has the types of its columns by name; "id" is the type of the ids.
        """
        from pyspark.sql import functions
        from pyspark.sql.types import BooleanType, DoubleType, LongType, StructField, StructType

        types = {
            "id": self.rows.schema["id"].dataType, "double": DoubleType(),
            "boolean": BooleanType(), "long": LongType(),
        }  # fmt: skip
        fields = [StructField(name, types[kind]) for name, kind in schema.items()]
        ordered = _by(self.rows, "family", self.partitions).sortWithinPartitions(
            "family", functions.desc("fixed"), "id"
        )
        return ordered.mapInArrow(getattr(self.answers, method), StructType(fields))


def search(
    df: Any,
    threshold: float,
    *,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",  # noqa: A002
    within: str | None = None,
    also: str | None = None,
    keep: str = "first",
    priority: str | None = None,
    against: Any | None = None,
    annotate: bool = False,
    max_copies: int | None = None,
    copies_per: tuple[str, int] | None = None,
    source: str | None = None,
    count: str | Sequence[str] = (),
    max_candidates: int = 1000,
    max_pairs: int = 1,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: Any,
) -> Search:
    """Check the arguments, and find the families."""
    removal = RemovalRules.of(
        keep, max_candidates, annotate, max_copies, copies_per, source, count, has_clusters=False
    )
    params = SearchParams.of(threshold, **keywords)
    hasher_for(params, RunOptions.of(1))  # which refuses what needs the whole collection
    check_also(also, params)
    check_keep(keep, with_priority=priority is not None)
    check_integer(max_pairs, "max_pairs")
    columns = SearchColumns(
        text, id, priority, join_with, roles, within, removal.labels, removal.counts, also
    )  # fmt: skip
    check_frame(df, columns)
    check_workers(df)
    if against is not None:
        check_frame(against, columns, "against")
    rows = family_rows(df, against, columns, params, partitions, families)
    kept = None if priority is not None else keep
    answers = workers.Answers(
        params, kept, removal, columns, max_pairs, finding.PART, finding.SPILL
    )
    return Search(rows, answers, partitions)
