"""Rows of Parquet files that are too long, and pages that are too large to be decoded."""

from contextlib import suppress
from typing import Any

import numpy as np

from fastlsh.errors import LongRowError
from fastlsh.io.blocks.pages import PagedFile, UnusualPagesError
from fastlsh.io.blocks.row_groups import lengths_in_dictionary
from fastlsh.io.errors import pyarrow
from fastlsh.io.row_sizes import row_sizes
from fastlsh.io.sources import Source

PAGES = 2
"""Times the bytes that a row may have: those of the pages that are decoded together."""


def check_lengths(
    source: Source, paged: PagedFile, file: Any, group: int, names: list[str], max_row: int
) -> None:
    """Look at the columns of a row group that have more bytes than a row may have.

    First come their pages, which tell most, and then the rows of a page with more bytes.

    Parameters
    ----------
    source, paged, file
        The file, which is open.
    group
        The row group.
    names
        The columns that are read.
    max_row
        Bytes that a row may have in a column. The largest pages of the columns may have `PAGES`
        times as many together, for each is decompressed as a whole.

    Raises
    ------
    LongRowError
        A row has more, or the pages have. Of a value in a dictionary, the row is not known.
    UnusualPagesError
        What the file says contradicts itself.
    """
    metadata = paged.metadata
    described = metadata.row_group(group)
    begin = sum(metadata.row_group(before).num_rows for before in range(group))
    doubtful: list[tuple[str, int, int]] = []
    coded: list[tuple[str, int, int]] = []
    together = 0
    for leaf in range(described.num_columns):
        column = described.column(leaf)
        name = column.path_in_schema
        if column.total_uncompressed_size <= max_row or name.split(".")[0] not in names:
            continue
        row, largest = 0, 0
        for rows, size in paged.lengths(file, group, leaf):
            largest = max(largest, size)
            if size > max_row and name in names:  # neither fields nor lists
                (doubtful if rows else coded).append((name, row, row + rows))
            row += rows
        together += largest
    if together > PAGES * max_row:
        raise LongRowError(source.path, together, what="page")
    for name, start, stop in doubtful:
        with suppress(UnusualPagesError):
            sizes = row_sizes(paged.read(file, group, start, stop, [name]))
            if sizes.max() > max_row:
                row = begin + start + int(np.argmax(sizes)) + 1
                raise LongRowError(source.path, int(sizes.max()), row)
    for name, _, _ in coded:
        file.seek(0)
        parquet = pyarrow(source.path, "pyarrow.parquet")
        with parquet.ParquetFile(file, metadata=metadata, read_dictionary=[name]) as opened:
            longest = int(lengths_in_dictionary(opened, group, name).max())
        if longest > max_row:
            raise LongRowError(source.path, longest)
