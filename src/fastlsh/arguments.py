"""Checks of the arguments that public functions share, by the bounds of the table of options."""

import math
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from numbers import Integral, Real
from typing import Any

from fastlsh.options import LARGEST, OPTIONS
from fastlsh.options import MAX_NUM_PERM as MAX_NUM_PERM

INTEGERS = {
    option.name: option.kind for option in OPTIONS if option.kind.name in ("integer", "copies")
}
"""The kind of each integer, which has its smallest and its largest value."""

CHOICES = {
    option.name: option.kind.choices
    for option in OPTIONS
    if option.kind.choices and option.name != "keep"  # which `check_keep` checks, with a hint
}
"""The words of each choice; of a name with several rows in the table, those of the last one."""


def check_integer(value: Any, name: str) -> int:
    """Return an argument as an int.

    Raises
    ------
    TypeError
        It is not an integer; True and False are not accepted.
    ValueError
        It is outside of the bounds that `INTEGERS` has for this name.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    least, greatest = INTEGERS[name].least, INTEGERS[name].greatest
    if number < least and greatest in (None, LARGEST):
        raise ValueError(f"{name} must be at least {least}, got {number}")
    if greatest is not None and not least <= number <= greatest:
        raise ValueError(f"{name} must be between {least:,} and {greatest:,}, got {number}")
    return number


def check_number(value: Any, name: str) -> float:
    """Return an argument as a float, or raise TypeError."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_share(value: Any, name: str) -> float:
    """Return a threshold or another share, which is above 0 and at most 1, or raise."""
    if not 0.0 < (number := check_number(value, name)) <= 1.0:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value}")
    return number


def check_recall(value: Any) -> float:
    """Return a recall, which is above 0 and below 1, or raise."""
    if not 0.0 < (number := check_number(value, "recall")) < 1.0:
        raise ValueError(f"recall must lie between 0 and 1 (exclusive), got {value}")
    return number


def check_wait(value: Any) -> float:
    """Return a number of seconds to wait, which is finite and not negative, or raise."""
    if not 0.0 <= (number := check_number(value, "wait")) < math.inf:
        raise ValueError(f"wait must be a number of seconds, 0 or more, got {value}")
    return number


def check_choice(value: Any, name: str) -> str:
    """Return an argument that is one of the words of `CHOICES`, or raise ValueError."""
    if not isinstance(value, str) or value not in CHOICES[name]:
        raise ValueError(f"{name} must be one of {', '.join(CHOICES[name])}, got {value!r}")
    return value


def check_parameter(value: Any, name: str) -> None:
    """Raise unless a value is one that a parameter of a search, given by its name, can have."""
    if name in ("threshold", "containment"):
        check_share(value, name)
    elif name == "recall":
        check_recall(value)
    elif name in CHOICES:
        check_choice(value, name)
    else:
        check_integer(value, name)


def check_ordered(values: Any, name: str) -> Any:
    """Return values whose order counts, those of an iterator as a list, or raise TypeError."""
    views = (KeysView, ValuesView)
    if isinstance(values, (AbstractSet, Mapping)) and not isinstance(values, views):
        kind = type(values).__name__
        way_out = f"list({name}.values())" if isinstance(values, Mapping) else "a list"
        raise TypeError(f"{name} must have an order, got a {kind}: pass {way_out}")
    is_listed = isinstance(values, (Iterator, *views)) and not hasattr(values, "__arrow_c_stream__")
    return list(values) if is_listed else values


def values_of(column: Any) -> Sequence[Any]:
    """Return a collection, or a column of Arrow, NumPy, pandas or polars, as values of Python."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            column = getattr(column, name)()
    return column if isinstance(column, (list, tuple, range)) else list(column)


def check_ids(ids: Any, n: int, name: str = "ids") -> Sequence[Any] | None:
    """Return the ids as a sequence of n, or raise."""
    if ids is None:
        return None
    if not isinstance(ids, Iterable):
        raise TypeError(f"{name} must be a collection of ids, got {type(ids).__name__}")
    ids = check_ordered(ids, name)
    sequence = values_of(ids)
    if len(sequence) != n:
        raise ValueError(f"{name} has {len(sequence)} elements for {n} documents")
    return sequence
