"""What every reader of a format provides: blocks of rows, and the checks that all share."""

import binascii
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.priorities import PriorityRecord

Flags = NDArray[np.bool_]
NewTexts = Mapping[int, str]
"""Texts by the number of their document among the good ones of a block, from 0."""


class ArrayError(InputError):
    """A row of an array of JSON has a syntax error: no row behind it is certain."""


class BlockExtent(NamedTuple):
    """Where a block is; plain integers, with which the same block is found again."""

    index: int  # type: ignore[assignment]  # the method of tuples is of no use here
    """The number of the block in its file, from 0."""
    start: int
    """Where it begins: bytes of the decompressed UTF-8 stream, or rows of a table, from 0."""
    stop: int
    """Where it ends, likewise."""
    row: int
    """The number of its first row as messages count, from 1."""
    check: int
    """A checksum of what is there, 63 bits."""


class ByteRange(NamedTuple):
    """A part of a file, in bytes as they are stored.

    It has the rows that begin in it, and of Parquet the row groups. So the ranges of a file may be
    read by processes that know nothing of each other.
    """

    start: int
    stop: int | None
    """Where the next one begins; None: it reaches to the end of the file, whatever its size."""


ALL_BYTES = ByteRange(0, None)
"""The range that is the whole file."""


@dataclass
class Head:
    """What the blocks of one file share."""

    codec: str = "utf-8"
    """The encoding found; what is written is encoded so."""
    mark: bool = False
    """Whether the file began with a byte order mark."""
    header: bytes = b""
    """The row with the names of the columns, as UTF-8; CSV and TSV."""
    layout: Any = None
    """tuple of str, or pyarrow.Schema: the columns, where the format names them once."""
    codecs: dict[str, str] = field(default_factory=dict)
    """Parquet: how the values of each column are compressed."""
    row_ends: tuple[bytes, ...] = ()
    """What may end a row; row formats."""
    row_end: bytes = b""
    """What ends the first row; as long as none has ended, nothing."""

    @property
    def errors(self) -> str:
        """How what is no text is found in the UTF-8 of a block."""
        return "surrogateescape" if self.codec == "utf-8" else "surrogatepass"

    def learn_end(self, row: bytes) -> None:
        """Learn what ends the rows of the file from the end of one, if it has one."""
        if not self.row_end:
            self.row_end = next(filter(row.endswith, self.row_ends), b"")

    def missing_end(self, rows: Any) -> bytes:
        """Return what ends the last one of some rows, of which the last of a file has no end."""
        tail = bytes(rows[-1:]) if self.row_ends else b""
        if not tail or tail.endswith(self.row_ends):
            return b""
        return b"\r\n" if tail == b"\r" else self.row_end or b"\n"  # a return is text alone

    @property
    def seed(self) -> int:
        """What the head adds to the checksums of blocks."""
        return binascii.crc32(self.header, binascii.crc32(self.codec.encode(), self.mark))


@dataclass
class BlockDocuments:
    """The good documents of a block, in order, and what was wrong with the other rows."""

    texts: Any
    """list of str or None, `TextColumn`, `TextColumns`, or an Arrow array of any string type."""
    ids: Any
    """A list, int64, `TextColumn`, or an Arrow array; None in or instead of it: ``FILE:ROW``."""
    rows: NDArray[np.int64]
    """int64 (n,): as messages count them, from 1."""
    bad: list[InputError] = field(default_factory=list)
    """The rows left out, in order. The caller has `check` raise one, or skips and counts."""
    numbers: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """The columns of `Options.counts`: int64 if all are such integers, else float64 (n,); and the
    priorities, as in `Priorities`."""
    labels: Mapping[str, NDArray[np.uint64]] = field(default_factory=dict)
    """The columns of `Options.labels`, as `label_hashes` gives them: equal for equal values."""
    priorities: PriorityRecord | None = None
    """What the collection has to know of the priorities, if there is a column of these."""
    slow: int = 0
    """How many rows of JSON lines the json module has read, because the kernel refused them."""
    also: Any = None
    """The second texts, like `texts`, if there is a column of these."""

    def __len__(self) -> int:
        """Return the number of good documents."""
        return len(self.rows)

    def check(self, *, skip: bool) -> None:
        """Raise the first bad row that is not skipped; syntax errors of an array never are."""
        for error in self.bad:
            if not skip or isinstance(error, ArrayError):
                raise error


