"""The plain form of ids, in which equal ids have the same type and can be stored."""

from collections.abc import Hashable, Iterable
from numbers import Number
from typing import Any

import numpy as np

from fastlsh.arrays import plain_value

INT64 = range(-(2**63), 2**63)


def stored_id(name: Hashable) -> str | bytes | int | None:
    """Return the stored id that equals one that is looked up; None if none does.

    As in a dict, ``1.0`` and ``True`` equal 1.
    """
    if isinstance(name, (str, bytes)):
        return plain_value(name)  # type: ignore[no-any-return]
    if not isinstance(name, (Number, np.bool_)):
        return None
    try:
        number = int(name)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):  # complex, NaN, infinite
        return None
    return number if number == name and number in INT64 else None


def ids_in_database(names: Iterable[Any]) -> list[Any]:
    """Return the stored ids that equal the given ids, without those that no database can hold."""
    stored = map(stored_id, names)
    return [
        name
        for name in stored
        if name is not None and not (isinstance(name, str) and _has_surrogate(name))
    ]


def check_ids_for_database(names: list[Any]) -> None:
    """Raise TypeError if a plain id cannot be stored in a database."""
    kinds = set(map(type, names))
    if kinds == {str} and not _has_surrogate("".join(names)):
        return
    for position, name in enumerate(names):
        if reason := refusal_of_id(name):
            raise TypeError(f"{reason}: number {position}")


def kind_of(name: Any, position: int) -> str:
    """Return "str", "bytes" or "int" for a plain id; TypeError with its position for others."""
    if reason := refusal_of_id(name, surrogates=True):
        raise TypeError(f"{reason}: number {position}")
    return type(name).__name__


def refusal_of_id(name: Any, *, surrogates: bool = False) -> str | None:
    """Return why no database, or no file that can hold surrogates, can have an id; None: it can."""
    kind = type(name)
    if kind is str and not surrogates and _has_surrogate(name):
        return f"ids must be Unicode to be saved, and {name!r} has a surrogate"
    if kind is str or kind is bytes or (kind is int and name in INT64):
        return None
    types = "str, bytes or int of 64 bits"
    return f"ids must be {types} to be saved, and {name!r} is of type {kind.__name__}"


def _has_surrogate(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def encoded(name: Any) -> bytes:
    """Return an id as bytes, with its type before them."""
    if isinstance(name, int):
        return b"i" + str(name).encode()
    return b"s" + name.encode() if isinstance(name, str) else b"b" + name
