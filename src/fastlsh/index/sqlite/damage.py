"""What a damaged database has instead of numbers and arrays: an error, as SQLite has for others."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


def refuse(reason: str) -> NoReturn:
    """Raise an error that `named_errors` makes one with the name of the file."""
    raise sqlite3.DatabaseError(f"malformed: {reason}")


def state_of(row: Sequence[Any] | None) -> Sequence[int]:
    """Return the numbers of the state, which are all there and not negative."""
    if row is None or any(type(number) is not int or number < 0 for number in row):
        refuse("its state is no row of numbers")
    return row


def numbers_of(values: Iterable[Any]) -> list[int]:
    """Return the numbers of documents, which are all numbers and not negative."""
    found = list(values)
    if any(type(number) is not int or number < 0 for number in found):
        refuse("a document has no number")
    return found


def signatures_of(values: Iterable[Any], width: int) -> NDArray[np.uint32]:
    """Return signatures of so many numbers."""
    found = list(values)
    if any(type(value) is not bytes or len(value) != 4 * width for value in found):
        refuse("a signature has another size")
    numbers = np.frombuffer(b"".join(found), "<u4").astype(np.uint32, copy=False)
    return numbers.reshape(-1, width)


def words_of(value: Any) -> NDArray[np.uint64]:
    """Return the numbers that bytes hold, uint64."""
    return bytes_of(value).view("<u8").astype(np.uint64, copy=False)


def bytes_of(value: Any) -> NDArray[np.uint8]:
    """Return the bytes of whole words."""
    if type(value) is not bytes or len(value) % 8:
        refuse("an array has another size")
    return np.frombuffer(value, np.uint8)
