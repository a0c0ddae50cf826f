"""Pairs as numbers by which they sort, and the pairs that copies add."""

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import TooManyPairsError

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
    # Every copy of the left one with every copy of the right one.
    pair = np.repeat(np.arange(len(key)), between)
    nth = np.arange(len(pair)) - np.repeat(np.cumsum(between) - between, between)
    width = copies[right][pair]
    a = members[start[left][pair] + nth // width]
    b = members[start[right][pair] + nth % width]
    # Every copy with the ones before it in its group.
    before = np.arange(len(first)) - start[first[members]]
    later = np.repeat(np.arange(len(first)), before)
    nth = np.arange(len(later)) - np.repeat(np.cumsum(before) - before, before)
    c = members[start[first[members[later]]] + nth]
    d = members[later]
    lows = np.concatenate([np.minimum(a, b), np.minimum(c, d)])
    highs = np.concatenate([np.maximum(a, b), np.maximum(c, d)])
    similarity = np.concatenate([similarity[pair], np.full(len(c), identical)])
    return _sorted((lows << 32) | highs, similarity)
