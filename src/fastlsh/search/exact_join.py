"""All pairs that reach a threshold, none missed: the truth that LSH is measured against."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.common._common import Hold
from fastlsh._kernels.sets._sets import SetJoin, invert, numbers_of
from fastlsh.arguments import check_ids, check_integer, check_share
from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.candidates import CodedPairs, RowBlocks, pair_codes, repeated, split_codes
from fastlsh.errors import TooManyPairsError
from fastlsh.keyed import Key
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions, batches, run_batches
from fastlsh.results import Pairs
from fastlsh.search.advice import warn_of_long_shingles
from fastlsh.sets import all_sets
from fastlsh.signatures import batch_size
from fastlsh.stages import with_copies
from fastlsh.texts import Shingler, Texts, as_texts, with_key

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parallel import RunKeywords

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


PROBES = 128
"""The join is cut into about so many batches, each with scratch memory for all documents."""

ROOM = 1 << 16
"""Pairs that a batch writes before they go to the others; as many as documents if that is more."""


@shares(RunOptions.of)
def exact_pairs(
    texts: Iterable[Any],
    threshold: float,
    *,
    shingler: Shingler | None = None,
    key: Key | None = None,
    ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    **keywords: "Unpack[RunKeywords]",
) -> Pairs:
    """Find all pairs of texts whose Jaccard similarity is at least `threshold`, without LSH.

    All pairs are found with certainty, by an exact set similarity join with prefix, length and
    position filters (Bayardo, Ma, Srikant 2007; Xiao, Wang, Lin, Yu 2008). Use it for collections
    of up to a few hundred thousand documents if no pair may be missed, or as the truth for
    `evaluate`.

    Parameters
    ----------
    texts
        Anything that `near_duplicates` takes.
    threshold
        Jaccard similarity of shingle sets, above 0 and at most 1.
    shingler
        How texts are split into sets; by default ``Shingler()``, 9 characters.
    key
        A secret that chooses the hash functions: see `MinHasher`.
    ids
        The ids of the documents, for `Pairs.left_id` and `Pairs.right_id`.
    max_pairs
        Raise instead of returning more pairs (24 bytes each).

    Returns
    -------
    Pairs
        Sorted by (left, right), with exact similarities (up to accidental collisions of 64-bit
        hashes). ``params`` is None.

    Raises
    ------
    TypeError, ValueError, TooManyPairsError
        As `near_duplicates`.

    Notes
    -----
    The time grows with the lengths of the lists of documents that share a rare shingle: nearly
    linearly at high thresholds, at worst with the square of the number of documents. Memory besides
    the texts: about 25 bytes for each distinct shingle of each document.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> [(a, b, round(s, 3)) for a, b, s in exact_pairs(texts, 0.7)]
    [(0, 1, 0.842)]
    """
    threshold = check_share(threshold, "threshold")
    max_pairs = check_integer(max_pairs, "max_pairs")
    shingler = with_key(shingler, key)
    options = made(RunOptions.of, keywords)
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    (code, similarity), size = exact_codes(collection, threshold, shingler, max_pairs, options)
    empty = int((size == 0).sum())
    short = _count_short(collection, shingler, size)
    warn_of_long_shingles([(short, len(collection) - empty)], shingler)
    return Pairs(*split_codes(code), similarity, ids=ids, documents=len(collection), empty=empty)


def exact_codes(
    texts: Texts,
    threshold: float,
    shingler: Shingler,
    max_pairs: int,
    options: RunOptions,
) -> tuple[CodedPairs, NDArray[np.int64]]:
    """Return the pairs, and how many shingles each document has. Parameters as in `exact_pairs`."""
    sets = TokenSets(*all_sets(texts, shingler, options))
    size = sets.size
    first = sets.first_equals()
    documents = np.flatnonzero((first == np.arange(len(first))) & (sets.size > 0))
    sets = sets.only(documents)
    index = ranked(sets, threshold)
    pairs = _join(index, documents[index.order], threshold, max_pairs, options)
    return with_copies(pairs, first, 1.0, max_pairs), size


def _count_short(texts: Texts, shingler: Shingler, size: NDArray[np.int64]) -> int:
    """Return how many documents have fewer units than a shingle; they have one shingle each."""
    single, count = np.flatnonzero(size == 1), 0
    for first, last in batches(len(single), batch_size(texts)):
        gathered = shingler.take(texts, single[first:last])
        count += int(shingler.are_short(gathered, gathered.lengths()).sum())
    return count


def _join(
    index: Ranked,
    documents: NDArray[np.int64],
    threshold: float,
    max_pairs: int,
    options: RunOptions,
) -> RowBlocks:
    """Return the pairs among the sets of the index, which are those of `documents`."""
    n = len(index.size)
    join = SetJoin(index.size, index.start, index.elements, index.lists, index.postings, threshold)
    room = max(n, ROOM)
    pairs = RowBlocks(np.int64, np.float64)
    total = 0
    lock = RLock()

    def add(
        left: NDArray[np.int32], right: NDArray[np.int32], similarity: NDArray[np.float64]
    ) -> None:
        nonlocal total
        code = pair_codes(documents[left], documents[right])
        with Hold(lock):
            pairs.append(code, similarity.copy())
            total += len(code)
            if total > max_pairs:
                raise TooManyPairsError(
                    f"more than max_pairs={max_pairs:,} pairs reach the threshold {threshold}: "
                    "raise one of the two"
                )

    def work(first: int, last: int) -> Iterator[None]:
        scratch = np.empty((2, n), np.int32)
        left, right = np.empty(room, np.int32), np.empty(room, np.int32)
        similarity = np.empty(room)
        at = np.array([first], np.int64)
        while at[0] < last:
            end = join.pairs(at, last, scratch, left, right, similarity)
            add(left[:end], right[:end], similarity[:end])
            yield

    advance = options.progress.stage("joined", n)
    run_batches(work, batches(n, max(n // PROBES, 64)), options.threads, advance)
    return pairs
