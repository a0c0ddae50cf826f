"""What fastlsh raises and warns of, besides TypeError and ValueError."""

import os
import sys
import warnings
from typing import Any


def one_line(text: str) -> str:
    """Return `text` with control characters, line ends and surrogates escaped.

    Parameters
    ----------
    text : str
        Anything: a file name, a message of another library.

    Returns
    -------
    str
        The same text if it was printable; always a single line.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


class InputError(ValueError):
    """A file or one of its rows cannot be used.

    ``str()`` of it is one line, ``FILE: row N: reason`` or ``FILE: reason``.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    reason : str
        What is wrong.
    row : int, optional
        Its number, counted from 1: the physical line on which the record starts (JSONL, CSV, TSV; a
        header and blank lines count), or the row of the table (Parquet, Arrow).
    """

    def __init__(self, path: str | os.PathLike[str], reason: str, row: int | None = None) -> None:
        # All three go to args, so that the error survives pickling between processes.
        super().__init__(path, reason, row)
        self.path = os.fspath(path)
        self.reason = reason
        self.row = row

    def __str__(self) -> str:
        """Return the one line."""
        where = "" if self.row is None else f"row {self.row}: "
        return one_line(f"{self.path}: {where}{self.reason}")


class LongRowError(InputError):
    """A row has more bytes than the caller can take; its `size` says how many.

    `what` is "row", or "page" of a Parquet file, whose rows are decoded together; anything else
    says as what the row takes so many bytes of memory. `goes_on`: the row was not read to its end,
    for it comes through a pipe and may have none.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: int,
        row: int | None = None,
        what: str = "row",
        goes_on: bool = False,
    ) -> None:
        super().__init__(path, f"the {what} has {'at least ' * goes_on}{size:,} bytes", row)
        self.args = (path, size, row, what, goes_on)
        self.size = size
        self.what = what
        self.goes_on = goes_on


class RoomError(InputError):
    """The files have more documents or text than a reader has room for."""


class TooManyPairsError(ValueError):
    """There are more pairs than `max_pairs` allows: use `deduplicate`, or raise the limit.

    Attributes
    ----------
    document : int or None
        The number of the document that the message names.
    """

    def __init__(self, message: str, document: int | None = None) -> None:
        super().__init__(message)
        self.document = document

    def numbered(self, numbers: Any) -> "TooManyPairsError":
        """Return the error of a part, given the numbers of its documents in the collection.

        Examples
        --------
        >>> error = TooManyPairsError("too many pairs: document 1 has most", 1)
        >>> str(error.numbered([10, 20]))
        'too many pairs: document 20 has most'
        """
        if self.document is None:
            return self
        name, number = "document {}".format, int(numbers[self.document])
        return TooManyPairsError(str(self).replace(name(self.document), name(number), 1), number)


class LockedKeyError(ValueError):
    """A key from a pickle, which contains no secret, is used before `Key.unlock`."""


class KeyFileWarning(UserWarning):
    """Others than its owner can read the file of a key."""


class RecallWarning(UserWarning):
    """The parameters work, but not well: for needless comparisons, or for texts that are short."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of fastlsh that led here."""
    level = 1
    while str(sys._getframe(level).f_globals.get("__name__")).split(".")[0] == "fastlsh":
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
