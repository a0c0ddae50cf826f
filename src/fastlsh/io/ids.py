"""Columns of documents, whatever holds them: their ids as they are, and their values as numbers."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timezone
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._plans import text_hashes
from fastlsh._kernels.text._texts import ArrowColumn, TextColumn, TextColumns, spans_of_list
from fastlsh.arrays import plain_values
from fastlsh.errors import InputError
from fastlsh.io.arrays import value_sizes, without_views
from fastlsh.parallel import batches


def take(column: Any, positions: NDArray[np.int64]) -> Any:
    """Return the values at some positions, as a column of the same kind; of None, None.

    Views of Arrow become ordinary texts.
    """
    if column is None:
        return None
    if isinstance(column, (TextColumn, TextColumns)):
        return column.chosen(np.ascontiguousarray(positions))
    if isinstance(column, list):
        return [column[i] for i in positions.tolist()]
    return _without_views(column).take(positions)


def _without_views(column: Any) -> Any:
    """Return a column of views of Arrow, which has no function to take some, as ordinary texts."""
    plain = without_views(getattr(column, "type", None))
    return column if plain is getattr(column, "type", None) else column.cast(plain)


def as_list(column: Any) -> list[Any]:
    """Return the values as objects of Python."""
    if isinstance(column, np.ndarray):
        values: list[Any] = column.tolist()
        return values
    return column if isinstance(column, list) else list(column.to_pylist())


Hashes = NDArray[np.uint64]

_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
"""Types of Arrow; a value of uint64 need not fit."""

_STRINGS = {"string", "large_string", "string_view"}

NO_TEXT = np.uint64(0x9E3779B97F4A7C15)
"""Tells the hash of an id that is no text from the hash of its description."""


def identity_hashes(ids: Any) -> Hashes:
    """Return a number for each id, the same for equal ones, uint64 (n,), in any order.

    Parameters
    ----------
    ids
        A list, int64, a `TextColumn`, an Arrow array, or None: there are none. A document without
        an id has the name of its file and its row, which no other has; NaN equals nothing. Neither
        has a number.
    """
    if ids is None:
        return np.empty(0, np.uint64)
    if not isinstance(ids, (np.ndarray, TextColumn)) and not _are_strings(ids):
        ids = [value for value in as_list(ids) if value is not None and value == value]
    return label_hashes(ids)


def label_hashes(values: Any) -> Hashes:
    """Return a number for each value, the same for equal ones, uint64 (n,), in their order.

    Parameters
    ----------
    values
        A list, int64, a `TextColumn` or an Arrow array. None equals None here, and NaN equals NaN.
    """
    if isinstance(values, TextColumn):
        return _hashes(values)
    if _are_strings(values):
        return _hashes(ArrowColumn(values))
    if are_integer_ids(values):
        return _mixed(np.array(values, np.int64).view(np.uint64))
    values = plain_values(as_list(values))
    hashes = np.empty(len(values), np.uint64)
    texts, integers, others = [], [], []
    for number, value in enumerate(values):
        if type(value) is str:
            texts.append(number)
        elif _is_number(value) and -(2**63) <= value < 2**63 and value == int(value):
            integers.append(number)
        else:
            others.append(number)
    hashes[texts] = _hashes([values[i] for i in texts])
    hashes[integers] = _mixed(np.array([int(values[i]) for i in integers], np.int64).view("u8"))
    hashes[others] = _hashes([_described(values[i]) for i in others]) ^ NO_TEXT
    return hashes


def _are_strings(values: Any) -> bool:
    """Whether the values are an Arrow array of strings without nulls."""
    return str(getattr(values, "type", "")) in _STRINGS and not values.null_count


def are_integer_ids(ids: Any) -> bool:
    """Whether all ids, as `identity_hashes` takes them, are integers of 64 bits."""
    if isinstance(ids, (np.ndarray, TextColumn)):
        return isinstance(ids, np.ndarray)
    if hasattr(ids, "type"):
        if str(ids.type) in _INTEGERS:
            return not ids.null_count
        ids = ids.to_pylist() if str(ids.type) == "uint64" else None
    return ids is not None and all(type(v) is int and -(2**63) <= v < 2**63 for v in ids)


def _hashes(texts: TextColumn | ArrowColumn | list[str]) -> Hashes:
    if isinstance(texts, list):
        spans = spans_of_list(texts, 0, True)
    else:
        spans = texts.spans(0, len(texts), True)
    hashes = np.empty(len(texts), np.uint64)
    text_hashes(spans, hashes)
    return hashes


def _mixed(integers: Hashes) -> Hashes:
    """Return a different number for each integer, spread over all (fmix64)."""
    integers = integers ^ NO_TEXT  # 1 would have the number of the empty text
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        integers ^= integers >> np.uint64(33)
        integers *= np.uint64(factor)
    integers ^= integers >> np.uint64(33)
    return integers


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal, Fraction))


def _described(value: Any) -> str:
    """Return a text for an id, the same for equal ones in every process, unlike `hash`."""
    if isinstance(value, bytes):
        return f"bytes {value.decode('latin-1')}"
    if _is_number(value) and abs(value) < inf:
        return "{}/{}".format(*value.as_integer_ratio())
    if isinstance(value, tuple):
        return f"tuple {label_hashes(list(value)).tolist()}"
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    if isinstance(value, (datetime, time)):
        value = value.replace(fold=0)
    for kind in (datetime, date, time):
        if isinstance(value, kind):  # or a subclass of it, as that of pandas
            return f"{kind.__name__} {value.isoformat()}"
    return f"{type(value).__name__} {value!r}"


_BATCH = 1 << 16

_NUMBER = 20
"""Bytes of an integer as a text, at most."""

_COUNTED = {"int64", "int32", "uint64", "uint32", "string", "large_string"}
"""Types of Arrow whose values are equal where those of Python are."""

_PLAIN = {"int64", "int32", "uint32", "string", "large_string"}
"""Types of Arrow whose values are texts or integers of 64 bits."""

MOST_FILES = 3
"""Files that a message names."""


def ids_with(
    ids: Any, rows: NDArray[np.int64], hashes: Hashes
) -> tuple[list[Any], NDArray[np.int64]]:
    """Return those ids of a block that have some of the `identity_hashes`, and their rows."""
    names = [] if ids is None else as_list(ids)
    named = [i for i, name in enumerate(names) if name is not None and name == name]
    chosen = np.isin(label_hashes([names[i] for i in named]), hashes)
    positions = np.array(named, np.int64)[chosen]
    return [names[i] for i in positions.tolist()], rows[positions]


def sizes_of(values: list[Any]) -> NDArray[np.int64]:
    """Return about how many bytes each value takes as a text."""
    sizes = (len(value) if isinstance(value, str) else _NUMBER for value in values)
    return np.fromiter(sizes, np.int64, len(values))


class _Piece(NamedTuple):
    """The ids of a block."""

    path: str
    ids: Any
    rows: NDArray[np.int64]

    def between(self, start: int, stop: int) -> list[Any]:
        """Return those from `start` to `stop` - 1."""
        ids = None if self.ids is None else self.ids[start:stop]
        return self._named(ids, self.rows[start:stop])

    def take(self, positions: NDArray[np.int64]) -> list[Any]:
        """Return those at some positions."""
        return self._named(take(self.ids, positions), self.rows[positions])

    def sizes(self) -> NDArray[np.int64]:
        """Return about how many bytes each takes."""
        sizes = np.full(len(self.rows), len(self.path) + _NUMBER)
        if isinstance(self.ids, TextColumn):
            self.ids.spans(0, len(sizes), True).lengths(sizes)
        elif isinstance(self.ids, list):
            return sizes_of(self.ids)
        elif hasattr(self.ids, "chunks"):
            sizes += np.concatenate(
                [np.broadcast_to(value_sizes(c), len(c)) for c in self.ids.chunks]
            )
        return sizes

    def _named(self, ids: Any, rows: NDArray[np.int64]) -> list[Any]:
        values = [None] * len(rows) if ids is None else as_list(ids)
        if not self.path or None not in values:
            return values
        return [
            f"{self.path}:{row}" if value is None else value
            for value, row in zip(values, rows.tolist(), strict=True)
        ]


class Ids(Sequence[Any]):
    """The ids of a collection: a list to look at, but most of them are no Python objects.

    Where a file gives none, ``FILE:ROW`` is made when it is asked for; others stay in the columns
    that files have given.
    """

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._starts = [0]

    def add(self, path: str, ids: Any, rows: NDArray[np.int64]) -> None:
        """Append the ids of a block, as `BlockDocuments` has them; without a path, None stays."""
        if len(rows):
            self._pieces.append(_Piece(path, _without_views(ids), rows))
            self._starts.append(len(self) + len(rows))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, key: Any) -> Any:
        """Return an id, or a list of those of a slice."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return list(self._between(start, stop))
            return [self[i] for i in range(start, stop, step)]
        index = range(len(self))[key]
        return next(self._between(index, index + 1))

    def __iter__(self) -> Iterator[Any]:
        return self._between(0, len(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, Ids)):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: "Ids") -> "Ids":
        both = Ids()
        for piece in self._pieces + other._pieces:
            both.add(*piece)
        return both

    def __repr__(self) -> str:
        return f"<{len(self)} ids>"

    def _between(self, start: int, stop: int) -> Iterator[Any]:
        for number in range(bisect_right(self._starts, start) - 1, len(self._pieces)):
            begin = self._starts[number]
            if begin >= stop:
                return
            piece = self._pieces[number]
            yield from piece.between(max(start - begin, 0), min(stop - begin, len(piece.rows)))

    def take(self, positions: NDArray[np.int64]) -> list[Any]:
        """Return the ids at some positions, in any order."""
        names = np.empty(len(positions), object)
        for piece, places, rows in self._by_piece(positions):
            names[places] = piece.take(rows)
        return names.tolist()

    def sizes(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return about how many bytes the ids at some positions take."""
        sizes = np.empty(len(positions), np.int64)
        for piece, places, rows in self._by_piece(positions):
            sizes[places] = piece.sizes()[rows]
        return sizes

    def _by_piece(
        self, positions: NDArray[np.int64]
    ) -> Iterator[tuple[_Piece, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each piece with some positions: which of them, and where they are in the piece."""
        pieces = np.searchsorted(self._starts, positions, "right") - 1
        order = np.argsort(pieces, kind="stable")
        edges = np.flatnonzero(np.diff(pieces[order], prepend=-1, append=len(self._pieces)))
        for start, stop in pairwise(edges.tolist()):
            mine = order[start:stop]
            number = int(pieces[mine[0]])
            yield self._pieces[number], mine, positions[mine] - self._starts[number]

    def repeated(self) -> int:
        """Return how many ids an earlier document has."""
        if all(piece.ids is None for piece in self._pieces):
            files: dict[str, list[NDArray[np.int64]]] = {}
            for piece in self._pieces:
                files.setdefault(piece.path, []).append(piece.rows)
            different = [len(np.unique(np.concatenate(rows))) for rows in files.values()]
            return len(self) - sum(different)
        kinds = {str(getattr(piece.ids, "type", None)) for piece in self._pieces}
        if len(kinds) == 1 and kinds <= _COUNTED and not self._nulls():
            count = import_module("pyarrow.compute").count_distinct
            chunks = [chunk for piece in self._pieces for chunk in piece.ids.chunks]
            different = count(import_module("pyarrow").chunked_array(chunks)).as_py()
            return len(self) - int(different)
        # Most often the hashes differ, and take less memory than a set.
        hashes = self._hashes()
        in_order = np.sort(hashes)
        twice = in_order[1:][in_order[1:] == in_order[:-1]]
        if not len(twice):
            return 0
        doubtful = self.take(np.flatnonzero(np.isin(hashes, twice)))
        return len(doubtful) - len(set(doubtful))

    def repeated_example(self) -> str:
        """Return the repeated id with the lowest hash, and the files that have it, or ""."""
        hashes = [identity_hashes(piece.ids) for piece in self._pieces]
        in_order = np.sort(np.concatenate([np.empty(0, np.uint64), *hashes]))
        twice = in_order[1:][in_order[1:] == in_order[:-1]]
        examples = [
            (name, piece.path)
            for piece, hashes_of_piece in zip(self._pieces, hashes, strict=True)
            if len(twice) and twice[0] in hashes_of_piece
            for name in ids_with(piece.ids, piece.rows, twice[:1])[0]
        ]
        if not examples:
            return ""
        files = list(dict.fromkeys(path for _, path in examples))
        more = " and other files" if len(files) > MOST_FILES else ""
        return f"{examples[0][0]!r} in {', '.join(files[:MOST_FILES])}{more}"

    def check_different(self, reason: str) -> None:
        """Raise InputError, with its row and the reason, if an earlier document has an id, too."""
        if not self.repeated():
            return
        seen: dict[Any, tuple[str, int]] = {}
        for piece in self._pieces:
            names = piece.between(0, len(piece.rows))
            for name, row in zip(names, piece.rows.tolist(), strict=True):
                here = piece.path, row
                first = seen.setdefault(name, here)
                if first != here and name == name:  # NaN equals nothing
                    also = f"{first[0]}: row {first[1]}"
                    raise InputError(
                        piece.path, f"the id {name!r} is that of {also}, too: {reason}", row
                    )

    def check(self, refusal: Callable[[Any], str | None]) -> None:
        """Raise InputError with its row for the first id of which `refusal` returns a reason.

        Whole columns of texts or integers are taken as they are.
        """
        for piece in self._pieces:
            ids = piece.ids
            if isinstance(ids, TextColumn) and ids.strict:
                continue
            if (
                ids is None
                or isinstance(ids, np.ndarray)
                or str(getattr(ids, "type", "")) in _PLAIN
            ):
                continue
            names = piece.between(0, len(piece.rows))
            for name, row in zip(names, piece.rows.tolist(), strict=True):
                if name is not None and (reason := refusal(name)) is not None:
                    raise InputError(piece.path, reason, row)

    def _hashes(self) -> NDArray[np.int64]:
        """Return a number for each id, the same for equal ones."""
        columns = [piece.ids for piece in self._pieces]
        if all(isinstance(ids, np.ndarray) for ids in columns):
            return np.concatenate(columns)
        if all(isinstance(ids, TextColumn) for ids in columns):
            hashes = np.empty(len(self), np.uint64)
            texts = TextColumns(columns)
            for start, stop in batches(len(self), _BATCH):
                text_hashes(texts.spans(start, stop, True), hashes[start:stop])
            return hashes.view(np.int64)
        return np.fromiter(map(hash, self), np.int64, len(self))

    def _nulls(self) -> int:
        return sum(int(piece.ids.null_count) for piece in self._pieces)
