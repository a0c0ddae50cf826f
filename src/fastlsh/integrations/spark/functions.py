"""The functions for Spark DataFrames."""

from typing import TYPE_CHECKING, Any

from fastlsh.arguments import check_integer
from fastlsh.integrations.spark import workers
from fastlsh.integrations.spark.columns import Columns, check_frame, quoted
from fastlsh.integrations.spark.engine import family_rows, work
from fastlsh.integrations.spark.worker_python import check_workers
from fastlsh.keywords import made, shares
from fastlsh.parameters import REMOVAL_ONLY, SearchParams, check_params
from fastlsh.stages import check_keep

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import RemovalKeywords, SearchKeywords


@shares(SearchParams.of)
def deduplicate(
    df: Any,
    threshold: float = 0.8,
    *,
    text: str = "text",
    id: str = "id",
    keep: str = "first",
    priority: str | None = None,
    against: Any | None = None,
    max_candidates: int = 1000,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: "Unpack[RemovalKeywords]",
) -> Any:
    """Return the rows of a DataFrame without near-duplicates.

    The answer is that of `fastlsh.deduplicate` for the same documents in the order of their ids,
    to the bit. It does not depend on the partitioning or the order of the rows. docs/spark.md
    describes what is shuffled, and how much memory a task needs.

    Parameters
    ----------
    df
        A DataFrame. It is read three times, and must have the same rows each time: write or
        persist it if it is expensive to compute, or depends on random numbers.
    threshold
        As in `fastlsh.deduplicate`.
    text
        The column of texts: strings, or binary values in UTF-8. Null is an empty document.
    id
        The column of ids, unique and without nulls, of any type that Spark can sort and hash. Where
        `fastlsh.deduplicate` refers to the first or earlier document, it is the one with the
        smaller id here.
    keep
        "first" (the smallest id), "last" or "longest".
    priority
        Instead of `keep`: the name of a column of numbers, of which the highest is kept; ties go to
        the smaller id.
    against
        A second DataFrame with the same two columns, whose documents are all kept. Its ids may
        also occur in `df`.
    max_candidates
        As in `fastlsh.deduplicate`; `limited_documents` returns the documents that it affected.
    partitions
        The number of partitions of both shuffles; by default spark.sql.shuffle.partitions.
    families
        Where families are found. "driver": by one union-find on the driver, which collects the
        links, at 16 bytes each. "rounds": on the executors, which needs spark.checkpoint.dir.
        "auto": on the driver unless the links exceed 512 MB. The answer is the same.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept rows of `df`, with all columns. Computing signatures and families runs before this
        function returns, the rest when the rows are used.

    Raises
    ------
    TypeError, ValueError
        An argument or a column is unsuitable, ids are null or not unique, texts are not UTF-8, or
        priorities are null or NaN; the message names the column and the id.

    Notes
    -----
    Functions in a shingler are sent to the executors by cloudpickle. A key is not sent with the
    job: executors read it from the file that their environment variable ``FASTLSH_KEY_FILE`` names,
    and fail without it.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, "some text"), (2, "some text"), (3, "")], ["id", "text"])
    >>> deduplicate(df).sort("id").collect()
    [Row(id=1, text='some text'), Row(id=3, text='')]
    """
    removed = proofs(
        df, threshold, text=text, id=id, keep=keep, priority=priority, against=against,
        max_candidates=max_candidates, partitions=partitions, families=families, **keywords,
    )  # fmt: skip
    removed = removed.select(removed["id"].alias("_fastlsh_removed"))
    return df.join(removed, quoted(id) == quoted("_fastlsh_removed"), "left_anti")


@shares(deduplicate)
def proofs(df: Any, threshold: float = 0.8, **options: Any) -> Any:
    """Return for each document that `deduplicate` removes the kept document that it resembles.

    Parameters
    ----------
    df, threshold
        As in `deduplicate`.

    Returns
    -------
    pyspark.sql.DataFrame
        (id, kept_id, similarity), one row for each removed document. With the rule "contained",
        the third column is named "containment". With `against`, there is also a column `against`,
        which tells whether `kept_id` is an id of that collection. To get both the proofs and the
        kept rows from one run, persist or write the proofs, and then use
        ``df.join(proofs, "id", "left_anti")``.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, "some text"), (2, "some text"), (3, "")], ["id", "text"])
    >>> proofs(df).collect()
    [Row(id=2, kept_id=1, similarity=1.0)]
    """
    measure = "containment" if options.get("rule") == "contained" else "similarity"
    decided = _decided(df, threshold, **options).where("NOT limited")
    flags = ["against"] if options.get("against") is not None else []
    return decided.withColumnRenamed("similarity", measure).select("id", "kept_id", measure, *flags)


