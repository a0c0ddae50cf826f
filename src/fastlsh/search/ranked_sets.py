"""The shingle sets of a whole collection, and their elements as numbers by rarity."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import invert, numbers_of
from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.candidates import RowBlocks, repeated
from fastlsh.parallel import batches

ABSENT = 2**32 - 1
"""Instead of a number: an element that no other set has."""

HASHES = 1 << 22
"""Whose numbers are looked up at a time: about a tenth of a second."""


@dataclass
class TokenSets:
    """The sets of all documents, one after the other.

    Attributes
    ----------
    hashes : ndarray of uint64
        Each set ascending, without repetitions.
    size : ndarray of int64, shape (n,)
        Of each set; 0: an empty document.
    """

    hashes: NDArray[np.uint64]
    size: NDArray[np.int64]

    def first_equals(self) -> NDArray[np.int64]:
        """Return for each document the first one with the same set, itself if there is none."""
        first = np.arange(len(self.size))
        start = offsets_of(self.size)
        filled = np.flatnonzero(self.size)
        if not len(filled):
            return first
        # Equal sets have equal sums; the others are compared in full.
        sums = np.add.reduceat(self.hashes, start[filled])
        copies, originals = repeated(sums)
        for copy, original in zip(filled[copies], filled[originals], strict=True):
            ours = self.hashes[start[copy] : start[copy + 1]]
            theirs = self.hashes[start[original] : start[original + 1]]
            if np.array_equal(ours, theirs):
                first[copy] = original
        return first

    def take_hashes(self) -> NDArray[np.uint64]:
        """Return the hashes, and let go of them: they take much memory."""
        hashes, self.hashes = self.hashes, self.hashes[:0].copy()
        return hashes

    def only(self, documents: NDArray[np.int64]) -> "TokenSets":
        """Return the sets of these documents (ascending)."""
        if len(documents) == len(self.size):
            return self
        chosen = np.zeros(len(self.size), np.bool_)
        chosen[documents] = True
        return TokenSets(self.hashes[np.repeat(chosen, self.size)], self.size[documents])


class Ranked(NamedTuple):
    """Sets in ascending order of size, their elements as numbers, the rarest first.

    Elements that one set alone has are counted in `size`, but not stored.
    """

    order: NDArray[np.int64]
    """int64 (n,): which set of those that were ranked stands here."""
    size: NDArray[np.int64]
    """int64 (n,), at least 1, ascending."""
    start: NDArray[np.int64]
    elements: NDArray[np.uint32]
    """int64 (n + 1,), uint32: what is stored of each set, ascending."""
    lists: NDArray[np.int64]
    postings: NDArray[np.int32]
    """int64 (m + 1,), int32: for each number the sets in whose prefix it lies."""


def ranked(sets: TokenSets, threshold: float) -> Ranked:
    """Rank the elements of sets that are not empty, for a join at `threshold`.

    The hashes are taken out of `sets`.
    """
    numbers, frequency = _numbers(sets.take_hashes())
    order = np.argsort(sets.size, kind="stable")
    size = sets.size[order]
    begin = offsets_of(size)
    numbers = _reordered(numbers, offsets_of(sets.size)[order], begin)
    shared = numbers != ABSENT
    stored = np.add.reduceat(shared, begin[:-1], dtype=np.int64) if len(size) else size
    start = offsets_of(stored)
    lists = offsets_of(frequency)
    postings = np.empty(start[-1], np.int32)
    elements = np.empty(start[-1], np.uint32)
    invert(numbers, begin, start, threshold, lists, postings, elements)
    return Ranked(order, size, start, elements, lists, postings[: lists[-1]].copy())


def _numbers(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the number of each hash, and how many sets each number is in."""
    blocks = RowBlocks(np.uint64)
    blocks.append(hashes)
    (ascending,) = blocks.take_sorted()
    new = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    begins = np.flatnonzero(new)
    distinct = ascending[begins]
    frequency = np.diff(begins, append=len(ascending))
    del ascending, new, begins
    distinct = distinct[frequency > 1]
    frequency = frequency[frequency > 1]
    narrow = frequency.astype(np.uint16) if frequency.max(initial=0) < 1 << 16 else frequency
    by_rarity = np.argsort(narrow, kind="stable")  # of 16 bits linear
    number = np.empty(len(distinct), np.uint32)
    number[by_rarity] = np.arange(len(distinct), dtype=np.uint32)
    bits = max(len(distinct).bit_length(), 1)
    leading = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    directory = np.append(np.searchsorted(distinct, leading), len(distinct))
    result = np.empty(len(hashes), np.uint32)
    for first, last in batches(len(hashes), HASHES):
        numbers_of(distinct, number, directory, hashes[first:last], result[first:last])
    return result, frequency[by_rarity]


def _reordered(
    numbers: NDArray[np.uint32], old: NDArray[np.int64], new: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Move sets from their old offsets to new ones, block by block: indices take much memory."""
    result = np.empty_like(numbers)
    for first, last in batches(len(old), 4096):
        size = np.diff(new[first : last + 1])
        result[new[first] : new[last]] = numbers[ranges_of(old[first:last], size)]
    return result