@dataclass(frozen=True)
class AddedColumns:
    """New columns, and the values of the good documents of a block.

    Attributes
    ----------
    types : mapping of str to str
        By name, the type in Arrow: "int64", "double" or "string".
    values : mapping of str to sequence
        By name, int, float, str or None (null) for each document; empty where only names matter.
    optional : frozenset of str
        Those that a file or a row may have itself, and then does not get.
    """

    types: Mapping[str, str]
    values: Mapping[str, Sequence[Any]]
    optional: frozenset[str] = frozenset()

    def beside(self, names: Container[str]) -> "AddedColumns | None":
        """Return the columns without the optional ones that are there; None if none is left."""
        left = {
            n: kind for n, kind in self.types.items() if not (n in self.optional and n in names)
        }
        values = {name: self.values[name] for name in left}
        return AddedColumns(left, values, self.optional) if left else None

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values of each document."""
        return zip(*self.values.values(), strict=True)


class Block(Protocol):
    """Some whole rows of a file. Any thread may work on it, one at a time."""

    extent: BlockExtent
    head: Head

    @property
    def next_row(self) -> int:
        """The number of the row behind the block, as its extent counts rows."""

    def documents(self, kept: Flags | None = None) -> BlockDocuments:
        """Parse the rows.

        Parameters
        ----------
        kept
            bool (good documents,): which to give; `bad` is then empty.

        Raises
        ------
        InputError
            If the block cannot be read to its end: a damaged column.
        """

    def check_objects(self, max_row: int, copies: int = 0) -> None:
        """Raise LongRowError if a row takes too much memory as objects of Python.

        Parameters
        ----------
        max_row
            The bytes that a row may have; one with few of them is never too large.
        copies
            How often there is each value: more than once, if columns are made of the objects. 0:
            only what no kernel reads becomes objects.
        """

    def first(self, documents: int) -> "Iterator[Block]":
        """Yield the rows up to a good document, the first of which is number 1, as blocks."""

    def rows(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> Any:
        """Return rows exactly as they came.

        Parameters
        ----------
        kept
            bool (good documents,): which of them.
        texts
            Texts that some of them get instead of their own.
        added
            Columns that they get behind their own.

        Returns
        -------
        bytes-like or pyarrow.Table
            Row formats: whole lines as UTF-8, for `RowsWriter`. A ``.txt`` is a line of JSON.
        """


class Limit:
    """Ends the reading of a collection behind a number of documents.

    Parameters
    ----------
    documents : int or None
        The number of good documents; None: all.
    group : str, optional
        The column, one of `Options.labels`, whose values the rows of a document share. Reading ends
        before the first row of another document; by default, each row is one.
    begun : iterable of int
        The values of that column in the documents before these, of which more rows may come.
    """

    def __init__(
        self, documents: int | None, group: str | None = None, begun: Iterable[int] = ()
    ) -> None:
        self._left = documents
        self.is_given = documents is not None
        """Whether there is a limit."""
        self._group = group
        self._begun = set(begun)
        self.reached = documents == 0 and group is None
        """Whether all of these documents have been read."""

    def first(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a file, up to the last one of the documents.

        With a limit, each block is parsed here to count its documents, and again by the caller.
        """
        if self._left is None:
            yield from blocks
            return
        for block in blocks:
            count = self._allowed(block.documents())
            if self.reached:
                if count:
                    yield from block.first(count)
                return
            yield block

    def _allowed(self, documents: BlockDocuments) -> int:
        """Count the documents of a block; return how many of its good rows are wanted."""
        assert self._left is not None
        if self._group is None:
            count = min(len(documents), self._left)
            self._left -= count
            self.reached = not self._left
            return count
        for row, value in enumerate(documents.labels[self._group].tolist()):
            if value not in self._begun:
                if not self._left:
                    self.reached = True
                    return row
                self._begun.add(value)
                self._left -= 1
        return len(documents)


Bytes = NDArray[np.uint8]

_WIDTH = 1021
_WEIGHTS = np.arange(1, _WIDTH + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
_WEIGHTS = (_WEIGHTS ^ (_WEIGHTS >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9) | np.uint64(1)


def checksum(data: Bytes, seed: int = 0) -> int:
    """Return a number below 2 ** 63 that tells a block from what it becomes by accident.

    Words of 8 bytes are added up by their position in a row of 1021, and the sums weighted: at 20
    GB a second, where a cyclic redundancy check does one.
    """
    words = data[: len(data) // 8 * 8].view("<u8")
    rows = len(words) // _WIDTH
    sums = words[: rows * _WIDTH].reshape(rows, _WIDTH).sum(axis=0, dtype=np.uint64)
    rest = words[rows * _WIDTH :]
    total = int((sums * _WEIGHTS).sum(dtype=np.uint64)) + int((rest * _WEIGHTS[: len(rest)]).sum())
    last = int.from_bytes(data[len(words) * 8 :].tobytes(), "little")
    mixed = (
        total + (last + 1) * 0x9E3779B97F4A7C15 + len(data) + seed * 0xBF58476D1CE4E5B9
    ) % 2**64
    return (mixed ^ (mixed >> 31)) % 2**63
