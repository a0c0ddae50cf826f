"""One face for all formats."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from fastlsh.errors import InputError, LongRowError
from fastlsh.io.blocks.arrow import read_arrow_blocks, reread_arrow
from fastlsh.io.blocks.contract import ALL_BYTES, Block, BlockExtent, ByteRange
from fastlsh.io.blocks.cutting import Format, read_row_blocks, reread_rows, rows_before
from fastlsh.io.blocks.delimited import Delimited
from fastlsh.io.blocks.jsonl import Json
from fastlsh.io.blocks.keyed import KeyedBlock, without_keys
from fastlsh.io.blocks.messages import largest_batch
from fastlsh.io.blocks.parquet import ParquetSource, read_parquet_blocks, reread_parquet
from fastlsh.io.blocks.plain import read_text_blocks, reread_text
from fastlsh.io.blocks.split_text import SplitText
from fastlsh.io.errors import reading
from fastlsh.io.filesystems import Identity
from fastlsh.io.formats import SPLIT
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, exact_codec, identity, is_array

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
    own = without_keys(source)
    if own.format in ("txt", *SPLIT):
        for name in own.options.further:
            raise source.error(f"plain text has no column {name!r}")
    blocks: Iterator[Block]
    with _unchanged(source, expected or identity(source)):
        if own.format in _ROWS:
            kind: Format = _ROWS[own.format](own)
            blocks = read_row_blocks(kind, size, after, max_row, within)
        elif own.format == "parquet":
            blocks = read_parquet_blocks(own, size, after, within, max_row, all_columns)
        elif own.format == "arrow":
            blocks = read_arrow_blocks(own, size, after)
        else:
            blocks = read_text_blocks(own, after, max_row)
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
    found = InputError(error.path, error.reason, error.row + before)
    found.__cause__ = error.__cause__
    return found


def has_long_rows(source: Source, size: int) -> bool:
    """Whether blocks of a Parquet or Arrow file are larger, or pages are that are decoded together.

    Of Parquet, the pages tell it, and how long rows are on average; of Arrow, the largest batch.
    """
    if source.format == "arrow":
        return largest_batch(source)[0] > size
    with reading(source.path):
        file = ParquetSource(source)
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
    own = without_keys(source)
    blocks: Iterator[Block]
    with _unchanged(source, expected or identity(source)):
        if own.format in _ROWS:
            kind: Format = _ROWS[own.format](own)
            blocks = reread_rows(kind, extents, rows)
        elif own.format == "parquet":
            blocks = reread_parquet(own, extents, rows, all_columns)
        elif own.format == "arrow":
            blocks = reread_arrow(own, extents, rows, all_columns)
        else:
            blocks = reread_text(own, extents, rows)
        yield from map(partial(_keyed, source), blocks)


@contextmanager
def _unchanged(source: Source, expected: Identity | None) -> Iterator[None]:
    """Raise if the file is another one in the end."""
    yield
    if identity(source) != expected:
        raise changed(source)
