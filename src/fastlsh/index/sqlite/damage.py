"""Checks of values from a database, which may be damaged."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


def refuse(reason: str) -> NoReturn:
    """Raise an error, to which `named_errors` adds the name of the file."""
    raise sqlite3.DatabaseError(f"malformed: {reason}")


def state_of(row: Sequence[Any] | None) -> Sequence[int]:
    """Return the numbers of the state, after checking that none is missing or negative."""
    if row is None or any(type(number) is not int or number < 0 for number in row):
        refuse("its state is no row of numbers")
    return row


def numbers_of(values: Iterable[Any]) -> list[int]:
    """Return the numbers of documents, after checking that none is missing or negative."""
    found = list(values)
    if any(type(number) is not int or number < 0 for number in found):
        refuse("a document has no number")
    return found


def signatures_of(values: Iterable[Any], width: int) -> NDArray[np.uint32]:
    """Return signatures, after checking that each has `width` values."""
    found = list(values)
    if any(type(value) is not bytes or len(value) != 4 * width for value in found):
        refuse("a signature has another size")
    numbers = np.frombuffer(b"".join(found), "<u4").astype(np.uint32, copy=False)
    return numbers.reshape(-1, width)


def words_of(value: Any) -> NDArray[np.uint64]:
    """Return the uint64 values in the bytes of a row."""
    return bytes_of(value).view("<u8").astype(np.uint64, copy=False)


def bytes_of(value: Any) -> NDArray[np.uint8]:
    """Return the bytes of a row, after checking that they are words of 8 bytes."""
    if type(value) is not bytes or len(value) % 8:
        refuse("an array has another size")
    return np.frombuffer(value, np.uint8)
