"""The answer for a part: who is kept, or which pairs there are, copies included."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_integer
from fastlsh.arrays import cumcount
from fastlsh.candidates import RowBlocks, between, check_signatures, split_codes
from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import RunOptions, Stopwatch, batches, mapped_in, run_batches
from fastlsh.parameters import SearchParams, check_pair_params, check_params
from fastlsh.signatures import batch_size
from fastlsh.stages.batches import SignedBatch, check_ascending, check_numbers
from fastlsh.stages.copies import (
    first_copies,
    first_equal,
    groups_of,
    originals_of,
    second_texts,
    with_copies,
)
from fastlsh.stages.decisions import check_keep, check_priority, keep_or_drop, priority_order
from fastlsh.stages.signing import LinkedPart, Signed, hashing_steps, part_of, sign
from fastlsh.stages.verification import verified_pairs
from fastlsh.texts import Texts, as_texts


class Decided(NamedTuple):
    """Who is kept, by document."""

    kept: NDArray[np.int64]
    """int64 (n,): the kept document that proves this one to be a near-duplicate; itself if kept."""
    similarity: NDArray[np.float64]
    """float64 (n,): to it, or the share of this one that it contains."""
    limited: NDArray[np.int64]
    """int64, ascending: kept though they could not be compared with every candidate."""


def decide(
    signed: Signed,
    order: NDArray[np.int64],
    fixed: NDArray[np.bool_],
    max_candidates: int,
    clock: Stopwatch | None = None,
) -> Decided:
    """Decide on each document of a part, highest priority first.

    Parameters
    ----------
    signed
        The documents; the band keys are taken.
    order
        int64 (n,): all documents, highest priority first.
    fixed
        bool (n,): kept in any case; they come first in `order`.
    max_candidates
        As in `deduplicate`.
    clock
        Takes the time of each step.
    """
    clock = Stopwatch() if clock is None else clock
    texts, params, options = signed.texts, signed.params, signed.options
    similarity = options.full(len(texts), 1, np.float64)
    with clock("identical documents"):
        if params.finds_equal:
            assert signed.keys is not None
            hashes = signed.keys[0][order]
            first = first_equal(texts, order, hashes, params.shingler, options, signed.groups)
            return Decided(first, similarity, np.empty(0, np.int64))
        first = first_copies(signed, order)
    kept = options.numbers(len(texts))
    asked = first == kept
    copies = np.flatnonzero(~asked)
    asked[signed.empty] = False
    with clock("decisions"):
        decisions = keep_or_drop(part_of(signed, order[asked[order]]), fixed, max_candidates)
    dropped = decisions.proof >= 0
    kept[decisions.documents[dropped]] = decisions.proof[dropped]
    similarity[decisions.documents] = decisions.similarity
    kept[copies] = kept[first[copies]]  # what held for the original
    similarity[copies] = np.nan if params.verify == "none" else similarity[first[copies]]
    return Decided(kept, similarity, np.sort(decisions.documents[decisions.unsure]))


class PartPairs(NamedTuple):
    """The near-duplicate pairs of a part, sorted by (left, right)."""

    left: NDArray[np.int64]
    """int64 (m,): numbers, left < right."""
    right: NDArray[np.int64]
    """int64 (m,)."""
    similarity: NDArray[np.float64]
    """float64 (m,)."""
    estimate: NDArray[np.float64] | None = None
    """float64 (m,): the share of equal minima, if it was asked for."""
    also: NDArray[np.float64] | None = None
    """float64 (m,): the similarity of the second texts, if there are any."""


def find_pairs(signed: Signed, max_pairs: int) -> PartPairs:
    """Find all near-duplicate pairs of a part, by the rows of their documents.

    Parameters
    ----------
    signed
        The documents; the band keys are taken.
    max_pairs
        Raise TooManyPairsError if there are more.
    """
    first = first_copies(signed)
    blocks = _found(part_of(signed, originals_of(first)), max_pairs)
    identical = np.nan if signed.params.verify == "none" else 1.0
    code, similarity = with_copies(blocks, first, identical, max_pairs)
    return PartPairs(*split_codes(code), similarity)


def _found(part: LinkedPart, max_pairs: int) -> RowBlocks:
    """Return the pairs that belong to the answer, as codes and similarities."""
    blocks = RowBlocks(np.int64, np.float64)
    for code, similarity, passes in verified_pairs(part, max_pairs):
        blocks.append(code[passes], similarity[passes])
    return blocks


BATCH = 1 << 16
"""Pairs that are chosen from at a time."""


def find_crossing(
    signed: Signed, n_against: int, max_pairs: int, *, best: bool, one_to_one: bool
) -> PartPairs:
    """Find the near-duplicate pairs of a part between two collections: of a document and another.

    They are what `find_pairs` finds without the pairs inside of either collection.

    Parameters
    ----------
    signed
        The documents of `against`, which come first, and the others; the band keys are taken.
    n_against
        How many the former are.
    max_pairs
        Raise TooManyPairsError if there are more pairs or candidates.
    best
        Of each document, only the pair with the highest similarity, the first one of equals.
    one_to_one
        Each document in one pair at most: the pairs with the highest similarity first.
    """
    n = len(signed.texts)
    # Copies are set aside in each collection by itself, so that each pair of originals is between.
    first = first_copies(signed, np.arange(n_against, n))
    first[:n_against] = first_copies(signed, np.arange(n_against))[:n_against]
    part = part_of(signed, originals_of(first))
    blocks = _found(replace(part, families=between(part.families, n_against)), max_pairs)
    if best:
        return _best_of_each(blocks, first, n_against)
    code, similarity = with_copies(blocks, first, None, max_pairs)
    against, document = split_codes(code)
    order = np.lexsort((against, document))
    pairs = PartPairs(document[order], against[order], similarity[order])
    return _one_to_one(pairs) if one_to_one else pairs


def _one_to_one(pairs: PartPairs) -> PartPairs:
    order = np.lexsort((pairs.right, pairs.left, -pairs.similarity))
    documents: set[int] = set()
    others: set[int] = set()
    chosen = []
    for start, stop in batches(len(order), BATCH):
        rows = order[start:stop]
        sides = (side[rows].tolist() for side in (pairs.left, pairs.right))
        for row, document, other in zip(rows.tolist(), *sides, strict=True):
            if document not in documents and other not in others:
                documents.add(document)
                others.add(other)
                chosen.append(row)
    rows = np.sort(np.array(chosen, np.int64))
    return PartPairs(pairs.left[rows], pairs.right[rows], pairs.similarity[rows])


def _best_of_each(blocks: RowBlocks, first: NDArray[np.int64], n_against: int) -> PartPairs:
    code, similarity = blocks.take_sorted()
    against, document = split_codes(code)
    order = np.lexsort((against, -similarity, document))
    order = order[np.diff(document[order], prepend=-1) != 0]
    row = np.full(len(first), -1)  # of the pair of each original
    row[document[order]] = order
    row = row[first]
    row[:n_against] = -1
    matched = np.flatnonzero(row >= 0)
    return PartPairs(matched, against[row[matched]], similarity[row[matched]])


class Part(NamedTuple):
    """The documents of whole families, and what is searched for among them."""

    texts: Texts
    number: NDArray[np.int64]
    """int64 (n,), ascending."""
    params: SearchParams
    options: RunOptions
    also: Texts | None
    """The second texts, which must be similar, too; None: there are none."""

    @classmethod
    def of(
        cls,
        texts: Any,
        numbers: Any,
        params: SearchParams,
        threads: int | None,
        scratch: str | os.PathLike[str] | None,
        also: Any = None,
    ) -> "Part":
        """Check the arguments of `decide_part` and of functions like it."""
        options = RunOptions.of(threads)
        if scratch is not None:
            options = replace(options, empty=mapped_in(scratch))
        collection = as_texts(texts)
        number = check_numbers(numbers, "numbers", len(collection))
        check_ascending(number, "numbers")
        second = second_texts(also, len(number), check_params(params))
        return cls(collection, number, params, options, second)

    def sign(self, within: Any = None, batch: SignedBatch | None = None) -> Signed:
        """Return the signed documents, of a batch if there is one: its texts are checked."""
        groups = groups_of(within, len(self.number))
        if batch is None or self.params.finds_equal:  # a hash is made as quickly as it is checked
            return sign(self.texts, self.params, self.options, groups, self.also)
        return _of_batch(self, batch, groups)

    def pairs(
        self,
        find: Callable[[Signed], PartPairs],
        *,
        estimates: bool,
        within: Any = None,
        batch: SignedBatch | None = None,
    ) -> PartPairs:
        """Return the pairs that a function finds, by the numbers of their documents."""
        signed = self.sign(within, batch)
        try:
            left, right, similarity, *_ = find(signed)
        except TooManyPairsError as error:
            raise error.numbered(self.number) from None
        estimate = signed.estimates(left, right) if estimates else None
        also = signed.also_similarity(left, right)
        return PartPairs(self.number[left], self.number[right], similarity, estimate, also)


def _of_batch(part: Part, batch: SignedBatch, groups: NDArray[np.uint64] | None) -> Signed:
    """Return the documents as they were signed in a batch, or raise."""
    texts, number, params, options, also = part
    n = len(number)
    if batch.signatures is None or batch.text_hashes is None:
        lacks = "signatures" if batch.signatures is None else "text_hashes"
        raise ValueError(f"batch lacks {lacks}: call sign_batch with {lacks}=True")
    signatures = check_signatures(batch.signatures)
    keys, hashes = np.asarray(batch.keys), np.asarray(batch.text_hashes)
    if keys.dtype != np.uint64 or hashes.dtype != np.uint64:
        raise TypeError(
            f"batch must have keys and text_hashes of uint64, got {keys.dtype} and {hashes.dtype}"
        )
    for name, shape, expected in (
        ("signatures", signatures.shape, (n, params.num_perm)),
        ("keys", keys.shape, (params.n_keys, n)),
        ("text_hashes", hashes.shape, (n,)),
    ):
        if shape != expected:
            raise ValueError(f"batch has {name} of shape {shape}, expected {expected}")
    lengths, seen = np.empty(n, np.int64), np.empty(n, np.uint64)

    def work(start: int, stop: int) -> Iterator[None]:
        plain = params.shingler.plain_texts(texts, start, stop)
        lengths[start:stop] = params.shingler.tokenised(plain, start).lengths()
        return hashing_steps(plain, seen[start:stop])

    run_batches(work, batches(n, batch_size(texts)), options.threads)
    wrong = np.flatnonzero(seen != hashes)
    if len(wrong):
        raise ValueError(f"the text of row {wrong[0]} differs from that of the batch")
    keys = np.require(keys, requirements=["C", "A"])
    return Signed(texts, params, options, signatures, lengths, keys, groups, also=also)


class PartDecisions(NamedTuple):
    """The decision about each document of a part, in the order of the part."""

    number: NDArray[np.int64]
    """int64 (n,)."""
    kept_number: NDArray[np.int64]
    """int64 (n,): its own if the document is kept, else that of the kept one that it is like."""
    similarity: NDArray[np.float64]
    """float64 (n,): to that document, or with the rule "contained" the share of this one that it
    contains; 1 for kept ones; NaN for others with verify "none"."""
    limited: NDArray[np.bool_]
    """bool (n,): kept though it could not be compared with every candidate."""
    copy_number: NDArray[np.int64]
    """int64 (n,): among the removed documents of its cluster, by priority, from 1; 0 for kept
    ones."""
    also: NDArray[np.float64] | None = None
    """float64 (n,): the similarity of the second texts, as `similarity`, if there are any."""


def decide_part(
    texts: Any,
    numbers: Any,
    params: SearchParams,
    *,
    against: ArrayLike | None = None,
    keep: str = "first",
    priority: ArrayLike | None = None,
    max_candidates: int = 1000,
    within: Any = None,
    also: Any = None,
    batch: SignedBatch | None = None,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> PartDecisions:
    """Decide which documents of a part are kept, as `deduplicate` does for a collection.

    Parameters
    ----------
    texts
        The documents of whole families, as many families as you like, in any form that
        `sign_batch` takes.
    numbers
        The numbers of the documents: integers (n,), ascending, from 0 to 2^63 - 1, as an array or
        an Arrow column.
    params
        The parameters of the search, the same in every stage.
    against
        bool (n,): documents that are kept in any case, and have priority over all others. Their
        rows of the answer show them as kept. None: there are none.
    keep
        "first", "last" or "longest".
    priority
        Instead of `keep`: a number or a date for each document of the part, as in `deduplicate`.
        Those of documents of `against` are ignored.
    max_candidates, threads
        As in `deduplicate`.
    within
        A value for each document of the part, also for those of `against`: only documents with
        equal values are compared. None: all are.
    also
        A second text for each document of the part, also for those of `against`, which must be
        similar, too. None: there are none.
    batch
        The result of `sign_batch` for these documents, with signatures, so that they are not
        signed again. None: they are signed again.
    scratch
        A folder for the arrays that have values for each document and band, as memory-mapped files
        without a name, for a part that may be larger than memory. None: they are in memory.

    Returns
    -------
    PartDecisions
        The same, to the bit, as the answer of `deduplicate` for these documents, if the part
        contains all documents of each of its families.

    Raises
    ------
    TypeError, ValueError
        An argument is unsuitable, the numbers do not ascend, or a text differs from the one that
        was signed in `batch`; the message names the row.

    Notes
    -----
    Memory besides the texts: 4 * num_perm + 8 * min(bands, 16) bytes per document, less than 256
    bytes per document more, and about 64 MB (more only if two documents alone need it). With
    `scratch`, less than 200 bytes per document and about 100 MB. Time is linear in the number of
    documents, however many are similar.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped"]
    >>> part = decide_part(texts, [3, 2**40], SearchParams.of(0.7))
    >>> part.kept_number.tolist(), part.similarity.round(3).tolist()
    ([3, 3], [1.0, 0.842])
    """
    part = Part.of(texts, numbers, params, threads, scratch, also)
    max_candidates = check_integer(max_candidates, "max_candidates")
    number, n = part.number, len(part.number)
    fixed = _check_against(against, n)
    check_keep(keep, with_priority=priority is not None)
    priorities = None
    if priority is not None:
        priorities = check_priority(priority, n)[~fixed]
    signed = part.sign(within, batch)
    order = priority_order(keep, priorities, signed, fixed)
    kept, similarity, limited = decide(signed, order, fixed, max_candidates)
    kept[fixed], similarity[fixed] = np.flatnonzero(fixed), 1.0  # a copy of another one, too
    second = signed.also_similarity(np.arange(n), kept)
    unsure = np.zeros(n, np.bool_)
    unsure[limited] = True
    copies, removed = np.zeros(n, np.int64), order[kept[order] != order]
    copies[removed] = 1 + cumcount(kept[removed])
    return PartDecisions(number, number[kept], similarity, unsure, copies, second)


def find_pairs_of_part(
    texts: Any,
    numbers: Any,
    params: SearchParams,
    *,
    max_pairs: int = 100_000_000,
    within: Any = None,
    also: Any = None,
    batch: SignedBatch | None = None,
    estimates: bool = False,
    threads: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> PartPairs:
    """Find all near-duplicate pairs of a part, as `near_duplicates` does for a collection.

    Parameters
    ----------
    texts, numbers, params, within, also, batch, threads, scratch
        As in `decide_part`.
    max_pairs
        Raise instead of returning more pairs of this part.
    estimates
        Whether to return the share of equal minima of each pair, too.

    Returns
    -------
    PartPairs
        The same, to the bit, as the pairs of `near_duplicates` among these documents, if the part
        contains whole families.

    Raises
    ------
    TypeError, ValueError
        As `decide_part`.
    TooManyPairsError
        There are more pairs than `max_pairs`; they are counted before they take memory.

    Notes
    -----
    Memory: as `decide_part`, and 24 bytes per pair (40 for a moment).

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped"]
    >>> pairs = find_pairs_of_part(texts, [3, 2**40], SearchParams.of(0.7))
    >>> pairs.left.tolist(), pairs.right.tolist()
    ([3], [1099511627776])
    """
    part = Part.of(texts, numbers, params, threads, scratch, also)
    check_pair_params(params)
    max_pairs = check_integer(max_pairs, "max_pairs")
    find = partial(find_pairs, max_pairs=max_pairs)
    return part.pairs(find, estimates=estimates, within=within, batch=batch)


def _check_against(against: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    """Return which documents are kept in any case, or raise."""
    if against is None:
        return np.zeros(n, np.bool_)
    fixed = np.asarray(against)
    if fixed.shape != (n,) or (n and fixed.dtype != np.bool_):
        raise ValueError(
            f"against must hold True or False for each of the {n} documents, got "
            f"{fixed.dtype} of shape {fixed.shape}"
        )
    return fixed.astype(np.bool_, copy=False)
