"""Matches on disk: stretches of documents that occurred before, as each part finds them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.stages import united_matches

Match = np.dtype([(name, np.int64) for name in ("left", "begin", "end", "right", "kept_begin")])
"""Dtype of a stretch of a document that occurred before, as the kernel `repeats` finds it."""

NarrowMatch = np.dtype([(name, np.uint32) for name in Match.names or ()])
"""A `Match` in half of the bytes, if its numbers allow that."""


def is_match(rows: Any) -> bool:
    """Return whether rows, or a row, are a `Match`, narrow or not."""
    return bool(rows.dtype.names == Match.names)


def sorted_matches(matches: NDArray[np.int64]) -> NDArray[Any]:
    """Return matches, int64 (m, 5), by document and begin; `NarrowMatch` if possible."""
    narrow = int(matches.max(initial=0)) < 1 << 32
    kind, number = (NarrowMatch, np.uint32) if narrow else (Match, np.int64)
    rows = np.ascontiguousarray(matches, number).view(kind).reshape(-1)
    return rows[match_order(rows)]


def match_order(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order of matches, by document and begin."""
    if rows.dtype == NarrowMatch:  # one key: rows that are in order in part take less time
        return np.argsort(rows["left"].astype(np.uint64) << 32 | rows["begin"], kind="stable")
    return np.lexsort((rows["begin"], rows["left"]))


def united(blocks: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield the matches of all parts in order, with those united that are one stretch."""
    last = np.empty((0, 5), np.int64)
    for block in blocks:
        rows = np.ascontiguousarray(block, Match).view(np.int64).reshape(-1, 5)
        rows = united_matches(np.concatenate([last, rows]))
        last = rows[-1:]  # which may go on in the next block
        yield rows[:-1].view(Match).reshape(-1)
    yield last.view(Match).reshape(-1)
