"""The columns of a DataFrame that a search needs, checked and brought into one shape."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fastlsh.io import NOT_UTF8, Options, texts_of_columns
from fastlsh.io import are_messages as are_arrow_messages

STRINGS = ("string", "char", "varchar")
BINARY = "binary"
MAX_NUMBER = 2**63 - 1
FRACTIONS = ("float", "double")
NUMBERS = ("byte", "short", "integer", "long", "boolean", *FRACTIONS)
PRIORITIES = (*NUMBERS, *STRINGS, "decimal", "date", "timestamp", "timestamp_ntz")

NULL_ID, BAD_PRIORITY, BAD_TEXT, REPEATED = -4, -3, -2, -1
BAD_MESSAGE, NO_VALUE = -5, -6
"""What can be wrong with a document; workers report it in the place of a document number.

NO_VALUE - i: the i-th of `SearchColumns.values` has NaN; or null, if it is summed.
"""

NOT_EMPTY, SHORT = -(1 << 62), -(1 << 62) - 1
"""In the same place, and no problems: they stand before a number of documents that are not empty,
and before a number of documents that are shorter than a shingle."""


@dataclass(frozen=True)
class SearchColumns:
    """Which columns of the user's DataFrames a search reads, and what they are called."""

    text: str | Sequence[str]
    id: str
    priority: str | None = None
    """The column that holds priorities."""
    join_with: str = "\n"
    roles: Sequence[str] | None = None
    """As in `fastlsh.io.ReadOptions`."""
    within: str | None = None
    """The column of groups."""
    labels: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    """The columns of sources and other labels, and those that are summed."""
    also: str | None = None
    """The column of second texts."""

    @cached_property
    def read(self) -> Options:
        """How texts are made of the columns."""
        return Options(text=self.text, join_with=self.join_with, roles=self.roles)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of the texts."""
        return self.read.texts()

    @property
    def shown(self) -> str:
        """What messages call them."""
        return " and ".join(map(repr, self.texts))

    @property
    def values(self) -> dict[str, str]:
        """The columns of groups, labels and numbers, by the names that the rows have then."""
        within = {} if self.within is None else {"within": self.within}
        labels = {f"label_{number}": name for number, name in enumerate(self.labels)}
        counts = {f"count_{number}": name for number, name in enumerate(self.counts)}
        return {**within, **labels, **counts}


def check_frame(df: Any, columns: SearchColumns, name: str = "df") -> None:
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
    if not isinstance(columns.text, str) and not hasattr(columns.text, "__iter__"):
        raise TypeError(f"text must be the name of a column, got {columns.text!r}")
    requested = [*(("text", text) for text in columns.texts), ("id", columns.id)]
    if columns.within is not None:
        requested.append(("within", columns.within))
    if columns.also is not None:
        requested.append(("also", columns.also))
    if name == "df":
        if columns.priority is not None:
            requested.append(("priority", columns.priority))
        requested += [("source or copies_per", label) for label in columns.labels]
        requested += [("count", count) for count in columns.counts]
    for argument, column in requested:
        if not isinstance(column, str):
            raise TypeError(f"{argument} must be the name of a column, got {column!r}")
        occurrences = df.columns.count(column)
        if occurrences != 1:
            raise ValueError(
                f"{argument} must be a column of {name}, which has "
                f"{occurrences or 'no'} {column!r}; it has {', '.join(df.columns)}"
            )
    _check_texts(df, columns, name)
    for argument, column in requested:
        kind = df.schema[column].dataType
        if argument == "also" and kind.typeName() not in STRINGS:
            raise TypeError(
                f"column {column!r} of {name} must hold strings, got {kind.simpleString()}"
            )
        if argument == "priority" and kind.typeName() not in PRIORITIES:
            raise TypeError(
                f"column {column!r} must hold numbers or dates, the priorities, got"
                f" {kind.simpleString()}"
            )
        if argument == "count" and kind.typeName() not in NUMBERS:
            raise TypeError(
                f"column {column!r} must hold numbers to be summed, got {kind.simpleString()}"
            )
        if argument in ("within", "source or copies_per") and kind.typeName() not in (
            *STRINGS, *NUMBERS,
        ):  # fmt: skip
            raise TypeError(
                f"column {column!r} of {name} must hold strings or numbers, got"
                f" {kind.simpleString()}"
            )
    _check_order(df, columns.id, name)


def are_messages(kind: Any) -> bool:
    """Whether a type of Spark is one of lists of messages."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return are_arrow_messages(to_arrow_type(kind))
    except PySparkTypeError:  # a type that Arrow does not have
        return False


def _check_texts(df: Any, columns: SearchColumns, name: str) -> None:
    """Raise unless texts can be made of the columns."""
    several, lists = len(columns.texts) > 1, False
    for column in columns.texts:
        kind = df.schema[column].dataType
        lists = lists or are_messages(kind)
        if kind.typeName() in STRINGS or are_messages(kind):
            continue
        if several or kind.typeName() != BINARY:
            types = "strings or messages" if several else "strings or binary (UTF-8), or messages"
            raise TypeError(
                f"column {column!r} of {name} must hold {types}, got {kind.simpleString()}"
            )
    if columns.roles is not None and not lists:
        raise ValueError(f"roles is for messages, which column {columns.shown} of {name} has not")
    if columns.join_with != "\n" and not several and not lists:
        raise ValueError("join_with is for texts of several columns or messages, not for one")


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


