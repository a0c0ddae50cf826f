"""What the blocks of row formats share: which rows are documents, and their bytes."""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.rows._rows import chosen_lines, lines_with_tails
from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import numbers_of
from fastlsh.errors import InputError, LongRowError
from fastlsh.io.arrays import AS_OBJECTS, LIGHT, PER_ROW, memory_as_objects
from fastlsh.io.blocks.contract import (
    AddedColumns,
    BlockDocuments,
    BlockExtent,
    Bytes,
    Flags,
    Head,
    NewTexts,
    checksum,
)
from fastlsh.io.blocks.lines import Indices, Lines
from fastlsh.io.ids import as_list, label_hashes, take
from fastlsh.io.sources import Source
from fastlsh.io.streams import advice_for
from fastlsh.priorities import PriorityRecord, read_priorities

T = TypeVar("T")


class Parsed(NamedTuple):
    """What became of the rows of a block that are not blank."""

    texts: list[str | None] | TextColumn
    ids: Any
    bad: list[InputError]
    numbers: Mapping[str, NDArray[Any] | list[Any]] = MappingProxyType({})
    labels: Mapping[str, Any] = MappingProxyType({})
    priorities: Any = None
    """As `read_priorities` takes them; None: there is no such column."""
    absent: str = ""
    """As in `PriorityRecord`."""
    slow: int = 0
    """As in `BlockDocuments`."""

    def documents(self, source: Source, rows: NDArray[np.int64]) -> BlockDocuments:
        """Return the documents, of these rows; those with an unreadable priority are bad."""
        numbers = {name: numbers_of(values) for name, values in self.numbers.items()}
        labels = {name: label_hashes(values) for name, values in self.labels.items()}
        also = self.labels.get(source.options.also or "")
        documents = BlockDocuments(self.texts, self.ids, rows, self.bad, numbers, labels, also=also)
        if (name := source.options.priority) is not None:
            values = [None] * len(rows) if self.absent else self.priorities
            ranked = read_priorities(values if isinstance(values, np.ndarray) else as_list(values))
            wrong, documents.numbers = ranked.unreadable, {**numbers, name: ranked.values}
            if wrong:
                bad = [source.error(f"{name!r} is {wrong[i]}", int(rows[i])) for i in wrong]
                documents = _chosen(documents, ~np.isin(np.arange(len(rows)), [*wrong]))
                documents.bad = sorted([*self.bad, *bad], key=lambda error: error.row or 0)
            missing = ranked.missing - len(wrong)
            documents.priorities = PriorityRecord(len(documents), missing, ranked.kind, self.absent)
        documents.slow = self.slow
        return documents


