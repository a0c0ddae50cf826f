"""Pairs as numbers by which they sort, and the pairs that copies add."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import batches

BLOCK = 1 << 18
"""Pairs that are worked on at a time."""

Keyed = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Pairs as numbers (`buckets.pair_keys`), and their similarity."""


def joined_blocks(found: list[Keyed]) -> Keyed:
    """Join the blocks and sort by (left, right); empties the list."""
    key = np.concatenate([block[0] for block in found] or [np.empty(0, np.int64)])
    similarity = np.concatenate([block[1] for block in found] or [np.empty(0)])
    found.clear()
    return _sorted(key, similarity)


def _sorted(key: NDArray[np.int64], similarity: NDArray[np.float64]) -> Keyed:
    """Sort by (left, right); `key` in place, for a pair is to take 24 bytes, not many more."""
    similarity = similarity[np.argsort(key)]
    key.sort()
    return key, similarity


def with_copies(found: Keyed, first: NDArray[np.int64], identical: float, max_pairs: int) -> Keyed:
    """Add the pairs in which copies of the originals take part.

    Parameters
    ----------
    found
        The pairs of originals.
    first
        int64 (n,): of each document the first one that it is a copy of, itself if of none.
    identical
        The similarity of a copy and its original.
    max_pairs
        Raise TooManyPairsError instead of returning more.
    """
    key, similarity = found
    copies = np.bincount(first, minlength=len(first))  # of each original, itself included
    left, right = key >> 32, key & 0xFFFFFFFF
    between = copies[left] * copies[right]
    total = int(between.sum()) + int((copies * (copies - 1) // 2).sum())
    if total == len(key):
        return found
    if total > max_pairs:
        largest = int(np.argmax(copies))
        raise TooManyPairsError(
            f"{total:,} pairs are more than max_pairs={max_pairs:,}: {copies[largest]:,} documents "
            f"are identical to document {largest}. Use deduplicate(), which is linear in the "
            "number of documents, or raise max_pairs"
        )
    members = np.argsort(first, kind="stable")  # grouped by original
    start = np.zeros(len(first) + 1, np.int64)
    np.cumsum(copies, out=start[1:])
    before = np.arange(len(first)) - start[first[members]]
    out_key, out_similarity = np.empty(total, np.int64), np.empty(total)
    end = 0
    # Every copy of the left one with every copy of the right one.
    for pair, nth in _counted(between):
        width = copies[right[pair]]
        a, b = members[start[left[pair]] + nth // width], members[start[right[pair]] + nth % width]
        part = slice(end, end := end + len(pair))
        out_key[part] = (np.minimum(a, b) << 32) | np.maximum(a, b)
        out_similarity[part] = similarity[pair]
    # Every copy with the ones before it in its group.
    out_similarity[end:] = identical
    for later, nth in _counted(before):
        a, b = members[start[first[members[later]]] + nth], members[later]
        part = slice(end, end := end + len(later))
        out_key[part] = (np.minimum(a, b) << 32) | np.maximum(a, b)
    return _sorted(out_key, out_similarity)


def _counted(sizes: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield (item, 0), (item, 1) ... as many as each item's size says, as arrays of a block."""
    stop = np.cumsum(sizes)
    start = stop - sizes
    total = int(stop[-1]) if len(stop) else 0
    for low, high in batches(total, BLOCK):
        first, last = np.searchsorted(stop, (low, high - 1), "right")
        items = np.arange(first, last + 1)
        inside = np.minimum(stop[items], high) - np.maximum(start[items], low)
        item = np.repeat(items, inside)
        yield item, np.arange(low, high) - start[item]
