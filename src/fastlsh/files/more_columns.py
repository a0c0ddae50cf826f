"""What tables tell of documents beside the ids that are at hand: their files are read again."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.disk.identities import StoredIds
from fastlsh.io import (
    SPLIT,
    Block,
    Collection,
    Lookup,
    Source,
    as_plain,
    rows_of,
    values_in_path,
)

Numbers = NDArray[np.int64]

KINDS = {
    frozenset({int}): "int64", frozenset({float}): "float64", frozenset({int, float}): "float64",
    frozenset({bool}): "bool_",
}  # fmt: skip
"""The type in Arrow of a column with values of these types; of all others, it is a text."""


class Cells(StoredIds):
    """Values of documents, as JSON.

    Parameters
    ----------
    numbers
        The documents, ascending.
    texts
        The values, some at a time.
    integers
        Whether all are integers of 64 bits.
    """

    def __init__(self, numbers: Numbers, texts: Iterable[list[bytes]], *, integers: bool) -> None:
        data, sizes = bytearray(), [np.empty(0, np.int64)]
        for some in texts:
            data += b"".join(some)
            sizes.append(np.fromiter(map(len, some), np.int64, len(some)))
        ends = np.cumsum(np.concatenate(sizes))
        super().__init__(numbers, ends, np.frombuffer(data + b" ", np.uint8))
        self.integers = integers


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
    max_row: int,
    read: Callable[[Numbers], Iterable[Reread]],
) -> dict[str, Lookup]:
    """Return columns of the rows of both documents of pairs, as ``title_a`` and ``title_b``.

    Parameters
    ----------
    names
        The columns in the files, or in their paths; ``a.b`` is key b in a. Where a row has none, it
        is null.
    left, right
        The documents, whose rows must be documents.
    max_row
        Bytes that a row may have; LongRowError if one takes more memory as objects of Python.
    read
        Reads at least the blocks with some documents, which are ascending.

    Raises
    ------
    InputError
        None of these rows has a column.
    """
    wanted, path = np.union1d(left, right), ""
    values: dict[str, list[list[bytes]]] = {name: [] for name in names}
    kinds: dict[str, set[type]] = {name: set() for name in names}
    for first, count, source, block in read(wanted) if names else ():
        start, stop = np.searchsorted(wanted, (first, first + count))
        if start == stop:
            continue
        path, kept = path or source.path, np.zeros(count, np.bool_)
        kept[wanted[start:stop] - first] = True
        block.check_objects(max_row, 1)
        in_path = values_in_path(source)
        plain = source.format in ("txt", *SPLIT)  # which has the columns of its path only
        for name in names:
            values[name].append([])
        for own in [{}] * int(kept.sum()) if plain else rows_of(source, block, kept):
            row = in_path | own
            for name in names:
                value = _value(row, name, kinds[name])
                values[name][-1].append(json.dumps(value).encode())
    columns: dict[str, Lookup] = {}
    for name, seen in kinds.items():
        if path and not seen:
            raise InputError(path, f"no row of a pair has a column {name!r}")
        cells = Cells(wanted, values[name], integers=False)
        kind = KINDS.get(frozenset(seen - {type(None)}), "string")
        columns |= {f"{name}_a": Lookup(cells, left, kind), f"{name}_b": Lookup(cells, right, kind)}
    return columns


def _value(row: dict[str, Any], name: str, seen: set[type]) -> Any:
    """Return the value of a column in a row, or None; add its type, if it is there, to `seen`."""
    inner: Any = row
    for key in (name,) if name in row else name.split("."):
        if not isinstance(inner, dict) or key not in inner:
            return None
        inner = inner[key]
    value = as_plain(inner)
    is_long = type(value) is int and not -(2**63) <= value < 2**63
    seen.add(str if is_long else type(value))
    return value
