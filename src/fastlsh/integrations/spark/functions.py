"""The functions for Spark DataFrames."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastlsh.integrations.spark.engine import search
from fastlsh.integrations.spark.search_columns import FRACTIONS, quoted
from fastlsh.keywords import shares
from fastlsh.parameters import SearchParams

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import RemovalKeywords, SearchKeywords


@shares(SearchParams.of)
def deduplicate(
    df: Any,
    threshold: float = 0.8,
    *,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",
    within: str | None = None,
    also: str | None = None,
    keep: str = "first",
    priority: str | None = None,
    against: Any | None = None,
    max_copies: int | None = None,
    copies_per: tuple[str, int] | None = None,
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
        The column of texts: strings, or binary values in UTF-8. Null is an empty document. Also
        several columns of strings, or columns of the messages of a chat (arrays of structs), which
        are joined to one text, as by `fastlsh.deduplicate_files`.
    join_with, roles
        As in `fastlsh.deduplicate_files`: what is between columns and messages, and whose messages
        count.
    id
        The column of ids, unique and without nulls, of any type that Spark can sort and hash. Where
        `fastlsh.deduplicate` refers to the first or earlier document, it is the one with the
        smaller id here.
    within
        A column of strings or numbers: only documents with the same value are compared. Null is a
        value of its own, and NaN is refused.
    also
        A column of strings, the second text of each document: a document is removed only if these
        are similar, too, as by `fastlsh.deduplicate`. Null is an empty text, similar to none.
    keep
        "first" (the smallest id), "last" or "longest".
    priority
        Instead of `keep`: the name of a column of numbers, dates, timestamps or texts of dates, of
        which the highest or latest is kept; ties go to the smaller id, and null and NaN are lower
        than every other.
    against
        A second DataFrame with the same columns `text`, `id`, `within` and `also`, whose documents
        are all kept. Its ids may also occur in `df`.
    max_copies, copies_per
        As in `fastlsh.deduplicate_files`: how many documents of each cluster are kept, by default
        one, and a column and how many are kept for each value of it.
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
        priorities are texts, but no dates; the message names the column and the id.

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
        join_with=join_with, roles=roles, within=within, also=also, max_copies=max_copies,
        copies_per=copies_per, max_candidates=max_candidates, partitions=partitions,
        families=families, **keywords,
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
        the third column is named "containment". With `also`, the column also_similarity follows.
        With `against`, there is also a column `against`,
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
    flags = [*_second_column(options), *(["against"] if options.get("against") is not None else [])]
    return decided.withColumnRenamed("similarity", measure).select("id", "kept_id", measure, *flags)


@shares(deduplicate)
def clusters(df: Any, threshold: float = 0.8, **options: Any) -> Any:
    """Return each kept document of `df` that has near-duplicates, and the ids removed for it.

    The clusters are stars: each removed document is near the kept one, and may also be near a
    document of another cluster. To divide documents so that no two near-duplicates are apart, find
    the connected components of all pairs (`near_duplicates`) instead.

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


