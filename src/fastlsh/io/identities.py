"""Values of columns as numbers: the same for equal values, in every process."""

from datetime import date, datetime, time, timezone
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import ArrowColumn, TextColumn, spans_of_list, text_hashes
from fastlsh.arrays import plain_values
from fastlsh.io.columns import as_list

Hashes = NDArray[np.uint64]

_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
"""Types of Arrow; a value of uint64 need not fit."""

_STRINGS = {"string", "large_string", "string_view"}

NO_TEXT = np.uint64(0x9E3779B97F4A7C15)
"""Tells the hash of an id that is no text from the hash of its description."""


def identity_hashes(ids: Any) -> Hashes:
    """Return a number for each id, the same for equal ones, uint64 (n,), in any order.

    Parameters
    ----------
    ids
        A list, int64, a `TextColumn`, an Arrow array, or None: there are none. A document without
        an id has the name of its file and its row, which no other has; NaN equals nothing. Neither
        has a number.
    """
    if ids is None:
        return np.empty(0, np.uint64)
    if not isinstance(ids, (np.ndarray, TextColumn)) and not _are_strings(ids):
        ids = [each for each in as_list(ids) if each is not None and each == each]
    return label_hashes(ids)


def label_hashes(values: Any) -> Hashes:
    """Return a number for each value, the same for equal ones, uint64 (n,), in their order.

    Parameters
    ----------
    values
        A list, int64, a `TextColumn` or an Arrow array. None equals None here, and NaN equals NaN.
    """
    if isinstance(values, TextColumn):
        return _hashes(values)
    if _are_strings(values):
        return _hashes(ArrowColumn(values))
    if are_integers(values):
        return _mixed(np.array(values, np.int64).view(np.uint64))
    values = plain_values(as_list(values))
    hashes = np.empty(len(values), np.uint64)
    texts, integers, others = [], [], []
    for number, value in enumerate(values):
        if type(value) is str:
            texts.append(number)
        elif _is_number(value) and -(2**63) <= value < 2**63 and value == int(value):
            integers.append(number)
        else:
            others.append(number)
    hashes[texts] = _hashes([values[i] for i in texts])
    hashes[integers] = _mixed(np.array([int(values[i]) for i in integers], np.int64).view("u8"))
    hashes[others] = _hashes([_described(values[i]) for i in others]) ^ NO_TEXT
    return hashes


def _are_strings(values: Any) -> bool:
    """Whether the values are an Arrow array of strings without nulls."""
    return str(getattr(values, "type", "")) in _STRINGS and not values.null_count


def are_integers(ids: Any) -> bool:
    """Whether all ids, as `identity_hashes` takes them, are integers of 64 bits."""
    if isinstance(ids, (np.ndarray, TextColumn)):
        return isinstance(ids, np.ndarray)
    if hasattr(ids, "type"):
        if str(ids.type) in _INTEGERS:
            return not ids.null_count
        ids = ids.to_pylist() if str(ids.type) == "uint64" else None
    return ids is not None and all(type(v) is int and -(2**63) <= v < 2**63 for v in ids)


def _hashes(texts: TextColumn | ArrowColumn | list[str]) -> Hashes:
    if isinstance(texts, list):
        spans = spans_of_list(texts, 0, True)
    else:
        spans = texts.spans(0, len(texts), True)
    hashes = np.empty(len(texts), np.uint64)
    text_hashes(spans, hashes)
    return hashes


def _mixed(integers: Hashes) -> Hashes:
    """Return a different number for each integer, spread over all (fmix64)."""
    integers = integers ^ NO_TEXT  # 1 would have the number of the empty text
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        integers ^= integers >> np.uint64(33)
        integers *= np.uint64(factor)
    integers ^= integers >> np.uint64(33)
    return integers


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal, Fraction))


def _described(value: Any) -> str:
    """Return a text for an id, the same for equal ones in every process, unlike `hash`."""
    if isinstance(value, bytes):
        return f"bytes {value.decode('latin-1')}"
    if _is_number(value) and abs(value) < inf:
        return "{}/{}".format(*value.as_integer_ratio())
    if isinstance(value, tuple):
        return f"tuple {label_hashes(list(value)).tolist()}"
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    if isinstance(value, (datetime, time)):
        value = value.replace(fold=0)
    for kind in (datetime, date, time):
        if isinstance(value, kind):  # or a subclass of it, as that of pandas
            return f"{kind.__name__} {value.isoformat()}"
    return f"{type(value).__name__} {value!r}"
