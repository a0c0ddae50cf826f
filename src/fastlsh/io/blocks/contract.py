"""What every format gives: blocks of whole rows, and the documents in them."""

import binascii
from collections.abc import Container, Iterator, Mapping, Sequence
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

    def documents(self, wanted: Flags | None = None) -> BlockDocuments:
        """Parse the rows.

        Parameters
        ----------
        wanted
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
