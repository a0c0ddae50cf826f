"""How often documents have come: counts that a database keeps beside the documents."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import rounded
from fastlsh.index.backend import Backend
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.settings import Bools, Int64s, UInt64s
from fastlsh.index.store import Batch, Count, Sources, Store, retry_until_consistent
from fastlsh.parallel import batches

TOGETHER = 1 << 14
"""Documents whose counts are read or written together."""


class Counted(NamedTuple):
    """What an index counts of its documents and their duplicates, beside how many there are."""

    source: str | None = None
    """The column whose different values are counted."""
    columns: tuple[str, ...] = ()
    """The columns that are summed."""

    def __bool__(self) -> bool:
        return self.source is not None or bool(self.columns)


class Arrivals(NamedTuple):
    """Documents that have come, in order, and the document of the index that stands for each."""

    head: Int64s
    """int64 (m,): the position of that document."""
    sources: UInt64s | None = None
    """uint64 (m,): a number for the source of each."""
    columns: Sequence[NDArray[Any]] = ()
    """int64 or float64 (m,): the numbers that are summed."""

    @classmethod
    def of(
        cls,
        what: Counted,
        documents: Int64s,
        head: Int64s,
        labels: Mapping[str, UInt64s],
        numbers: Mapping[str, NDArray[Any]],
    ) -> "Arrivals":
        """Return some of the documents of a run, given the columns of all."""
        sources = None if what.source is None else labels[what.source][documents]
        return cls(head, sources, [rounded(numbers[name])[documents] for name in what.columns])


def count_arrivals(
    store: Store, what: Counted, numbers: Int64s, is_new: Bools, arrivals: Arrivals
) -> None:
    """Raise the counts of documents, in a transaction of the store.

    Parameters
    ----------
    store
        An index that has these documents.
    what
        What it counts.
    numbers
        int64 (h,): the numbers of the documents.
    is_new
        bool (h,): which of them are among the arrivals, so that nothing was counted of them before.
    arrivals
        What has come.
    """
    if what:
        store.write(Batch(counted=json.dumps(what)))
    order = np.argsort(arrivals.head, kind="stable")
    ends = np.searchsorted(arrivals.head[order], np.arange(len(numbers) + 1)).tolist()
    for first, last in batches(len(numbers), TOGETHER):
        known = numbers[first:last].tolist()
        old = store.counts(known)
        rows = order[ends[first] : ends[last]]
        edges = [end - ends[first] for end in ends[first : last + 1]]
        parts = [slice(*edge) for edge in pairwise(edges)]
        columns = [column[rows].tolist() for column in arrivals.columns]
        new: Sources = {}
        if arrivals.sources is not None:
            sources = arrivals.sources[rows].view(np.int64).tolist()
            given = {n: [*{*sources[part]}] for n, part in zip(known, parts, strict=True)}
            present = store.sources({n: some for n, some in given.items() if some})
            new = {n: sorted({*given[n]}.difference(some)) for n, some in present.items()}
        written = {}
        for position, (number, part) in enumerate(zip(known, parts, strict=True), first):
            documents, seen, before = checked_count(store, old.get(number), what)
            sums = [*before]
            if number not in old and is_new[position]:
                documents = 0
            for at, column in enumerate(columns):
                for value in column[part]:  # in this order, which decides how floats round
                    sums[at] += value
                check_sum(sums[at], what.columns[at])
            seen += len(new.get(number, ()))
            written[number] = Count(documents + part.stop - part.start, seen, sums)
        store.write(Batch(counts=written, sources=new))


def check_sum(value: float, name: str) -> None:
    """Raise ValueError if the sum of a column is an integer that does not fit in 64 bits."""
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        raise ValueError(
            f"the sum of {name} for a document of the index is {value}, which does not fit in 64"
            " bits: give smaller integers, or floats"
        )


def copy_counts(source: Store, copy: Store, names: list[Any]) -> None:
    """Copy the counts of some documents, in a transaction of either store."""
    old, new = source.find(names), copy.find(names)
    counts = source.counts(list(old.values()))
    sources = source.sources({number: [] for number in counts})
    copied = Batch(
        counted=source.counted(),
        counts={new[name]: counts[n] for name, n in old.items() if n in counts},
        sources={new[name]: sources[n] for name, n in old.items() if n in sources},
    )
    copy.write(copied)


def counted_of(store: Store) -> Counted | None:
    """Return what an index counts beside documents, None if nothing was ever set."""
    code = store.counted()
    if not code:
        return None
    try:
        source, columns = json.loads(code)
        return Counted(source, tuple(columns))
    except (ValueError, TypeError) as error:
        raise store.damaged(f"what it counts: {error}") from error


def checked_count(store: Store, count: Count | None, what: Counted) -> Count:
    """Return how many documents have come, from how many sources, and a list of the sums."""
    if count is None:
        return Count(sums=[0] * len(what.columns))
    if len(count.sums) != len(what.columns):
        raise store.damaged(f"the counts of a document: {json.dumps(count)!r}")
    return count


def all_counts(backend: Backend) -> dict[str, Any]:
    """Return the counts of all documents as columns: see `Index.counts`."""
    if not isinstance(backend, DatabaseBackend):
        raise ValueError("only an index in SQLite or Redis counts documents")
    store = backend.store
    return retry_until_consistent(lambda: _read_all(store))


def _read_all(store: Store) -> dict[str, Any]:
    ids: list[Any] = []
    documents: list[int] = []
    sources: list[int] = []
    with store.reading():
        what = counted_of(store) or Counted()
        sums: list[list[Any]] = [[] for _ in what.columns]
        for names in store.id_blocks(TOGETHER):
            ids += names.values()
            old = store.counts([*names])
            for number in names:
                count, seen, its_sums = checked_count(store, old.get(number), what)
                documents.append(count)
                sources.append(seen)
                for column, value in zip(sums, its_sums, strict=True):
                    column.append(value)
    columns: dict[str, Any] = {"id": ids, "documents": np.array(documents, np.int64)}
    if what.source is not None:
        columns["sources"] = np.array(sources, np.int64)
    for name, column in zip(what.columns, sums, strict=True):
        columns[f"sum_{name}"] = _numbers(column)
    return columns


def _numbers(values: list[Any]) -> NDArray[Any]:
    """Return sums as int64, or as float64 if one is a fraction."""
    if all(type(value) is int for value in values):
        return np.array(values, np.int64)
    return np.array(values, np.float64)
