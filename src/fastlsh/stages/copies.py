"""Copies: documents that are identical, the pairs that they add, and groups that are kept apart."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.candidates import (
    CodedPairs,
    Links,
    RowBlocks,
    keys_apart,
    link_bands,
    pair_codes,
    repeated,
    split_codes,
)
from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import RunOptions, batches, plural, run_batches
from fastlsh.parameters import SearchParams, check_also
from fastlsh.results import check_labels
from fastlsh.sets import set_sizes
from fastlsh.signatures import batch_size
from fastlsh.stages.signing import Signed, hashes_of_texts, hashing_steps, short_parts
from fastlsh.texts import Shingler, Texts, as_texts, joined_texts


def groups_of(within: Any, n: int, name: str = "within") -> NDArray[np.uint64] | None:
    """Return the group of each document, uint64 (n,); None: all are of one.

    Parameters
    ----------
    within
        A value for each document, in a list, an array, or a column of Arrow, pandas or polars.
    n
        The number of documents.
    name
        What messages call the argument.

    Raises
    ------
    TypeError, ValueError
        There are more or fewer values, or a value is missing.
    """
    if within is None:
        return None
    return check_labels(within, n, name)


def groups_of_both(
    within: Any, n: int, against_within: Any, n_against: int
) -> NDArray[np.uint64] | None:
    """Return the groups of two collections, those of `against` first; None: all are of one."""
    if within is None:
        if against_within is not None:
            raise ValueError("against_within is for the documents of against: give within, too")
        return None
    groups = groups_of(within, n)
    if not n_against and against_within is None:
        return groups
    if against_within is None:
        raise ValueError("within needs against_within, the values of the documents of against")
    others = groups_of(against_within, n_against, "against_within")
    assert groups is not None
    assert others is not None
    return np.concatenate([others, groups])


BLOCK = 1 << 18
"""Pairs that are worked on at a time."""


def first_copies(signed: Signed, order: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return for each document the first one with the same normalised text, itself if none.

    Second texts, if there are any, are the same, too, and not empty. Documents whose signatures
    begin alike are hashed as a whole, those with the same hash are compared in full. Linear in the
    number of documents, however many are alike.

    Parameters
    ----------
    signed
        The documents.
    order
        int64: those that are compared, in priority order; None: all, as they come.

    Returns
    -------
    ndarray of int64, shape (n,)
        Empty documents are copies of none.
    """
    texts, shingler, threads = signed.texts, signed.params.shingler, signed.options.threads
    groups = signed.groups if signed.also is None else _groups_by_also(signed, signed.also, order)
    one_band = LSHParams(1, min(signed.signatures.shape[1], 32))
    is_suspect = np.zeros(len(texts) if order is None else len(order), np.bool_)

    def mark(_: int, links: Links) -> None:
        for side in links:
            is_suspect[side] = True

    link_bands(signed.signatures, one_band, mark, order, groups=groups, threads=threads)
    suspects = np.flatnonzero(is_suspect)
    documents = suspects if order is None else order[suspects]
    hashes = np.empty(len(documents), np.uint64)

    def hash_texts(start: int, stop: int) -> Iterator[None]:
        return hashing_steps(shingler.take_texts(texts, documents[start:stop]), hashes[start:stop])

    run_batches(hash_texts, batches(len(documents), batch_size(texts)), threads)
    return first_equal(texts, documents, hashes, shingler, signed.options, groups)


def _groups_by_also(
    signed: Signed, also: Texts, order: NDArray[np.int64] | None
) -> NDArray[np.uint64]:
    """Return a group for each document: one for equal second texts, and for each empty one."""
    params, options = signed.params, signed.options
    hashes = hashes_of_texts(also, params, options)
    documents = np.arange(len(also)) if order is None else order
    first = first_equal(also, documents, hashes[documents], params.shingler, options, signed.groups)
    empty = np.flatnonzero(set_sizes(also, params.shingler, options) == 0)
    first[empty] = empty
    return first.astype(np.uint64)


def second_texts(
    also: Any, n: int, params: SearchParams, against_also: Any = None, n_against: int = 0
) -> Texts | None:
    """Return the second texts of all documents, those of `against` first; None: there are none.

    Parameters
    ----------
    also, against_also
        In any form of `texts`.
    n, n_against
        How many documents there are of both.
    params
        Of the search.
    """
    check_also(also, params)
    if also is None:
        if against_also is not None:
            raise ValueError("against_also is for the documents of against: give also, too")
        return None
    sides = []
    for name, side, expected in (("against_also", against_also, n_against), ("also", also, n)):
        texts = as_texts(() if side is None else side, name)
        if len(texts) != expected:
            raise ValueError(f"{name} must hold {plural(expected, 'text')}, got {len(texts)}")
        sides.append(params.shingler.prepared(texts))
    return joined_texts(*sides)


