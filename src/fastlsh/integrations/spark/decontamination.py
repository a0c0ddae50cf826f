"""Decontamination of Spark DataFrames: the items go to every task, and no row is shuffled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.integrations.spark.columns import Columns, check_frame, quoted
from fastlsh.integrations.spark.worker_python import check_workers
from fastlsh.keywords import made, shares
from fastlsh.search import (
    ContaminationParams,
    Items,
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
    text: str = "text",
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
        The column of texts: strings, or binary values in UTF-8. Null is an empty document.
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
    search = _searched(df, items, text, id, item_ids, made(ContaminationParams.of, keywords))
    schema = df.schema
    if search.params.rule == "annotate":
        for name in ANNOTATIONS:
            if name in df.columns:
                raise ValueError(f"df has a column {name!r} already: rename it")
        from pyspark.sql.types import StructType

        schema = StructType(list(schema.fields))  # not to change that of df
        for name, kind in ANNOTATIONS.items():
            schema = schema.add(name, kind)
    return df.mapInArrow(_Rows(search, df.columns.index(text)), schema)


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
    text, id, item_ids = (  # noqa: A001
        options.pop("text", "text"), options.pop("id", "id"), options.pop("item_ids", None)
    )  # fmt: skip
    search = _searched(df, items, text, id, item_ids, made(ContaminationParams.of, options))
    from pyspark.sql.types import StructField, StructType

    rows = df.select(quoted(id).alias("id"), quoted(text).alias("text"))
    schema = StructType([StructField("id", df.schema[id].dataType)])
    schema = schema.add("item_id", "long" if item_ids is None else "string")
    schema = schema.add("share", "double").add("longest_run", "long").add("field", "string")
    return rows.mapInArrow(_Hits(search), schema.add("start", "long").add("end", "long"))


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


def _searched(
    df: Any,
    items: Iterable[Any],
    text: str,
    id: str,
    item_ids: Sequence[Any] | None,
    params: ContaminationParams,
) -> _Search:
    """Check the arguments, and find boilerplate in the sample."""
    given = Items.of(items)
    checked = check_ids(item_ids, given.n_items, "item_ids")
    check_frame(df, Columns(text, id))
    check_workers(df)
    grams = grams_of_items(given, params)
    if not grams.sizes.any():
        raise ValueError("no evaluation item can be searched: each has too few words, or only"
                         " n-grams that more items share than max_items allows")  # fmt: skip
    boilerplate = np.empty(0, np.int64)
    ids = None if checked is None else [str(each) for each in checked]
    search = _Search(given, ids, params, boilerplate)
    if params.boilerplate_share is None:
        return search
    sample = df.orderBy(quoted(id)).limit(params.sample).select(quoted(text).alias("text"))
    counted = sample.mapInArrow(_Counts(search), "text bigint, documents bigint, alone bigint")
    tally, total = Tally.empty(grams), 0
    for number, documents, alone in counted.collect():
        if number == COUNT:
            total += documents
            continue
        tally.documents[number] += documents
        tally.alone[number] += alone
    reasons = without_boilerplate(grams, tally, total, params).reasons
    return _Search(given, ids, params, np.flatnonzero(reasons == BOILERPLATE))


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

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        search, grams = self.search, self.search.grams()
        for batch in batches:
            texts = as_texts(batch.column(self.column))
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
