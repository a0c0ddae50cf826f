"""Ids: how those of the answer are found again."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.io import as_list

_ENCODE = json.JSONEncoder(default=str).encode
"""One for all ids: `json.dumps` would make one for each."""


def as_json(ids: Any, path: str, rows: NDArray[np.int64]) -> list[bytes]:
    """Return each id as JSON, in bytes; FILE:ROW for a document that has none.

    Parameters
    ----------
    ids
        As for `identity_hashes`.
    path, rows
        The file, and the row of each document.
    """
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i":  # the usual ids, all at once
        return " ".join(map(str, ids.tolist())).encode().split()
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

    def sizes(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bytes of JSON the ids of some documents take."""
        starts, stops = self._places(numbers)
        return stops - starts

    def _places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the ids of some documents begin and end."""
        rows = np.searchsorted(self._numbers, numbers)
        return np.where(rows > 0, self._ends[rows - 1], 0), self._ends[rows]

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents, which must be in families."""
        wanted, where = np.unique(numbers, return_inverse=True)
        starts, stops = self._places(wanted)
        integers = _integers(self._data, starts, stops - starts)
        if integers is not None:
            return list(integers[where].tolist())
        data = self._data.data  # a slice of it makes no array
        pieces = [data[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        values = json.loads(b"[" + b",".join(pieces) + b"]")
        return [values[i] for i in where.tolist()]


def _integers(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return JSON values if all consist of at most 18 digits; None if not."""
    if not len(starts) or int(lengths.max()) > 18:
        return None
    found = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max())):
        longer = lengths > place
        digit = data[np.where(longer, starts + place, 0)] - np.uint8(ord("0"))
        if (longer & (digit > 9)).any():
            return None
        found = np.where(longer, found * 10 + digit, found)
    return found
