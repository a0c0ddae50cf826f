"""The columns of a DataFrame that a search needs, checked and brought into one shape."""

from dataclasses import dataclass
from typing import Any

MAX_NUMBER = 2**63 - 1
TEXTS = ("string", "binary", "char", "varchar")
NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean")

NULL_ID, BAD_PRIORITY, BAD_TEXT, REPEATED = -4, -3, -2, -1
"""What can be wrong with a document; workers report it in the place of a document number."""


@dataclass(frozen=True)
class Columns:
    """Which columns of the user's DataFrames a search reads, and what they are called."""

    text: str
    id: str
    priority: str | None = None
    """The column that holds priorities."""


def check_frame(df: Any, columns: Columns, name: str = "df") -> None:
    """Raise unless `df` is a DataFrame with suitable columns.

    Raises
    ------
    TypeError
        No Spark DataFrame, or a column of an unsuitable type; the message names it.
    ValueError
        An absent column, or a stream.
    """
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"{name} must be a Spark DataFrame, got {type(df).__name__}")
    if df.isStreaming:
        raise ValueError(f"{name} is a stream, whose near-duplicates are never complete")
    wanted = {"text": columns.text, "id": columns.id}
    if columns.priority is not None and name == "df":
        wanted["priority"] = columns.priority
    for argument, column in wanted.items():
        if not isinstance(column, str):
            raise TypeError(f"{argument} must be the name of a column, got {column!r}")
        found = df.columns.count(column)
        if found != 1:
            raise ValueError(
                f"{argument} must be a column of {name}, which has "
                f"{found or 'no'} {column!r}; it has {', '.join(df.columns)}"
            )
    text = df.schema[columns.text].dataType
    if text.typeName() not in TEXTS:
        raise TypeError(
            f"column {columns.text!r} of {name} must hold strings or binary (UTF-8), "
            f"got {text.simpleString()}"
        )
    if "priority" in wanted and df.schema[columns.priority].dataType.typeName() not in NUMBERS:
        raise TypeError(
            f"column {columns.priority!r} must hold numbers, the priorities, "
            f"got {df.schema[columns.priority].dataType.simpleString()}"
        )
    _check_order(df, columns.id, name)


def _check_order(df: Any, column: str, name: str) -> None:
    """Raise TypeError unless Spark can sort and hash the ids."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions

    try:
        ids = df.select(quoted(column))
        _ = ids.orderBy(functions.xxhash64(quoted(column)), quoted(column)).schema
    except AnalysisException:
        kind = df.schema[column].dataType.simpleString()
        raise TypeError(
            f"column {column!r} of {name} must hold ids that have an order, got {kind}"
        ) from None


def quoted(column: str) -> Any:
    """Return a column by its name, whatever characters that has."""
    from pyspark.sql import functions

    return functions.col("`" + column.replace("`", "``") + "`")


def rows_of(df: Any, against: Any | None, columns: Columns) -> Any:
    """Return (number, fixed, id, text, priority) of all documents.

    Numbers are hashes of the ids, so they need no pass over the data, and do not depend on how
    the rows are divided. They need not be unique: two documents with the same number are in the
    same family, which may be larger than necessary. The order of documents is that of their ids.
    """
    from pyspark.sql import functions

    def shaped(frame: Any, fixed: bool) -> Any:
        key = quoted(columns.id)
        hashed = functions.xxhash64(key, functions.lit(True)) if fixed else functions.xxhash64(key)
        selected = [
            hashed.bitwiseAND(functions.lit(MAX_NUMBER)).alias("number"),
            functions.lit(fixed).alias("fixed"),
            key.alias("id"),
            quoted(columns.text).alias("text"),
        ]
        if columns.priority is not None:
            kind = df.schema[columns.priority].dataType
            priority = functions.lit(0).cast(kind) if fixed else quoted(columns.priority)
            selected.append(priority.alias("priority"))
        return frame.select(*selected)

    rows = shaped(df, False)
    if against is None:
        return rows
    for column in (columns.id, columns.text):
        ours, theirs = df.schema[column].dataType, against.schema[column].dataType
        if ours != theirs:
            raise TypeError(
                f"column {column!r} must have the same type in both collections, got "
                f"{ours.simpleString()} in df and {theirs.simpleString()} in against"
            )
    return rows.unionAll(shaped(against, True))


def problem_of(columns: Columns) -> Any:
    """Return a column that is 0, or says what can be seen to be wrong without reading the text."""
    from pyspark.sql import functions

    none = functions.lit(0)
    if columns.priority is not None:
        priority = functions.col("priority")
        wrong = priority.isNull() | functions.isnan(priority.cast("double"))
        none = functions.when(wrong, BAD_PRIORITY).otherwise(none)
    return functions.when(functions.col("id").isNull(), NULL_ID).otherwise(none)


def raise_problem(rows: Any, columns: Columns, problems: list[tuple[int, int]]) -> None:
    """Raise ValueError for the worst problem that workers have reported.

    Parameters
    ----------
    rows
        As `rows_of` returns them.
    columns
        What the user calls them.
    problems
        (code, document number) of some of them. Equal numbers are no problem if the ids differ.
    """
    from pyspark.sql import functions

    if not problems:
        return
    code = min(problems)[0]
    numbers = sorted(number for found, number in problems if found == code)
    named = rows.where(functions.col("number").isin(numbers))
    if code == REPEATED:
        groups = named.groupBy("fixed", "id").count().where("count > 1")
        row = groups.orderBy("fixed", "id").first()
        if row is None and named.count() >= 2 * len(numbers):
            return  # other ids with the same hash
    else:
        row = named.orderBy("fixed", "id").first()
    if row is None:
        raise ValueError(
            "df has other rows each time it is read, as after limit or with random numbers: "
            "persist or write it first"
        )
    where = " of against" if row["fixed"] else ""
    shown = f"id {row['id']!r}{where}"
    if code == NULL_ID:
        message = f"column {columns.id!r}{where} holds null: every document needs an id"
    elif code == BAD_PRIORITY:
        message = f"{shown}: column {columns.priority!r} holds no priority (null or NaN)"
    elif code == BAD_TEXT:
        message = f"{shown}: column {columns.text!r} is not UTF-8"
    else:
        times = f"occurs {row['count']} times in column {columns.id!r}"
        message = f"{shown} {times}: ids must be unique"
    raise ValueError(message)
