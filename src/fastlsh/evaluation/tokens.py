"""The shingle sets of a whole collection, and their elements as numbers by rarity."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import invert, numbers_of, roots, shingle_sets
from fastlsh.buckets import Linker
from fastlsh.minhash import batch_size
from fastlsh.parallel import Progress, batches, run
from fastlsh.shingling import Shingler
from fastlsh.texts import Texts

ABSENT = 2**32 - 1
"""Instead of a number: an element that no other set has."""


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
        # Equal sets have equal sums; the others are told apart in full.
        sums = np.add.reduceat(self.hashes, start[filled])
        later, earlier = Linker(len(filled)).link(sums)
        previous = np.full(len(filled), -1, np.int32)
        previous[later] = earlier
        root = np.empty(len(filled), np.int32)
        roots(previous, root)
        copies = np.flatnonzero((root >= 0) & (root != np.arange(len(root))))
        for copy, original in zip(filled[copies], filled[root[copies]], strict=True):
            ours = self.hashes[start[copy] : start[copy + 1]]
            theirs = self.hashes[start[original] : start[original + 1]]
            if np.array_equal(ours, theirs):
                first[copy] = original
        return first

    def only(self, documents: NDArray[np.int64]) -> "TokenSets":
        """Return the sets of these documents (ascending)."""
        if len(documents) == len(self.size):
            return self
        chosen = np.zeros(len(self.size), np.bool_)
        chosen[documents] = True
        return TokenSets(self.hashes[np.repeat(chosen, self.size)], self.size[documents])


def token_sets(texts: Texts, shingler: Shingler, threads: int, progress: Progress) -> TokenSets:
    """Make the sets of all documents."""
    n = len(texts)
    size = np.empty(n, np.int64)
    parts: dict[int, NDArray[np.uint64]] = {}

    def work(first: int, last: int) -> None:
        gathered = shingler.gather(texts, first, last)
        start = offsets_of(np.maximum(gathered.lengths(), 1))  # no more shingles than units
        hashes = np.empty(start[-1], np.uint64)
        count = size[first:last]
        shingle_sets(
            gathered.units, gathered.offsets, shingler.kernel_unit, shingler.size, hashes, start,
            count,
        )  # fmt: skip
        parts[first] = hashes[_places(start[:-1], count)]

    run(work, batches(n, batch_size(texts)), threads, progress.stage("sets", n))
    hashes = [parts.pop(first) for first in sorted(parts)]
    return TokenSets(np.concatenate(hashes or [np.empty(0, np.uint64)]), size)


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
    """Rank the elements of sets that are not empty, for a join at `threshold`; empties `sets`."""
    numbers, frequency = _numbers(sets.hashes)
    sets.hashes = sets.hashes[:0]
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
    ascending = np.sort(hashes)
    new = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    begins = np.flatnonzero(new)
    known = ascending[begins]
    frequency = np.diff(begins, append=len(ascending))
    del ascending, new, begins
    known = known[frequency > 1]
    frequency = frequency[frequency > 1]
    by_rarity = np.argsort(frequency, kind="stable")
    number = np.empty(len(known), np.uint32)
    number[by_rarity] = np.arange(len(known), dtype=np.uint32)
    bits = max(len(known).bit_length(), 1)
    leading = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    directory = np.append(np.searchsorted(known, leading), len(known))
    result = np.empty(len(hashes), np.uint32)
    numbers_of(known, number, directory, hashes, result)
    return result, frequency[by_rarity]


def _reordered(
    numbers: NDArray[np.uint32], old: NDArray[np.int64], new: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Move sets from their old places to new ones, block by block: places take much memory."""
    result = np.empty_like(numbers)
    for first, last in batches(len(old), 4096):
        size = np.diff(new[first : last + 1])
        result[new[first] : new[last]] = numbers[_places(old[first:last], size)]
    return result


def offsets_of(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each begins if they stand one after the other, and where the last ends."""
    offsets = np.zeros(len(size) + 1, np.int64)
    np.cumsum(size, out=offsets[1:])
    return offsets


def _places(start: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start[0], start[0] + 1, ... size[0] of them, then those of the next."""
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(int(size.sum()))
