"""One face for all formats."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastlsh.io.blocks.arrow import read_arrow_blocks, reread_arrow
from fastlsh.io.blocks.contract import Block, BlockExtent
from fastlsh.io.blocks.cutting import Format, read_row_blocks, reread_rows
from fastlsh.io.blocks.delimited import Delimited
from fastlsh.io.blocks.jsonl import JsonLines
from fastlsh.io.blocks.parquet import read_parquet_blocks, reread_parquet
from fastlsh.io.blocks.plain import read_text_blocks, reread_text
from fastlsh.io.blocks.split_text import SplitText
from fastlsh.io.filesystems import Identity
from fastlsh.io.formats import SPLIT
from fastlsh.io.sources import Source
from fastlsh.io.streams import changed, identity

SIZE = 1 << 22
_ROWS: dict[str, Any] = {
    "jsonl": JsonLines, "csv": Delimited, "tsv": Delimited,
    "lines": SplitText, "paragraphs": SplitText,
}  # fmt: skip


def read_blocks(
    source: Source,
    size: int = SIZE,
    *,
    after: BlockExtent | None = None,
    expected: Identity | None = None,
    max_row: int | None = None,
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
        Bytes that a row of JSON lines, CSV, TSV or plain text may have.

    Yields
    ------
    Block
        At least one, if `after` is not given.

    Raises
    ------
    LongRowError
        A row has more.
    InputError
        What is wrong with the file as a whole, after the blocks before it.
    """
    if source.format in ("txt", *SPLIT):
        for name in (*source.options.numbers, *source.options.labels):
            raise source.error(f"plain text has no column {name!r}")
    with _unchanged(source, expected or identity(source)):
        if source.format in _ROWS:
            kind: Format = _ROWS[source.format](source)
            yield from read_row_blocks(kind, size, after, max_row)
        elif source.format == "parquet":
            yield from read_parquet_blocks(source, size, after)
        elif source.format == "arrow":
            yield from read_arrow_blocks(source, size, after)
        else:
            yield from read_text_blocks(source, after, max_row)


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
    with _unchanged(source, expected or identity(source)):
        if source.format in _ROWS:
            kind: Format = _ROWS[source.format](source)
            yield from reread_rows(kind, extents, rows)
        elif source.format == "parquet":
            yield from reread_parquet(source, extents, rows, all_columns)
        elif source.format == "arrow":
            yield from reread_arrow(source, extents, rows, all_columns)
        else:
            yield from reread_text(source, extents, rows)


@contextmanager
def _unchanged(source: Source, expected: Identity | None) -> Iterator[None]:
    """Raise if the file is another one in the end."""
    yield
    if identity(source) != expected:
        raise changed(source)