class RowBlock:
    """Whole rows as they came, in UTF-8; base of JSON lines and CSV."""

    _delimiter: str | None = None
    """What stands between the values of a row, for `memory_as_objects`."""

    def __init__(
        self,
        source: Source,
        head: Head,
        extent: BlockExtent,
        data: Bytes,
        lines: Lines,
        bad: Indices | None,
    ) -> None:
        self.source = source
        self.head = head
        self.extent = extent
        self._bad = bad
        self._take(data, lines)
        if len(lines):
            stop = int(lines.bounds[1])
            head.learn_end(data[max(stop - 2, 0) : stop].tobytes())

    def _take(self, data: Bytes, lines: Lines) -> None:
        """Take what the file has as rows."""
        self._came = data, lines
        self._data, self._lines = data, lines
        self._written = data

    def check_objects(self, max_row: int, copies: int = 0) -> None:
        """Raise LongRowError if a row is too large as objects of Python; see `Block`."""
        bounds = self._lines.bounds
        for row in np.flatnonzero(np.diff(bounds) > max_row // LIGHT)[:, np.newaxis]:
            data = self._data[slice(*bounds[[*row, *row + 1]])]
            taken = memory_as_objects(data, self._delimiter, max(copies, 1))
            if taken > PER_ROW * max_row and (copies or self._is_refused(row)):
                number = int(self._row_numbers(row)[0])
                raise LongRowError(self.source.path, taken, number, AS_OBJECTS)

    def _is_refused(self, rows: Indices) -> bool:
        """Whether no kernel reads some rows."""
        raise NotImplementedError

    @property
    def next_row(self) -> int:
        """The number of the row behind the block; see `Block`."""
        return self.extent.row + self._lines.count

    @cached_property
    def filled(self) -> Indices:
        """Those of the rows that are not blank."""
        return self._not_blank()

    def documents(self, kept: Flags | None = None) -> BlockDocuments:
        """Parse the rows; see `Block`."""
        if self._bad is None or kept is None:
            return _chosen(self._all(), kept)
        rows = self._good(kept)[kept]
        return self._parse(rows).documents(self.source, self._row_numbers(rows))

    def rows(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> memoryview | bytes:
        """Return rows as they came; see `Block`."""
        if self._bad is None:
            self._all()
        good = self._good(kept)
        added = added and added.beside(self.head.layout or ())
        if texts or added:
            return self._changed(kept, good, texts or {}, added)
        flags = np.zeros(len(self._lines), np.bool_)
        flags[good[kept]] = True
        if flags.all():
            return self._written.data
        return chosen_lines(self._written, self._lines.bounds, flags.view(np.uint8))

    def first(self, documents: int) -> Iterator["RowBlock"]:
        """Yield the rows up to a document; see `Block`."""
        if self._bad is None:
            self._all()
        data, lines = self._came
        lines = lines.up_to_row(int(self._good(None)[documents - 1]) + 1)
        data = data[: lines.end]
        part = copy(self)
        part._take(data, lines)
        part._bad = None
        del part.filled
        check = checksum(data, self.head.seed)
        part.extent = self.extent._replace(stop=self.extent.start + lines.end, check=check)
        yield part

    def _changed(
        self, kept: Flags, good: Indices, texts: NewTexts, added: AddedColumns | None
    ) -> bytes:
        """Return rows of documents, some with other texts, all with further columns."""
        chosen = np.flatnonzero(kept)
        rows = good[chosen]
        starts, stops = self._lines.bounds[rows], self._lines.bounds[rows + 1]
        if added is None:
            tails, ends = [b""] * len(rows), stops
        else:
            all_tails, positions = self._tails(added, good)
            tails, ends = [all_tails[n] for n in chosen.tolist()], positions[chosen]
        if not len(rows) or not texts:
            return lines_with_tails(self._written, self._lines.bounds, rows, ends, *_concat(tails))
        changed = np.flatnonzero(np.isin(chosen, list(texts)))
        strings = [texts[n] for n in chosen[changed].tolist()]
        places, values = np.column_stack([ends, ends]), [b""] * len(rows)
        places[changed], new = self._values(rows[changed], strings, ends[changed])
        for number, value in zip(changed.tolist(), new, strict=True):
            values[number] = value
        # Of each row three parts stay, the first with the value and the second with the tail.
        edges = np.column_stack([starts, places, ends, stops]).ravel()
        parts = (5 * np.arange(len(rows))[:, None] + (0, 2, 3)).ravel()
        behind = [part for both in zip(values, tails, strict=True) for part in (*both, b"")]
        return lines_with_tails(self._written, edges, parts, edges[parts + 1], *_concat(behind))

    def _values(
        self, rows: Indices, texts: list[str], ends: Indices
    ) -> tuple[Indices, list[bytes]]:
        """Return which bytes of the data other ones stand for, and these, for new texts of rows.

        They are int64 (m, 2), before the ends.
        """
        raise NotImplementedError

    def _tails(self, added: AddedColumns, good: Indices) -> tuple[list[bytes], Indices]:
        """Return the further columns of each document, and where in the data they go."""
        raise NotImplementedError

    def _all(self) -> BlockDocuments:
        parsed = self._parse(self.filled)
        self._bad = np.array([error.row for error in parsed.bad], np.int64)
        documents = parsed.documents(self.source, self._row_numbers(self._good(None)))
        self._bad = np.array([error.row for error in documents.bad], np.int64)
        return documents

    def _good(self, flags: Flags | None) -> Indices:
        """Return the rows that are documents; as many as there are flags."""
        good = self.filled
        if self._bad is not None and len(self._bad):
            good = good[~np.isin(self._row_numbers(good), self._bad)]
        if flags is not None and len(flags) != len(good):
            raise ValueError(f"{len(flags)} flags for {len(good)} documents")
        return good

    def _row_numbers(self, rows: Indices) -> NDArray[np.int64]:
        numbers = self._lines.numbers
        return self.extent.row + (rows if numbers is None else numbers[rows])

    def _parse(self, rows: Indices) -> Parsed:
        """Parse these rows; bad ones are left out of the lists."""
        raise NotImplementedError

    def _not_blank(self) -> Indices:
        raise NotImplementedError

    def records(self, rows: Indices) -> Iterator[tuple[int, str]]:
        """Yield the numbers and the texts of rows, one by one."""
        view, bounds = self._data.data, self._lines.bounds
        for number, start, stop in zip(
            self._row_numbers(rows).tolist(),
            bounds[rows].tolist(),
            bounds[rows + 1].tolist(),
            strict=True,
        ):
            yield number, str(view[start:stop], "utf-8", self.head.errors)

    def _each(self, rows: Indices, parse: Callable[[int, str], T]) -> Iterator[T | InputError]:
        """Yield what a function makes of the number and the text of each row, or its error."""
        for index, (row, raw) in zip(rows.tolist(), self.records(rows), strict=True):
            try:
                self.check(row, raw)
                yield parse(row, raw)
            except InputError as error:  # noqa: PERF203
                yield self._explained(index, error)

    def _explained(self, index: int, error: InputError) -> InputError:
        """Return the error of a row with what more can be said of it."""
        return error

    def check(self, row: int, raw: str) -> None:
        """Raise if a row has bytes that are no text."""
        try:
            raw.encode()
        except UnicodeEncodeError as error:
            byte = ord(raw[error.start]) & 0xFF
            reason = f"not {self.head.codec}: byte 0x{byte:02x} at character {error.start + 1}"
            head = raw[:8].encode("utf-8", self.head.errors) if row == 1 else b""
            raise self.source.error(reason + advice_for(self.source, head), row) from None


def _concat(parts: list[bytes]) -> tuple[NDArray[np.uint8], Indices]:
    """Return the bytes of all parts, and where each begins and ends."""
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), offsets


def _chosen(parsed: BlockDocuments, kept: Flags | None) -> BlockDocuments:
    if kept is None:
        return parsed
    where = np.flatnonzero(kept)
    texts, ids, rows = (take(column, where) for column in (parsed.texts, parsed.ids, parsed.rows))
    numbers = {name: values[where] for name, values in parsed.numbers.items()}
    labels = {name: values[where] for name, values in parsed.labels.items()}
    return BlockDocuments(texts, ids, rows, [], numbers, labels, also=take(parsed.also, where))
