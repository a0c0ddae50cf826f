"""Decontamination of Spark DataFrames: the items go to every task, and no row is shuffled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.integrations.spark.columns import Columns, check_frame, quoted, text_column
from fastlsh.integrations.spark.record_texts import are_messages
from fastlsh.integrations.spark.worker_python import check_workers
from fastlsh.keywords import made, shares
from fastlsh.results import Boilerplate
from fastlsh.search import (
    ContaminationParams,
    Items,
    boilerplate_of,
    cuts_of,
    grams_of_items,
    items_in,
    most_contained,
    without_boilerplate,
)
from fastlsh.stages import BOILERPLATE, Found, ItemGrams, Tally, matches_in
from fastlsh.texts import Texts, as_texts, texts_without_spans

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.search import ContaminationKeywords

COUNT = -1
"""In the place of an n-gram: how many documents the sample has."""

ANNOTATIONS = {
    "contaminated_by": "string", "contamination_share": "double", "contamination_run": "long",
}  # fmt: skip


@shares(ContaminationParams.of)
def decontaminate(
    df: Any,
    items: Iterable[Any],
    *,
    text: str | Sequence[str] = "text",
    join_with: str = "\n",
    roles: Sequence[str] | None = None,
    id: str = "id",
    item_ids: Sequence[Any] | None = None,
    **keywords: "Unpack[ContaminationKeywords]",
) -> Any:
    """Return the rows of a DataFrame without what contains evaluation items.

    The answer is that of `fastlsh.decontaminate` for the same documents in the order of their ids,
    to the bit. It does not depend on the partitioning or the order of the rows.

    Parameters
    ----------
    df
        A DataFrame. It is read once for the sample and once for the rows, and must have the same
        rows both times.
    items, item_ids
        As in `fastlsh.decontaminate`. They are sent to every task, which makes their table.
    text
        The column of texts: strings, or binary values in UTF-8. Null is an empty document. Except
        by the rule "span", also several columns of strings, or messages, as in `deduplicate`.
    join_with, roles
        As in `deduplicate`.
    id
        A column with an order. The sample that tells what is boilerplate has the `sample`
        documents with the smallest values.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows that are left, with all columns; by the rule "span" with other texts, and by the
        rule "annotate" with the columns contaminated_by, contamination_share and
        contamination_run. The sample is read before this function returns.

    Raises
    ------
    TypeError, ValueError
        An argument or a column is unsuitable, or no item can be searched.

    Examples
    --------
    >>> question = "How many moons does the planet have that is nearest to the sun in our system?"
    >>> df = spark.createDataFrame([(1, "A page."), (2, f"Quiz. {question}")], ["id", "text"])
    >>> decontaminate(df, [question]).collect()
    [Row(id=1, text='A page.')]
    """
    params = made(ContaminationParams.of, keywords)
    columns = Columns(text, id, None, join_with, roles)
    search = _sampled(df, items, columns, item_ids, params).search
    schema = df.schema
    joined = _is_joined(df, columns)
    if joined and params.rule == "span":
        raise ValueError(
            f"rule='span' cuts one column of texts, not what is joined from {columns.shown}"
        )
    if search.params.rule == "annotate":
        for name in ANNOTATIONS:
            if name in df.columns:
                raise ValueError(f"df has a column {name!r} already: rename it")
        from pyspark.sql.types import StructType

        schema = StructType(list(schema.fields))  # not to change that of df
        for name, kind in ANNOTATIONS.items():
            schema = schema.add(name, kind)
    if not joined:
        return df.mapInArrow(_Rows(search, df.columns.index(columns.texts[0])), schema)
    with_text = df.select("*", text_column(df, columns).alias("_fastlsh_text"))
    return with_text.mapInArrow(_Rows(search, len(df.columns), joined=True), schema)


@shares(decontaminate)
def contamination(df: Any, items: Iterable[Any], **options: Any) -> Any:
    """Return each place where a document of a DataFrame has text in common with an item.

    Parameters
    ----------
    df, items
        As in `decontaminate`.

    Returns
    -------
    pyspark.sql.DataFrame
        (id, item_id, share, longest_run, field, start, end), as `fastlsh.decontaminate` returns
        them. `item_id` is a text, or the number of the item if there are no `item_ids`.

    Examples
    --------
    >>> question = "How many moons does the planet have that is nearest to the sun in our system?"
    >>> df = spark.createDataFrame([(1, "A page."), (2, f"Quiz. {question}")], ["id", "text"])
    >>> contamination(df, [question]).select("id", "item_id", "start", "end").collect()
    [Row(id=2, item_id=0, start=6, end=82)]
    """
    columns, item_ids, params = _taken(options)
    search = _sampled(df, items, columns, item_ids, params).search
    from pyspark.sql.types import StructField, StructType

    rows = df.select(quoted(columns.id).alias("id"), text_column(df, columns).alias("text"))
    schema = StructType([StructField("id", df.schema[columns.id].dataType)])
    schema = schema.add("item_id", "long" if item_ids is None else "string")
    schema = schema.add("share", "double").add("longest_run", "long").add("field", "string")
    return rows.mapInArrow(_Hits(search), schema.add("start", "long").add("end", "long"))


@shares(decontaminate)
def boilerplate(df: Any, items: Iterable[Any], **options: Any) -> list[Boilerplate]:
    """Return the n-grams of items that do not count, because many documents contain them alone.

    Parameters
    ----------
    df, items
        As in `decontaminate`.

    Returns
    -------
    list of (text, documents)
        As `fastlsh.decontaminate` returns them, with the numbers of documents of the sample.

    Examples
    --------
    >>> question = "How many moons does the planet have that is nearest to the sun in our system?"
    >>> df = spark.createDataFrame([(1, "A page."), (2, f"Quiz. {question}")], ["id", "text"])
    >>> boilerplate(df, [question])
    []
    """
    sampled = _sampled(df, items, *_taken(options))
    return boilerplate_of(sampled.grams, sampled.tally)


def _taken(options: dict[str, Any]) -> tuple[Columns, Sequence[Any] | None, ContaminationParams]:
    """Return what the keyword arguments of a function say."""
    names = {"text": "text", "id": "id", "join_with": "\n", "roles": None, "item_ids": None}
    given = {name: options.pop(name, value) for name, value in names.items()}
    item_ids = given.pop("item_ids")
    return Columns(**given), item_ids, made(ContaminationParams.of, options)


def _is_joined(df: Any, columns: Columns) -> bool:
    """Whether texts are made of several columns or of messages."""
    return len(columns.texts) > 1 or are_messages(df.schema[columns.texts[0]].dataType)


@dataclass(frozen=True)
class _Search:
    """What a task needs: the items, and which of their n-grams are boilerplate."""

    items: Items
    ids: list[str] | None
    params: ContaminationParams
    boilerplate: NDArray[np.int64]

    def grams(self) -> ItemGrams:
        """Return the table of the items."""
        grams = grams_of_items(self.items, self.params)
        return grams.without(self.boilerplate, BOILERPLATE) if len(self.boilerplate) else grams

    def found(self, grams: ItemGrams, texts: Texts) -> Found:
        """Return the items in some documents."""
        return items_in(grams, texts, matches_in(grams, texts, 0, len(texts)), self.params)

    def named(self, items: NDArray[np.int64]) -> Any:
        """Return the ids of items, or their numbers."""
        return items if self.ids is None else [self.ids[item] for item in items.tolist()]


class _Sampled(NamedTuple):
    """A search, and what the sample has shown."""

    search: _Search
    grams: ItemGrams
    tally: Tally


def _sampled(
    df: Any,
    items: Iterable[Any],
    columns: Columns,
    item_ids: Sequence[Any] | None,
    params: ContaminationParams,
) -> _Sampled:
    """Check the arguments, and find boilerplate in the sample."""
    given = Items.of(items)
    checked = check_ids(item_ids, given.n_items, "item_ids")
    check_frame(df, columns)
    check_workers(df)
    grams = grams_of_items(given, params)
    if not grams.sizes.any():
        raise ValueError("no evaluation item can be searched: each has too few words, or only"
                         " n-grams that more items share than max_items allows")  # fmt: skip
    tally, total = Tally.empty(grams), 0
    ids = None if checked is None else [str(each) for each in checked]
    search = _Search(given, ids, params, np.empty(0, np.int64))
    if params.boilerplate_share is None:
        return _Sampled(search, grams, tally)
    sample = df.orderBy(quoted(columns.id)).limit(params.sample)
    sample = sample.select(text_column(df, columns).alias("text"))
    counted = sample.mapInArrow(_Counts(search), "text bigint, documents bigint, alone bigint")
    for number, documents, alone in counted.collect():
        if number == COUNT:
            total += documents
            continue
        tally.documents[number] += documents
        tally.alone[number] += alone
    grams = without_boilerplate(grams, tally, total, params)
    search = replace(search, boilerplate=np.flatnonzero(grams.reasons == BOILERPLATE))
    return _Sampled(search, grams, tally)


@dataclass(frozen=True)
class _Counts:
    """Counts the n-grams of the sample: (text), to (n-gram, documents, alone)."""

    search: _Search

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        grams = self.search.grams()
        tally, total = Tally.empty(grams), 0
        for batch in batches:
            texts = as_texts(batch.column(0))
            total += len(texts)
            for matches in matches_in(grams, texts, 0, len(texts)):
                tally.add(grams, matches)
        seen = np.flatnonzero(tally.documents)
        yield _batch({
            "text": np.append(seen, COUNT),
            "documents": np.append(tally.documents[seen], total),
            "alone": np.append(tally.alone[seen], 0),
        })  # fmt: skip


@dataclass(frozen=True)
class _Hits:
    """Finds items: (id, text), to the columns of `contamination`."""

    search: _Search

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        search, grams = self.search, self.search.grams()
        for batch in batches:
            found = search.found(grams, as_texts(batch.column(1)))
            row = found.spans[:, 0]
            item = found.item[row]
            names = search.items.names
            yield _batch({
                "id": batch.column(0).take(pyarrow.array(found.document[row])),
                "item_id": search.named(item),
                "share": found.grams[row] / grams.sizes[item],
                "longest_run": found.run[row],
                "field": [names[field] for field in found.spans[:, 1].tolist()],
                "start": found.spans[:, 2], "end": found.spans[:, 3],
            })  # fmt: skip


@dataclass(frozen=True)
class _Rows:
    """Passes on what is left of rows; the texts are in a column with this number."""

    search: _Search
    column: int
    joined: bool = False
    """Whether this column is no column of the rows, but was made for the search."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        search, grams = self.search, self.search.grams()
        for batch in batches:
            texts = as_texts(batch.column(self.column))
            if self.joined:
                batch = batch.select(batch.schema.names[: self.column])
            found = search.found(grams, texts)
            if search.params.rule == "annotate":
                yield self._annotated(batch, found, grams)
                continue
            cuts, dropped = cuts_of(texts, found, search.params)
            changed = texts_without_spans(texts, cuts, search.params.join) if len(cuts) else {}
            if changed:
                batch = self._with_texts(batch, changed)
            kept = np.ones(len(texts), np.bool_)
            kept[dropped] = False
            yield batch if kept.all() else batch.filter(pyarrow.array(kept))

    def _with_texts(self, batch: Any, changed: dict[int, str]) -> Any:
        import pyarrow

        column = batch.column(self.column)
        values = column.to_pylist()
        binary = "binary" in str(column.type)
        for document, text in changed.items():
            values[document] = text.encode("utf-8", "surrogatepass") if binary else text
        columns = list(batch.columns)
        columns[self.column] = pyarrow.array(values, column.type)
        return pyarrow.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _annotated(self, batch: Any, found: Found, grams: ItemGrams) -> Any:
        import pyarrow

        share = found.grams / grams.sizes[found.item]
        first = most_contained(found, share)
        names: list[str | None] = [None] * batch.num_rows
        shares, runs = np.zeros(batch.num_rows), np.zeros(batch.num_rows, np.int64)
        document = found.document[first]
        shares[document], runs[document] = share[first], found.run[first]
        named = self.search.named(found.item[first])
        for number, name in zip(document.tolist(), map(str, named), strict=True):
            names[number] = name
        added = [pyarrow.array(names, pyarrow.string()), pyarrow.array(shares), pyarrow.array(runs)]
        return pyarrow.RecordBatch.from_arrays(
            [*batch.columns, *added], names=[*batch.schema.names, *ANNOTATIONS]
        )


def _batch(columns: dict[str, Any]) -> Any:
    """Return an Arrow batch of arrays, lists of texts and Arrow arrays."""
    import pyarrow

    arrays = [
        pyarrow.array(each, pyarrow.string()) if isinstance(each, list)
        else pyarrow.array(each) if isinstance(each, np.ndarray) else each
        for each in columns.values()
    ]  # fmt: skip
    return pyarrow.record_batch(arrays, names=list(columns))