def rows_of(df: Any, against: Any | None, columns: SearchColumns) -> Any:
    """Return (number, fixed, id, text, bad[, priority]) and the `values` of all documents.

    `bad` is 0 or says what is wrong with the text.

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
        ]
        if columns.priority is not None:
            kind = df.schema[columns.priority].dataType
            priority = functions.lit(None).cast(kind) if fixed else quoted(columns.priority)
            selected.append(priority.alias("priority"))
        if columns.also is not None:
            selected.append(quoted(columns.also).alias("also"))
        for name, column in columns.values.items():
            kind = df.schema[column].dataType
            value = quoted(column)
            if name.startswith("count_"):
                kind = "double" if kind.typeName() in FRACTIONS else "long"
                value = value.cast(kind)
            if fixed and name != "within":  # the documents of against have none
                value = functions.lit(0).cast(kind)
            selected.append(value.alias(name))
        return _with_texts(frame, selected, columns)

    rows = shaped(df, False)
    if against is None:
        return rows
    same = [columns.id, *columns.texts, columns.within, columns.also]
    for column in (name for name in same if name is not None):
        ours, theirs = (side.schema[column].dataType.simpleString() for side in (df, against))
        if ours != theirs:
            raise TypeError(
                f"column {column!r} must have the same type in both collections, got "
                f"{ours} in df and {theirs} in against"
            )
    return rows.unionAll(shaped(against, True))


def _bad_message(columns: SearchColumns) -> str:
    return f"a message in column {columns.shown} has no role, or a part no type"


def _with_texts(frame: Any, selected: list[Any], columns: SearchColumns) -> Any:
    """Return columns of a DataFrame, and (text, bad) behind them.

    Where the text is not one column as it is, the workers of Spark make it.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import LongType, StringType, StructType

    first, *others = columns.texts
    if not others and not are_messages(frame.schema[first].dataType):
        text = quoted(first).alias("text")
        return frame.select(*selected, text, functions.lit(0).cast("long").alias("bad"))
    texts = [quoted(name).alias(f"text_{number}") for number, name in enumerate(columns.texts)]
    rows = frame.select(*selected, *texts)
    schema = StructType(rows.schema.fields[: len(selected)])
    schema = schema.add("text", StringType()).add("bad", LongType())
    return rows.mapInArrow(text_maker(columns, len(selected)), schema)


def text_maker(columns: SearchColumns, others: int) -> Any:
    """Return a worker that makes (text, bad) of the columns behind so many others."""

    def make(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            table = pyarrow.Table.from_batches([batch])
            named = dict(zip(columns.texts, table.columns[others:], strict=True))
            texts, wrong = texts_of_columns(named, columns.read)
            bad = np.zeros(len(table), np.int64)
            for row, reason in wrong.items():
                bad[row] = BAD_TEXT if NOT_UTF8 in reason else BAD_MESSAGE
            made = [texts.cast(pyarrow.string()), pyarrow.array(bad)]
            names = [*table.column_names[:others], "text", "bad"]
            yield from pyarrow.table([*table.columns[:others], *made], names).to_batches()

    return make


def problem_of(rows: Any, columns: SearchColumns) -> Any:
    """Return a column that is 0, or says what Spark itself can see to be wrong with a document."""
    from pyspark.sql import functions

    none = functions.lit(0)
    for number, name in enumerate(columns.values):
        value = functions.col(name)
        wrong = value.isNull() if name.startswith("count_") else functions.lit(False)
        if rows.schema[name].dataType.typeName() in FRACTIONS:
            wrong = wrong | functions.isnan(value)
        none = functions.when(wrong, NO_VALUE - number).otherwise(none)
    none = functions.when(functions.col("bad") < 0, functions.col("bad")).otherwise(none)
    return functions.when(functions.col("id").isNull(), NULL_ID).otherwise(none)


def raise_problem(rows: Any, columns: SearchColumns, problems: list[tuple[int, int]]) -> None:
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
    numbers = sorted(number for problem_code, number in problems if problem_code == code)
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
        wrong = row["priority"]
        message = f"{shown}: column {columns.priority!r} is {wrong!r}, neither a number nor a date"
    elif code == BAD_TEXT:
        message = f"{shown}: column {columns.shown} is not UTF-8"
    elif code == BAD_MESSAGE:
        message = f"{shown}: {_bad_message(columns)}"
    elif code <= NO_VALUE:
        name = list(columns.values.values())[NO_VALUE - code]
        problem = "no value (null or NaN)" if name in columns.counts else "NaN"
        message = f"{shown}: column {name!r} holds {problem}"
    else:
        times = f"occurs {row['count']} times in column {columns.id!r}"
        message = f"{shown} {times}: ids must be unique"
    raise ValueError(message)
