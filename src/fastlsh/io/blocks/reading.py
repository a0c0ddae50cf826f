"""One face for all formats; and the columns of paths beside those of files."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import numbers_of
from fastlsh.errors import InputError, LongRowError
from fastlsh.io.blocks.arrow import largest_batch, read_arrow_blocks, reread_arrow
from fastlsh.io.blocks.contract import (
    ALL_BYTES,
    Block,
    BlockDocuments,
    BlockExtent,
    ByteRange,
    Flags,
)
from fastlsh.io.blocks.cutting import Format, read_row_blocks, reread_rows, rows_before
from fastlsh.io.blocks.delimited import Delimited, DelimitedColumns, SplitText
from fastlsh.io.blocks.jsonl import ABSENT, Json
from fastlsh.io.blocks.lines import read_text_blocks, reread_text
from fastlsh.io.blocks.parquet import ParquetSource, read_parquet_blocks, reread_parquet
from fastlsh.io.blocks.writing import head_with, with_keys
from fastlsh.io.errors import reading
from fastlsh.io.files import as_integer
from fastlsh.io.filesystems import Identity
from fastlsh.io.folders import SPLIT
from fastlsh.io.ids import as_list, label_hashes
from fastlsh.io.sources import Key, Source
from fastlsh.io.streams import changed, exact_codec, identity, is_array
from fastlsh.priorities import Priorities, PriorityRecord, read_priorities


def without_keys(source: Source) -> Source:
    """Return a file that is read without the columns of its path, but for those that it has."""
    options, keys = source.options, source.optional
    return replace(source, options=replace(
        options,
        id=None if options.id in keys else options.id,
        priority=None if options.priority in keys else options.priority,
        counts=tuple(name for name in options.counts if name not in keys),
        labels=tuple(name for name in options.labels if name not in keys),
    ))  # fmt: skip


def own_columns(source: Source) -> Source:
    """Return a file as if its path had no columns; options that name one of these name none."""
    return replace(without_keys(source), keys=())


class KeyedBlock:
    """Rows of a file, with the columns of its path.

    Parameters
    ----------
    source
        The file.
    inner
        The rows as they are there.
    again
        `reread_blocks`.
    """

    def __init__(self, source: Source, inner: Block, again: Callable[..., Iterator[Block]]) -> None:
        self.source = source
        self.inner = inner
        self.extent, self.next_row, self.rows = inner.extent, inner.next_row, inner.rows
        self.check_objects = inner.check_objects
        self.head = head_with(inner.head, with_keys(None, source, 0), source)
        self._again = again

    def first(self, documents: int) -> Iterator["KeyedBlock"]:
        """Yield the rows up to a document; see `Block`."""
        for part in self.inner.first(documents):
            yield KeyedBlock(self.source, part, self._again)

    def documents(self, kept: Flags | None = None) -> BlockDocuments:
        """Parse the rows; see `Block`."""
        documents, options = self.inner.documents(kept), self.source.options
        keys = {key.name: key for key in self.source.keys}
        for key in self.source.keys:
            self._check(key, documents)
        count = len(documents)
        numbers = {n: np.repeat(self._number(keys[n]), count) for n in options.counts if n in keys}
        hashes = {n: np.repeat(_hash(keys[n]), count) for n in options.labels if n in keys}
        labels = {n: hashes[n] if n in keys else documents.labels[n] for n in options.labels}
        ids = [keys[options.id].value] * count if options.id in keys else documents.ids
        record = documents.priorities
        if options.priority in keys:
            ranked = self._ranked(keys[options.priority])
            numbers[options.priority] = np.repeat(ranked.values, count)
            record = PriorityRecord(count, ranked.missing * count, ranked.kind, "")
        numbers = {**documents.numbers, **numbers}
        return replace(documents, ids=ids, numbers=numbers, labels=labels, priorities=record)

    def _number(self, key: Key) -> NDArray[Any]:
        if key.value is None:
            raise self.source.error(f"{key.name!r} is null, not a number")
        return numbers_of([DelimitedColumns(self.source).number(str(key.value), key.name, None)])

    def _ranked(self, key: Key) -> Priorities:
        """Return the priority of all rows."""
        ranked = read_priorities([key.value])
        for reason in ranked.unreadable.values():
            raise self.source.error(f"{key.name!r} is {reason}")
        return ranked

    def _check(self, key: Key, documents: BlockDocuments) -> None:
        """Raise InputError if a row has another value itself."""
        labels = documents.labels.get(key.name)
        wrong = np.flatnonzero([] if labels is None else ~np.isin(labels, _same(key)))
        if not len(wrong):
            return
        options = replace(
            self.source.options, id=key.name, labels=(key.name,), priority=None, counts=()
        )
        of_column = replace(self.source, options=options, keys=())
        row = int(documents.rows[wrong[0]])
        others = {error.row for error in documents.bad} | {*documents.rows.tolist()} - {row}
        (block,) = self._again(of_column, [self.extent], others)
        ids = block.documents(np.ones(1, np.bool_)).ids
        value = None if ids is None else as_list(ids)[0]
        reason = (
            f"{key.name!r} is {value!r}, and the path of the file says {key.value!r}: correct the"
            f" row, or put the file into a directory that is not called {key.name}=..."
        )
        raise self.source.error(reason, row)


def plain_block(block: Block) -> Block:
    """Return a block without the columns of the path of its file."""
    return block.inner if isinstance(block, KeyedBlock) else block


def _hash(key: Key) -> NDArray[np.uint64]:
    """Return the hash of a value, alike in collections whose other values differ."""
    return label_hashes([as_integer(key.value)])


def _same(key: Key) -> NDArray[np.uint64]:
    """Return the hashes of the values with which a row agrees: a number need not be written so."""
    values: list[Any] = [ABSENT, key.value]
    if key.value is not None:
        text = str(key.value)
        values += [text, {"true": True, "false": False}.get(text.lower(), text)]
        for parse in (int, float, date.fromisoformat, datetime.fromisoformat):
            with suppress(ValueError):
                value = parse(text)
                values += [value, str(value)]
    return label_hashes(values)


SIZE = 1 << 22
_ROWS: dict[str, Any] = {
    "jsonl": Json, "csv": Delimited, "tsv": Delimited,
    "lines": SplitText, "paragraphs": SplitText,
}  # fmt: skip


def read_blocks(
    source: Source,
    size: int = SIZE,
    *,
    after: BlockExtent | None = None,
    expected: Identity | None = None,
    max_row: int | None = None,
    all_columns: bool = True,
    within: ByteRange = ALL_BYTES,
) -> Iterator[Block]:
    """Cut a file into blocks of whole rows, one after the other and without parsing them.

    Parameters
    ----------
    source : Source
        The file.
    size : int
        About how many bytes a block has, uncompressed; a row that is longer is a block. A file of
        plain text is one.
    after : BlockExtent, optional
        Go on behind this block.
    expected : Identity, optional
        Identity of the file; by default what `identity` says now.
    max_row : int, optional
        Bytes that a row may have, except in an Arrow file.
    all_columns : bool
        Whether `max_row` is for all columns of Parquet, or only for those that documents need.
    within : ByteRange, optional
        Read only what begins there; of a file that `is_divisible`. Blocks, and the rows of row
        formats, are then counted from the beginning of the range: see `with_row_of_file`.

    Yields
    ------
    Block
        At least one, if `after` is not given; it is empty if there is nothing.

    Raises
    ------
    LongRowError
        A row has more.
    InputError
        What is wrong with the file as a whole, after the blocks before it.
    """
    plain = without_keys(source)
    if plain.format in ("txt", *SPLIT):
        for name in plain.options.further:
            raise source.error(f"plain text has no column {name!r}")
    blocks: Iterator[Block]
    with _unchanged(source, expected or identity(source)):
        if plain.format in _ROWS:
            kind: Format = _ROWS[plain.format](plain)
            blocks = read_row_blocks(kind, size, after, max_row, within)
        elif plain.format == "parquet":
            blocks = read_parquet_blocks(plain, size, after, within, max_row, all_columns)
        elif plain.format == "arrow":
            blocks = read_arrow_blocks(plain, size, after)
        else:
            blocks = read_text_blocks(plain, after, max_row)
        yield from map(partial(_keyed, source), blocks)


def _keyed(source: Source, block: Block) -> Block:
    return KeyedBlock(source, block, reread_blocks) if source.keys else block


def is_divisible(source: Source) -> bool:
    """Whether what begins behind a byte of a file can be found without all bytes before it.

    A field of CSV in quotes may have line ends, so that the quotes before it decide; and so do the
    brackets in an array of JSON.
    """
    if source.format in _ROWS:
        simple = source.format in ("jsonl", "lines")
        by_lines = simple or (source.format in ("csv", "tsv") and not source.options.quotes)
        plain = source.compression is None and exact_codec(source.options.encoding, b"") == "utf-8"
        return by_lines and plain and not is_array(source)
    return source.format == "parquet"


def with_row_of_file(source: Source, within: ByteRange, error: InputError) -> InputError:
    """Return an error about a row of a range with the number that the row has in the file."""
    if not within.start or error.row is None or source.format not in _ROWS:
        return error
    before = rows_before(_ROWS[source.format](source), within.start)
    of_file = InputError(error.path, error.reason, error.row + before)
    of_file.__cause__ = error.__cause__
    return of_file


def has_long_rows(source: Source, size: int) -> bool:
    """Whether blocks of a Parquet or Arrow file are larger, or pages are that are decoded together.

    Of Parquet, the pages tell it, and how long rows are on average; of Arrow, the largest batch.
    """
    if source.format == "arrow":
        return largest_batch(source)[0] > size
    with reading(source.path):
        file = ParquetSource(own_columns(source))
        try:
            for group in range(len(file.sizes)):
                file.check_lengths(group, file.head.layout.names, size)
        except LongRowError:
            return True
        return any(taken > size * rows for rows, taken in file.sizes)


def reread_blocks(
    source: Source,
    extents: Iterable[BlockExtent],
    bad: Collection[int] = (),
    expected: Identity | None = None,
    *,
    all_columns: bool = True,
    texts: Any = None,
) -> Iterator[Block]:
    """Read blocks once more.

    Parameters
    ----------
    source : Source
        The file.
    extents : iterable of BlockExtent
        Which blocks, in ascending order.
    bad : collection of int
        The numbers of the bad rows of the file, in any order.
    expected : Identity, optional
        Identity of the file before it was read first.
    all_columns : bool
        Whether `rows` will be asked for; if not, Parquet and Arrow read fewer columns.
    texts : pyarrow.ChunkedArray, optional
        The texts of the documents of all these blocks: those of a Parquet file are not decoded
        again, if they are a column as it is, and no row is bad.

    Yields
    ------
    Block

    Raises
    ------
    InputError
        If the file has changed.
    """
    rows = np.sort(np.fromiter(bad, np.int64, len(bad)))
    if expected is not None and identity(source) != expected:
        raise changed(source)
    plain = without_keys(source)
    blocks: Iterator[Block]
    with _unchanged(source, expected or identity(source)):
        if plain.format in _ROWS:
            kind: Format = _ROWS[plain.format](plain)
            blocks = reread_rows(kind, extents, rows)
        elif plain.format == "parquet":
            blocks = reread_parquet(plain, extents, rows, all_columns, texts)
        elif plain.format == "arrow":
            blocks = reread_arrow(plain, extents, rows, all_columns)
        else:
            blocks = reread_text(plain, extents, rows)
        yield from map(partial(_keyed, source), blocks)


@contextmanager
def _unchanged(source: Source, expected: Identity | None) -> Iterator[None]:
    """Raise if the file is another one in the end."""
    yield
    if identity(source) != expected:
        raise changed(source)