@shares(deduplicate)
def clusters(df: Any, threshold: float = 0.8, **options: Any) -> Any:
    """Return each kept document of `df` that has near-duplicates, and the ids removed for it.

    Parameters
    ----------
    df, threshold
        As in `deduplicate`.

    Returns
    -------
    pyspark.sql.DataFrame
        (kept_id, removed), where `removed` is an array of ids in ascending order. Each row must
        fit into the memory of a task; for very large clusters, use `proofs` instead.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, "some text"), (2, "some text"), (3, "")], ["id", "text"])
    >>> clusters(df).collect()
    [Row(kept_id=1, removed=[2])]
    """
    from pyspark.sql import functions

    decided = _decided(df, threshold, **options)
    decided = decided.where("NOT limited AND NOT against")
    removed = functions.sort_array(functions.collect_list("id"))
    return decided.groupBy("kept_id").agg(removed.alias("removed"))


@shares(deduplicate)
def limited_documents(df: Any, threshold: float = 0.8, **options: Any) -> Any:
    """Return the ids of kept documents that could not be compared with every candidate.

    Parameters
    ----------
    df, threshold
        As in `deduplicate`.

    Returns
    -------
    pyspark.sql.DataFrame
        (id), the documents of `Deduplication.limited_documents`.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, "some text"), (2, "some text"), (3, "")], ["id", "text"])
    >>> limited_documents(df).count()
    0
    """
    return _decided(df, threshold, **options).where("limited").select("id")


def _decided(
    df: Any,
    threshold: float,
    *,
    text: str = "text",
    id: str = "id",
    keep: str = "first",
    priority: str | None = None,
    against: Any | None = None,
    max_candidates: int = 1000,
    partitions: int | None = None,
    families: str = "auto",
    **search: Any,
) -> Any:
    """Return (id, kept_id, similarity, against, limited) of removed or limited documents."""
    params = check_params(SearchParams.of(threshold, **search))
    max_candidates = check_integer(max_candidates, "max_candidates")
    check_keep(keep, with_priority=priority is not None)
    columns = Columns(text, id, priority)
    check_frame(df, columns)
    check_workers(df)
    if against is not None:
        check_frame(against, columns, "against")
    rows = family_rows(df, against, columns, params, partitions, families)
    return work(
        rows,
        lambda sizes: workers.decider(
            params, None if priority is not None else keep, max_candidates, *sizes
        ),
        {"id": "id", "kept_id": "id", "similarity": "double", "against": "boolean",
         "limited": "boolean"},
        partitions,
    )  # fmt: skip


@shares(SearchParams.of, without=REMOVAL_ONLY)
def near_duplicates(
    df: Any,
    threshold: float = 0.8,
    *,
    text: str = "text",
    id: str = "id",
    max_pairs: int = 100_000_000,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: "Unpack[SearchKeywords]",
) -> Any:
    """Return all pairs of documents whose Jaccard similarity is at least `threshold`.

    Parameters
    ----------
    df, threshold, text, id, partitions, families
        As in `deduplicate`.
    max_pairs
        Raise an error if a part, which consists of at least one family, has more pairs. They are
        counted before they take memory. This happens on the executors, so Spark reports the error
        when the rows are used.

    Returns
    -------
    pyspark.sql.DataFrame
        (left_id, right_id, similarity), with left_id < right_id. To the bit, these are the pairs of
        `fastlsh.near_duplicates` for the same documents in the order of their ids.

    Raises
    ------
    TypeError, ValueError
        As in `deduplicate`.

    Examples
    --------
    >>> df = spark.createDataFrame([(1, "some text"), (2, "some text"), (3, "")], ["id", "text"])
    >>> near_duplicates(df).collect()
    [Row(left_id=1, right_id=2, similarity=1.0)]
    """
    params = made(SearchParams.of, keywords, threshold)
    max_pairs = check_integer(max_pairs, "max_pairs")
    columns = Columns(text, id)
    check_frame(df, columns)
    check_workers(df)
    found = family_rows(df, None, columns, params, partitions, families)
    return work(
        found,
        lambda sizes: workers.pairer(params, max_pairs, *sizes),
        {"left_id": "id", "right_id": "id", "similarity": "double"},
        partitions,
    )
