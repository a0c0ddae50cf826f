"""What tables tell of documents beside the ids that are at hand: their files are read again."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.disk.identities import StoredIds
from fastlsh.io import Block, Collection, Lookup, Source, as_plain, rows_of
from fastlsh.parallel import batches

Numbers = NDArray[np.int64]

KINDS = {
    frozenset({int}): "int64", frozenset({float}): "float64", frozenset({int, float}): "float64",
    frozenset({bool}): "bool_",
}  # fmt: skip
"""The type in Arrow of a column with values of these types; of all others, it is a text."""

STEP = 1 << 16
"""Ids that are made at a time."""


class _Cells(StoredIds):
    """The values of a column in the rows of some documents."""

    integers = False


class Reread(NamedTuple):
    """A block that is read again."""

    first: int
    """The number of its first document."""
    documents: int
    source: Source
    block: Block


def blocks_of(*collections: Collection) -> Iterator[Reread]:
    """Read the files of collections again; their documents are numbered one behind the other."""
    first = 0
    for part in (part for each in collections for part in each.parts if part.is_read):
        for count, block in zip(part.counts, part.blocks(), strict=True):
            yield Reread(first, count, part.source, block)
            first += count


def columns_of_both(
    names: Sequence[str],
    left: Numbers,
    right: Numbers,
    read: Callable[[Numbers], Iterable[Reread]],
) -> dict[str, Lookup]:
    """Return columns of the rows of both documents of pairs, as ``title_a`` and ``title_b``.

    Parameters
    ----------
    names
        The columns in the files; ``a.b`` is key b in a. Where a row has none, it is null.
    left, right
        The documents, whose rows must be documents.
    read
        Reads at least the blocks with some documents, which are ascending.

    Raises
    ------
    InputError
        None of these rows has a column.
    """
    if not names:
        return {}
    wanted = np.union1d(left, right)
    values: dict[str, list[bytes]] = {name: [] for name in names}
    kinds: dict[str, set[type]] = {name: set() for name in names}
    path = ""
    for first, count, source, block in read(wanted):
        start, stop = np.searchsorted(wanted, (first, first + count))
        if start == stop:
            continue
        path, kept = path or source.path, np.zeros(count, np.bool_)
        kept[wanted[start:stop] - first] = True
        rows = rows_of(source, block, kept)
        for name in names:
            found = [as_plain(_value(row, name, kinds[name])) for row in rows]
            values[name] += [json.dumps(value).encode() for value in found]
            kinds[name].update(map(_kind, found))
    columns = {}
    for name in names:
        if path and object not in kinds[name]:
            raise InputError(path, f"no row of a pair has a column {name!r}")
        ends = np.cumsum(list(map(len, values[name])), dtype=np.int64)
        data = np.frombuffer(b"".join(values[name]) + b" ", np.uint8)
        cells = _Cells(wanted, ends, data)
        kind = KINDS.get(frozenset(kinds[name] - {object, type(None)}), "string")
        columns |= {f"{name}_a": Lookup(cells, left, kind), f"{name}_b": Lookup(cells, right, kind)}
    return columns


def _value(row: dict[str, Any], name: str, seen: set[type]) -> Any:
    """Return the value of a column in a row, or None; adds `object` to `seen` if there is one."""
    inner: Any = row
    for key in (name,) if name in row else name.split("."):
        if not isinstance(inner, dict) or key not in inner:
            return None
        inner = inner[key]
    seen.add(object)
    return inner


def _kind(value: Any) -> type:
    is_long = type(value) is int and not -(2**63) <= value < 2**63
    return str if is_long else type(value)


class InOrder(NamedTuple):
    """Values that a table takes once, from the first to the last."""

    values: Iterator[Any]
    integers: bool

    def take(self, positions: Numbers) -> list[Any]:
        """Return the next values, as many as positions."""
        return list(islice(self.values, len(positions)))

    def sizes(self, positions: Numbers) -> Numbers:
        """Return about how many bytes these take."""
        return np.full(len(positions), 32)


def names_of_components(
    own: Iterator[Any], component: Numbers, others: Callable[[Numbers], list[Any]]
) -> Iterator[Any]:
    """Yield the id of the component of each document: its own, or that of another one.

    Parameters
    ----------
    own
        The ids of all documents.
    component
        As `Pairs.components` returns it.
    others
        Returns the ids of documents in pairs.
    """
    for start, stop in batches(len(component), STEP):
        ids = list(islice(own, stop - start))
        far = np.flatnonzero(component[start:stop] != np.arange(start, stop))
        for place, name in zip(far.tolist(), others(component[start + far]), strict=True):
            ids[place] = name
        yield from ids
