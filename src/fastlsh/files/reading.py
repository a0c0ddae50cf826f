"""How files are read: within the memory, and with their paths checked against the outputs."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import BASE, longest_row, too_long
from fastlsh.io import (
    COLUMNAR,
    Collection,
    ReadOptions,
    Room,
    expand,
    read_blocks,
    read_files,
)

WIDEST = 4
"""Bytes of text in any encoding for each byte in UTF-8, at most."""


@dataclass(frozen=True)
class ReadBudget:
    """The memory that reading may take."""

    memory: int
    """Bytes."""
    room: Room | None
    """Of all texts, if an estimate says that they fit; None: there is no limit."""

    rows_written: bool = True
    """Whether rows are written, for which all columns are read."""

    @classmethod
    def of(
        cls, memory: int, per_document: int | None, *, rows_written: bool = True
    ) -> "ReadBudget":
        """Return what reading may take.

        Parameters
        ----------
        memory
            Bytes that may be taken.
        per_document
            Bytes that a document takes besides its text, where an estimate says that all of them
            fit: RoomError if they do not. None: they may take more.
        rows_written
            Whether rows are written.
        """
        room = None if per_document is None else Room(max(memory - BASE, 1 << 20), per_document)
        return cls(memory, room, rows_written)

    def read(self, inputs: Sequence[str], options: ReadOptions, **more: Any) -> Collection:
        """Read files into memory, as `read_files` does.

        Raises
        ------
        InputError
            As in `read_files`; or a row is too long for the memory.
        """
        max_row = longest_row(self.memory)
        more |= {"max_row": max_row, "all_columns": self.rows_written}
        try:
            return read_files(inputs, options, room=self.room, **more)
        except LongRowError as error:
            raise too_long(error, self.memory, max_row) from error


def is_all_read(
    read: ReadOptions, memory: int, path: str, line: int, group: str | None = None
) -> bool:
    """Whether the copied beginning of a pipe is all that will be read of it.

    It is if it ends with a row that is too long for the memory, or goes on behind the limit. The
    last row may be cut off: it shows only that the one before it is complete.

    Parameters
    ----------
    read
        How the rows are read.
    memory
        Bytes that may be taken.
    path
        Of the copy.
    line
        How many bytes its last line has.
    group
        As for `Limit`.
    """
    documents: set[int] = set()
    max_row = longest_row(memory)
    with suppress(InputError):  # cut off; or it is raised where the rows are read
        (source,) = expand(path, read.format, read, mixed=True)
        is_plain = source.format not in COLUMNAR and source.compression is None
        if is_plain and line > WIDEST * max_row:
            return True
        for block in () if read.limit is None else read_blocks(source, max_row=max_row):
            found = block.documents()
            documents.update((found.rows if group is None else found.labels[group]).tolist())
            if read.on_error == "fail":
                documents.update(error.row or 0 for error in found.bad)
            if len(documents) > (read.limit or 0) + (group is not None):
                return True
    return False