@shares(deduplicate)
def annotate(
    df: Any,
    threshold: float = 0.8,
    *,
    source: str | None = None,
    count: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """Return all rows of `df` with columns that tell what `deduplicate` does with them.

    They are those of ``fastlsh dedup --annotate``.

    Parameters
    ----------
    df, threshold
        As in `deduplicate`.
    source
        A column, whose different values in each cluster are counted.
    count
        A column of numbers, or several, which are summed over each cluster.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows of `df` in any order, with the columns duplicate_of, the id of the kept document
        that the row's document duplicates, and similarity (containment by that rule), which are
        null for kept documents; cluster_size; with `source`, cluster_sources; and for each column
        of `count` cluster_NAME, of type bigint or double. Documents of `against` count for
        cluster_size only.

    Raises
    ------
    TypeError, ValueError
        As in `deduplicate`; `df` has a column of one of these names; `source` is NaN, or `count`
        is null or NaN, in a row; or `max_copies` or `copies_per` is given, which have no effect on
        all rows.

    Examples
    --------
    >>> rows = [(1, "some text", "a"), (2, "some text", "b"), (3, "", "b")]
    >>> df = spark.createDataFrame(rows, ["id", "text", "from"])
    >>> annotated = annotate(df, source="from").sort("id")
    >>> annotated.select("id", "duplicate_of", "cluster_size", "cluster_sources").collect()[1]
    Row(id=2, duplicate_of=1, cluster_size=2, cluster_sources=2)
    """
    from pyspark.sql import functions

    measure = "containment" if options.get("rule") == "contained" else "similarity"
    searched = search(df, threshold, annotate=True, source=source, count=count, **options)
    counts = searched.answers.removal.counts
    sources = [] if source is None else ["cluster_sources"]
    added = ["duplicate_of", measure, "cluster_size", *sources]
    added += [f"cluster_{name}" for name in counts]
    for name in added:
        if df.columns.count(name):
            raise ValueError(f"df has a column {name!r} already: rename it")
    kinds = {name: df.schema[name].dataType.typeName() for name in counts}
    types = {name: "double" if kind in FRACTIONS else "long" for name, kind in kinds.items()}
    schema = {"id": "id", "duplicate_of": "id", measure: "double", "cluster_size": "long"}
    schema |= dict.fromkeys(sources, "long")
    schema |= {f"cluster_{name}": kind for name, kind in types.items()}
    annotations = searched.work("annotations", schema).withColumnRenamed("id", "_fastlsh_id")
    defaults = [functions.lit(1)] * (1 + len(sources))
    defaults += [quoted(name).cast(kind) for name, kind in types.items()]
    joined = df.join(
        annotations, quoted(searched.answers.columns.id) == quoted("_fastlsh_id"), "left"
    )
    filled = [
        functions.coalesce(quoted(name), value).alias(name)
        for name, value in zip(added[2:], defaults, strict=True)
    ]
    return joined.select(*map(quoted, [*df.columns, *added[:2]]), *filled)


def _decided(df: Any, threshold: float, **options: Any) -> Any:
    """Return (id, kept_id, similarity, against, limited) of removed or limited documents."""
    schema = {
        "id": "id", "kept_id": "id", "similarity": "double", "against": "boolean",
        "limited": "boolean", **_second_column(options),
    }  # fmt: skip
    return search(df, threshold, **options).work("proofs", schema)


def _second_column(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the column of the similarity of second texts, if there are any, and its type."""
    return {} if options.get("also") is None else {"also_similarity": "double"}


@shares(SearchParams.of, command="pairs")
def near_duplicates(
    df: Any,
    threshold: float = 0.8,
    *,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",
    within: str | None = None,
    also: str | None = None,
    max_pairs: int = 100_000_000,
    partitions: int | None = None,
    families: str = "auto",
    **keywords: "Unpack[SearchKeywords]",
) -> Any:
    """Return all pairs of documents whose Jaccard similarity is at least `threshold`.

    Parameters
    ----------
    df, threshold, text, join_with, roles, id, within, also, partitions, families
        As in `deduplicate`.
    max_pairs
        Raise an error if a part, which consists of at least one family, has more pairs. They are
        counted before they take memory. This happens on the executors, so Spark reports the error
        when the rows are used.

    Returns
    -------
    pyspark.sql.DataFrame
        (left_id, right_id, similarity), with left_id < right_id, and with `also` the column
        also_similarity. To the bit, these are the pairs of `fastlsh.near_duplicates` for the same
        documents in the order of their ids.

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
    searched = search(
        df, threshold, text=text, join_with=join_with, roles=roles, id=id, within=within,
        also=also, max_pairs=max_pairs, partitions=partitions, families=families, **keywords,
    )  # fmt: skip
    schema = {"left_id": "id", "right_id": "id", "similarity": "double"}
    return searched.work("pairs", schema | _second_column({"also": also}))
