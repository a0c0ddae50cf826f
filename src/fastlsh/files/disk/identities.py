"""Ids: how they are distinguished, and how the ids of the answer are found again."""

import json
from datetime import datetime, time, timezone
from decimal import Decimal
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh._kernels import TextColumn
from fastlsh.io import as_list
from fastlsh.texts import as_texts

Hashes = NDArray[np.uint64]

_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}
"""Types of Arrow; a value of uint64 need not fit."""

_STRINGS = {"string", "large_string", "string_view"}

_ENCODE = json.JSONEncoder(default=str).encode
"""One for all ids: `json.dumps` would make one for each."""

NO_TEXT = np.uint64(0x9E3779B97F4A7C15)
"""Tells the hash of an id that is no text from the hash of its description."""


def identity_hashes(ids: Any) -> Hashes:
    """Return a number for each id, the same for equal ones, uint64 (n,).

    Parameters
    ----------
    ids
        A list, int64, a `TextColumn`, an Arrow array, or None: there are none. A document without
        an id has the name of its file and its row, which no other has.
    """
    if ids is None:
        return np.empty(0, np.uint64)
    if isinstance(ids, TextColumn):
        return _hashes(ids)
    if str(getattr(ids, "type", "")) in _STRINGS and not ids.null_count:
        return _hashes(ids)
    if are_integers(ids):
        return _mixed(np.array(ids, np.int64).view(np.uint64))
    if hasattr(ids, "type"):
        ids = ids.to_pylist()
    texts = [each for each in ids if type(each) is str]
    if len(texts) == len(ids):
        return _hashes(texts)
    integers, others = [], []
    for each in ids:
        if type(each) is str or each is None or each != each:  # NaN equals nothing
            continue
        if (
            isinstance(each, (int, float, Decimal))
            and -(2**63) <= each < 2**63
            and each == int(each)
        ):
            integers.append(int(each))
        else:
            others.append(_described(each))
    numbers = _mixed(np.array(integers, np.int64).view(np.uint64))
    return np.concatenate([_hashes(texts), numbers, _hashes(others) ^ NO_TEXT])


def are_integers(ids: Any) -> bool:
    """Whether all ids, as `identity_hashes` takes them, are integers of 64 bits."""
    if isinstance(ids, (np.ndarray, TextColumn)):
        return isinstance(ids, np.ndarray)
    if hasattr(ids, "type"):
        if str(ids.type) in _INTEGERS:
            return not ids.null_count
        ids = ids.to_pylist() if str(ids.type) == "uint64" else None
    return ids is not None and all(type(v) is int and -(2**63) <= v < 2**63 for v in ids)


def _hashes(texts: Any) -> Hashes:
    spans = as_texts(texts).spans(0, len(texts), True)
    hashes = np.empty(len(texts), np.uint64)
    _kernels.text_hashes(spans, hashes)
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
    return isinstance(value, (int, float, Decimal))


def _described(value: Any) -> str:
    """Return a text for an id, the same for equal ones in every process, unlike `hash`."""
    if isinstance(value, bytes):
        return f"bytes {value.decode('latin-1')}"
    if _is_number(value) and abs(value) != inf:
        return "{}/{}".format(*value.as_integer_ratio())
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    if isinstance(value, (datetime, time)):
        value = value.replace(fold=0)
    return f"{type(value).__name__} {value!r}"


def as_json(ids: Any, path: str, rows: NDArray[np.int64]) -> list[bytes]:
    """Return each id as JSON, in bytes; FILE:ROW for a document that has none.

    Parameters
    ----------
    ids
        As for `identity_hashes`.
    path, rows
        The file, and the row of each document.
    """
    ids = [None] * len(rows) if ids is None else as_list(ids)
    pairs = zip(ids, rows.tolist(), strict=True)
    named = (f"{path}:{row}" if each is None else each for each, row in pairs)
    return [(str(each) if type(each) is int else _ENCODE(each)).encode() for each in named]


class StoredIds:
    """The ids of the documents in families.

    Parameters
    ----------
    numbers
        int64 (m,), ascending: the documents.
    ends
        int64 (m,): where the JSON of each ends.
    data
        uint8: that of all, one behind the other.
    """

    def __init__(
        self,
        numbers: NDArray[np.int64],
        ends: NDArray[np.int64],
        data: NDArray[np.uint8],
    ) -> None:
        self._numbers = numbers
        self._ends = ends
        self._data = data

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents, which must be in families."""
        wanted, where = np.unique(numbers, return_inverse=True)
        rows = np.searchsorted(self._numbers, wanted)
        stops = self._ends[rows].tolist()
        starts = np.where(rows > 0, self._ends[rows - 1], 0).tolist()
        data = self._data.data  # a slice of it makes no array
        pieces = [data[a:b] for a, b in zip(starts, stops, strict=True)]
        values = json.loads(b"[" + b",".join(pieces) + b"]")
        return [values[i] for i in where.tolist()]
