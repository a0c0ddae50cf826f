"""Priorities: numbers and dates that are compared exactly, and values that are missing."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isinf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import numbers_of, plain_value, rounded
from fastlsh.errors import InputError

MOST_DIGITS = 53
"""Of a number: `EXACT` has 179 bits."""

_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,18}))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))?)?",
    re.ASCII,
)
_INTEGER = re.compile(r"[+-]?\d+")
_EPOCH = datetime(1970, 1, 1)
_UNITS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
"""Of datetime64 below the second, in a second."""


class Priorities(NamedTuple):
    """A column of priorities."""

    values: NDArray[Any]
    """Numbers as `numbers_of` makes them, dates in seconds since 1970; NaN where one is missing."""
    kind: str
    """"numbers", "dates", or both; "" if all are missing."""
    unreadable: dict[int, str]
    """Why some values are none, by their index."""

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return int(are_missing(self.values).sum())


def are_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of the values of `Priorities` are missing."""
    missing: NDArray[np.bool_] = np.isnan(rounded(values))
    return missing


class PriorityRecord(NamedTuple):
    """What has to be known of the priorities of a block, besides the values."""

    documents: int
    missing: int
    kind: str
    """As in `Priorities`."""
    absent: str
    """Why no row has the column; "" if one has it, even if its value is null."""


def missing_in(name: str, records: Sequence[tuple[str, PriorityRecord]]) -> int:
    """Return how many documents have no priority, given the file and the record of each block.

    Raises
    ------
    InputError
        No row has the column `name`, or it holds dates beside numbers.
    """
    kinds: dict[str, str] = {}
    for path, record in records:
        for kind in filter(None, record.kind.split(" and ")):
            kinds.setdefault(kind, path)
    if len(kinds) > 1:
        (first, before), (second, path) = kinds.items()
        raise InputError(
            path, f"{name!r} holds {second}, but {first} in {before}: they have no common order"
        )
    if any(record.documents for _, record in records) and all(one.absent for _, one in records):
        raise InputError(records[0][0], f"no row has a priority: {records[0][1].absent}")
    return sum(record.missing for _, record in records)


def read_priorities(values: NDArray[Any] | Iterable[Any]) -> Priorities:
    """Return priorities, none of them rounded.

    Parameters
    ----------
    values
        An array of numbers or datetime64; or numbers, decimals, dates, and texts of these in any
        other form. None, NaN, NaT and an empty text are missing.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufbV":
        return Priorities(values, "" if are_missing(values).all() else "numbers", {})
    unreadable: dict[int, str] = {}
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        seconds, unreadable = _seconds_of(values)
        values = numbers_of(seconds)
        return Priorities(values, "" if are_missing(values).all() else "dates", unreadable)
    kinds, priorities = dict[str, None](), []
    for index, value in enumerate(values):
        kind = number = None
        try:
            kind, number = _priority(value)
        except ValueError as error:
            unreadable[index] = str(error)
        kinds.update({kind: None} if kind else {})
        priorities.append(number)
    return Priorities(numbers_of(priorities), " and ".join(kinds), unreadable)


def _priority(value: Any) -> tuple[str, int | float | Fraction | None]:
    """Return what kind of priority a value is, and its number; raise ValueError if it is none."""
    value = plain_value(value)
    if isinstance(value, str) and "_" not in value:
        text = value.strip()
        value = text or None
        with suppress(ValueError):
            value = int(text[: 2 * MOST_DIGITS]) if _INTEGER.fullmatch(text) else float(text)
    if value is None or type(value).__name__ == "NAType" or value != value:
        return "", None
    if isinstance(value, np.datetime64):
        (second,), unreadable = _seconds_of(np.array([value]))
        if not unreadable:
            return "dates", plain_value(second)
    elif isinstance(value, date):
        clock = [getattr(value, name, 0) for name in ("hour", "minute", "second", "microsecond")]
        plain = datetime(value.year, value.month, value.day, *clock)  # type: ignore[arg-type]
        offset = value.utcoffset() if isinstance(value, datetime) else None
        nanoseconds = getattr(value, "nanosecond", 0)  # of pandas
        return "dates", _seconds(plain, offset or timedelta(0), nanoseconds * 10**9)
    elif isinstance(value, str) and (match := _DATE.fullmatch(value)):
        *numbers, fraction, sign, hours, minutes = match.groups()
        with suppress(ValueError):  # a day or an hour that does not exist
            plain = datetime(*(int(part or 0) for part in numbers))  # type: ignore[arg-type]
            offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
            offset = -offset if sign == "-" else offset
            return "dates", _seconds(plain, offset, int((fraction or "").ljust(18, "0")))
    elif isinstance(value, float) or (isinstance(value, Decimal) and value.is_infinite()):
        return "numbers", float(value)
    elif isinstance(value, (int, Decimal)):
        if len(Decimal(value).as_tuple().digits) > MOST_DIGITS or isinf(float(value)):
            raise ValueError(f"too large a number: priorities have at most {MOST_DIGITS} digits")
        return "numbers", value if isinstance(value, int) else Fraction(value)
    raise ValueError(f"{repr(value)[:60]}, neither a number nor a date")


def _seconds(plain: datetime, offset: timedelta, attoseconds: int) -> int | Fraction:
    """Return the seconds since 1970 in UTC."""
    since = plain - _EPOCH - offset
    whole, rest = since.days * 86400 + since.seconds, since.microseconds * 10**12 + attoseconds
    return whole + Fraction(rest, 10**18) if rest else whole


def _seconds_of(times: NDArray[Any]) -> tuple[NDArray[Any] | list[Any], dict[int, str]]:
    """Return the same of an array of datetime64 of any unit, and what is wrong with some."""
    unit, _ = np.datetime_data(times.dtype)
    plain, missing = times.astype(f"datetime64[{unit}]"), np.isnat(times)
    if ticks := _UNITS.get(unit, 0):
        whole, rest = np.divmod(plain.astype(np.int64), ticks)
        years = whole // 31_556_952
    else:
        whole, rest = times.astype("datetime64[s]").astype(np.int64), np.zeros(len(times), np.int64)
        years = times.astype("datetime64[Y]").astype(np.int64)
    wrong = ~missing & (((years < -1970) | (years > 8030)) | (plain.astype(times.dtype) != times))
    missing |= wrong
    reason = "not in the years 1 to 9999"
    unreadable = {i: f"{times[i]}, {reason}" for i in np.flatnonzero(wrong).tolist()}
    if not rest[~missing].any():
        return np.where(missing, np.nan, whole) if missing.any() else whole, unreadable
    rows = zip(whole.tolist(), rest.tolist(), missing.tolist(), strict=True)
    return [None if no else second + Fraction(part, ticks) for second, part, no in rows], unreadable
