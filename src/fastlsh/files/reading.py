"""How files are read: within the memory, and with their paths checked against the outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import BASE, longest_row
from fastlsh.io import (
    COLUMNAR,
    Collection,
    ReadOptions,
    Room,
    expand,
    read_blocks,
    read_files,
)


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
            As in `read_files`; LongRowError if a row is too long for the memory.
        """
        more |= {"max_row": longest_row(self.memory), "all_columns": self.rows_written}
        return read_files(inputs, options, room=self.room, **more)


def is_all_read(read: ReadOptions, memory: int, path: str, group: str | None = None) -> bool:
    """Whether the copied beginning of a pipe is all that will be read of it.

    It is if a row is too long for the memory, or if it goes on behind the limit. The last row may
    be cut off: it shows only that the one before it is complete.

    Parameters
    ----------
    read
        How the rows are read.
    memory
        Bytes that may be taken.
    path
        Of the copy.
    group
        As for `Limit`.
    """
    documents: set[int] = set()
    try:
        (source,) = expand(path, read.format, read, mixed=True)
        is_table = source.format in COLUMNAR
        for block in () if is_table else read_blocks(source, max_row=longest_row(memory)):
            if read.limit is None:  # only the lengths of the rows matter
                continue
            found = block.documents()
            documents.update((found.rows if group is None else found.labels[group]).tolist())
            if read.on_error == "fail":
                documents.update(error.row or 0 for error in found.bad)
            if len(documents) > read.limit + (group is not None):
                return True
    except LongRowError:
        return True
    except InputError:  # cut off; or it is raised where the rows are read
        pass
    return False