def originals_of(first: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the documents that are copies of none; None: all are."""
    originals = np.flatnonzero(first == np.arange(len(first)))
    return originals if len(originals) < len(first) else None


def first_equal(
    texts: Texts,
    documents: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    shingler: Shingler,
    options: RunOptions,
    groups: NDArray[np.uint64] | None = None,
) -> NDArray[np.int64]:
    """Return for each text the first one with the same normalised text, itself if none.

    Texts with the same hash are compared in full with the first of them. Different texts, which
    hardly ever have the same hash, are then compared among themselves.

    Parameters
    ----------
    texts
        A collection.
    documents, hashes
        int64: the texts that are compared, in priority order; and uint64, a hash of each whole
        text; 0: it is compared with none.
    shingler, options
        How texts are normalised, and threads.
    groups
        uint64 (n,): only texts of the same group are compared; None: all are of one.
    """
    first = options.numbers(len(texts))
    if groups is not None:
        hashes = keys_apart(hashes, groups[documents])
    while len(documents):
        rows, firsts = repeated(hashes)
        copies, originals = documents[rows], documents[firsts]
        equal = equal_texts(texts, copies, originals, shingler, options.threads)
        first[copies[equal]] = originals[equal]
        documents, hashes = copies[~equal], hashes[rows[~equal]]
    return first


def equal_texts(
    texts: Texts,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    shingler: Shingler,
    threads: int,
) -> NDArray[np.bool_]:
    """Return of pairs of documents whether their normalised texts are equal, compared in full."""
    same = np.empty(len(left), np.uint8)

    def compare(start: int, stop: int) -> Iterator[None]:
        ours = shingler.take_texts(texts, left[start:stop])
        theirs = shingler.take_texts(texts, right[start:stop])
        for first, last in short_parts(ours):
            ours.part(first, last).equal(
                theirs.part(first, last), same[start + first : start + last]
            )
            yield

    run_batches(compare, batches(len(left), batch_size(texts)), threads)
    return same.astype(bool)


def with_copies(
    pairs: RowBlocks, first: NDArray[np.int64], identical: float | None, max_pairs: int
) -> CodedPairs:
    """Add the pairs in which copies of the originals take part.

    Parameters
    ----------
    pairs
        The pairs of originals, as codes and similarities, which are taken out.
    first
        int64 (n,): of each document the first one that it is a copy of, itself if of none.
    identical
        The similarity of a copy and its original; None: the two are no pair.
    max_pairs
        Raise TooManyPairsError instead of returning more.
    """
    copies = np.bincount(first, minlength=len(first))  # of each original, itself included
    if copies.max(initial=0) <= 1:
        code, similarity = pairs.take_sorted()
        return code, similarity
    code, similarity = pairs.take()
    left, right = split_codes(code)
    between = copies[left] * copies[right]
    inside = 0 if identical is None else int((copies * (copies - 1) // 2).sum())
    total = int(between.sum()) + inside
    if total > max_pairs:
        largest = int(np.argmax(copies))
        raise TooManyPairsError(
            f"{plural(total, 'pair')} {'is' if total == 1 else 'are'} more than"
            f" max_pairs={max_pairs:,}: {copies[largest]:,} documents are identical, of which"
            f" document {largest} is the first. Use deduplicate(), which is linear in the number of"
            " documents, or raise max_pairs",
            largest,
        )
    members = np.argsort(first, kind="stable")  # grouped by original
    start = np.zeros(len(first) + 1, np.int64)
    np.cumsum(copies, out=start[1:])
    before = np.arange(len(first)) - start[first[members]]
    blocks = RowBlocks(np.int64, np.float64)
    # Every copy of the left one with every copy of the right one.
    for pair, nth in _counted(between):
        width = copies[right[pair]]
        a, b = members[start[left[pair]] + nth // width], members[start[right[pair]] + nth % width]
        blocks.append(pair_codes(a, b), similarity[pair])
    # Every copy with the ones before it in its group.
    for later, nth in () if identical is None else _counted(before):
        a, b = members[start[first[members[later]]] + nth], members[later]
        blocks.append(pair_codes(a, b), np.full(len(later), identical))
    code, similarity = blocks.take_sorted()
    return code, similarity


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
