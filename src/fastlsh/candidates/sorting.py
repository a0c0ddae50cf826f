"""Sorting in parts, each short enough for Ctrl-C: numpy does not hear it before all is sorted."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastlsh.parallel import batches

PART = 1 << 21
"""Rows that are sorted at a time: 0.1 to 0.2 s."""

CHUNK = 1 << 19
"""Rows that are dealt out at a time."""

SAMPLE = 1 << 16
"""Keys that tell where parts begin."""

Columns = tuple[NDArray[Any], ...]


class RowBlocks:
    """Blocks of rows, which are joined and sorted in the end.

    Parameters
    ----------
    types
        Of the columns. Keys, the values of the first one, should differ, mostly.
    """

    def __init__(self, *types: DTypeLike) -> None:
        self._types = types
        self._blocks: list[Columns] = []

    def append(self, *columns: NDArray[Any]) -> None:
        """Add rows: equally long arrays."""
        self._blocks.append(columns)

    def take_sorted(self) -> Columns:
        """Take all rows out, ascending by the first column.

        Memory: what the blocks take, the result, and no more but for one part.
        """
        blocks, self._blocks = self._blocks, []
        total = sum(len(block[0]) for block in blocks)
        if total <= PART:
            joined = _joined(blocks, self._types)
            del blocks
            return _sorted(joined)
        parts = _dealt(blocks, _splitters(blocks, total))
        result = tuple(np.empty(total, kind) for kind in self._types)
        end = 0
        for part in parts:
            columns = _sorted(_joined(part, self._types))
            part.clear()
            start, end = end, end + len(columns[0])
            for column, values in zip(result, columns, strict=True):
                column[start:end] = values
        return result


def _joined(blocks: list[Columns], types: tuple[DTypeLike, ...]) -> Columns:
    return tuple(
        np.concatenate([np.empty(0, kind), *(block[number] for block in blocks)])
        for number, kind in enumerate(types)
    )


def _sorted(columns: Columns) -> Columns:
    key, *others = columns
    if others:
        order = np.argsort(key)
        others = [column[order] for column in others]
    key.sort()
    return key, *others


def _splitters(found: list[Columns], total: int) -> NDArray[Any]:
    """Return the first keys of all parts but the first, by a sample."""
    stride = max(total // SAMPLE, 1)
    seen, sample = 0, []
    for key, *_ in found:
        sample.append(key[-seen % stride :: stride])
        seen += len(key)
    ascending = np.sort(np.concatenate(sample))
    parts = -(-total // PART)
    return ascending[np.arange(1, parts) * len(ascending) // parts]


def _dealt(found: list[Columns], splitters: NDArray[Any]) -> list[list[Columns]]:
    """Deal the rows out to their parts; empties the list."""
    parts: list[list[Columns]] = [[] for _ in range(len(splitters) + 1)]
    found.reverse()
    while found:
        block = found.pop()
        for start, stop in batches(len(block[0]), CHUNK):
            key = block[0][start:stop]
            part = np.searchsorted(splitters, key, "right").astype(np.uint16)
            order = np.argsort(part, kind="stable")  # 16 bits: linear
            columns = [column[start:stop][order] for column in block]
            ends = np.cumsum(np.bincount(part, minlength=len(parts)))
            for rows, first, last in zip(parts, [0, *ends.tolist()], ends.tolist(), strict=False):
                if first < last:
                    rows.append(tuple(column[first:last] for column in columns))
    return parts
