"""From band keys to candidate pairs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.banding import LSHParams
from fastlsh.errors import TooManyPairsError
from fastlsh.results import Pairs

BANDS_AT_A_TIME = 4
"""Keys of so many bands are made in one pass over the signatures: 32 bytes a document."""

MAX_DOCUMENTS = 2**31 - 1


def check_signatures(signatures: Any) -> NDArray[np.uint32]:
    """Return the signatures, uint32 (n, num_perm), aligned and C-contiguous, or raise."""
    if not isinstance(signatures, np.ndarray) or signatures.dtype != np.uint32:
        kind = getattr(signatures, "dtype", type(signatures).__name__)
        raise TypeError(f"signatures must be an array of uint32, got {kind}")
    if signatures.ndim != 2 or signatures.shape[1] < 1:
        raise ValueError(f"signatures must have shape (n, num_perm), got {signatures.shape}")
    if len(signatures) > MAX_DOCUMENTS:
        raise ValueError(f"at most {MAX_DOCUMENTS:,} documents, got {len(signatures):,}")
    return np.require(signatures, np.uint32, ["C", "A"])


def check_bands(signatures: NDArray[np.uint32], params: LSHParams) -> None:
    """Raise ValueError if the bands do not fit the signatures."""
    if params.bands * params.rows > signatures.shape[1]:
        raise ValueError(
            f"{params.bands} bands of {params.rows} rows need {params.bands * params.rows} values, "
            f"signatures have {signatures.shape[1]}"
        )


def band_keys(signatures: NDArray[np.uint32], params: LSHParams) -> NDArray[np.uint64]:
    """Return the key of each document in each band.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm).
    params
        Bands and rows, bands * rows <= num_perm.

    Returns
    -------
    ndarray of uint64, shape (bands, n)
        Equal keys: equal values in that band (docs/signature-spec.md, section 6). The key 0 says
        that the document is empty; it is in no bucket.

    Raises
    ------
    TypeError, ValueError
        Signatures of another type or shape, or too narrow.
    """
    signatures = check_signatures(signatures)
    check_bands(signatures, params)
    keys = np.empty((params.bands, len(signatures)), np.uint64)
    _kernels.band_keys(signatures, 0, params.rows, keys)
    return keys


def new_table(n: int) -> NDArray[np.int32]:
    """Return the memory in which n keys are linked."""
    return np.empty(1 << max(4, (4 * n // 3).bit_length()), np.int32)


def linked_bands(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    order: NDArray[np.int64] | None = None,
) -> Iterator[NDArray[np.int32]]:
    """Yield for each band the latest earlier document in the same bucket, int32 (n,), -1: none.

    Parameters
    ----------
    signatures, params
        As in `band_keys`.
    order
        int64 (n,): only these documents, in this order; what is yielded are places in it. The
        array that is yielded is used again for the next band.
    """
    n = len(signatures) if order is None else len(order)
    table = new_table(n)
    previous = np.empty(n, np.int32)
    for first in range(0, params.bands, BANDS_AT_A_TIME):
        count = min(BANDS_AT_A_TIME, params.bands - first)
        keys = np.empty((count, len(signatures)), np.uint64)
        _kernels.band_keys(signatures, first, params.rows, keys)
        for band in range(count):
            chosen = keys[band] if order is None else keys[band][order]
            _kernels.link(chosen, table, previous)
            yield previous


class Neighbours(NamedTuple):
    """The documents that share a bucket with another one, each family in one place.

    A family is what is connected by shared buckets: no decision in one touches another, and what
    is compared lies close together.
    """

    documents: NDArray[np.int64]
    """int64 (m,): families one after the other, in each the given order."""
    previous: NDArray[np.int32]
    """int32 (bands, m): place of the latest earlier one in the same bucket, -1: none."""


def neighbours(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    order: NDArray[np.int64] | None = None,
) -> Neighbours:
    """Find who shares a bucket with whom. Parameters as in `linked_bands`."""
    n = len(signatures) if order is None else len(order)
    family = np.arange(n, dtype=np.int32)
    links = []
    for previous in linked_bands(signatures, params, order):
        later = np.flatnonzero(previous >= 0).astype(np.int32)
        earlier = previous[later]
        _kernels.unite(family, earlier, later)
        links.append((later, earlier))
    _kernels.families(family)
    related = family != np.arange(n, dtype=np.int32)
    related[family[related]] = True
    places = np.flatnonzero(related)
    places = places[np.argsort(family[places], kind="stable")]
    place = family  # of no further use
    place[places] = np.arange(len(places), dtype=np.int32)
    by_place = np.full((params.bands, len(places)), -1, np.int32)
    for band in range(params.bands):
        later, earlier = links[band]
        links[band] = (later[:0], later[:0])
        by_place[band, place[later]] = place[earlier]
    return Neighbours(places if order is None else order[places], by_place)


def candidate_blocks(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    near: Neighbours,
    *,
    max_pairs: int | None = None,
    room: int = 1 << 18,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield all candidate pairs, each once, in blocks, families together.

    Parameters
    ----------
    signatures, params, near
        The signatures, the bands, and their `neighbours`.
    max_pairs
        Raise instead of finding more.
    room
        At most so many pairs in a block; 8 bytes each.

    Yields
    ------
    left, right
        int32 arrays of places in `near.documents`, left < right; used again for the next block.

    Raises
    ------
    TooManyPairsError
        Before the first block.
    """
    if max_pairs is not None:
        _check_count(signatures, params, near, max_pairs)
    left = np.empty(room, np.int32)
    right = np.empty(room, np.int32)
    at = np.array([0, 0, -1], np.int64)
    while at[0] < len(near.documents):
        end = _kernels.emit_pairs(signatures, params.rows, *near, at, left, right)
        yield left[:end], right[:end]


def _check_count(
    signatures: NDArray[np.uint32], params: LSHParams, near: Neighbours, max_pairs: int
) -> None:
    """Raise TooManyPairsError if there are more candidate pairs than `max_pairs`."""
    totals = np.empty((params.bands, 3), np.int64)
    for band in range(params.bands):
        _kernels.chain_depths(near.previous[band], totals[band])
    if totals[:, 0].sum() <= max_pairs:
        return
    if totals[:, 0].max() <= max_pairs:
        at = np.array([0, 0, -1], np.int64)
        found = _kernels.emit_pairs(signatures, params.rows, *near, at, None, None, max_pairs + 1)
        if found <= max_pairs:
            return
    _, size, place = totals[np.argmax(totals[:, 1])]
    raise TooManyPairsError(
        f"more than max_pairs={max_pairs:,} candidate pairs: {size:,} documents share a bucket "
        f"with document {near.documents[place]}. Use deduplicate(), which is linear in the number "
        "of documents, or raise max_pairs"
    )


def candidate_pairs(signatures: NDArray[np.uint32], params: LSHParams) -> Pairs:
    """Return all pairs of documents whose values are equal in at least one whole band.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm). Rows of all ones are empty documents, in no pair.
    params
        Bands and rows, bands * rows <= num_perm.

    Returns
    -------
    Pairs
        With similarity NaN: candidates, nothing is verified. 24 bytes a pair.
    """
    signatures = check_signatures(signatures)
    check_bands(signatures, params)
    near = neighbours(signatures, params)
    keys = [
        pair_keys(near.documents[left], near.documents[right])
        for left, right in candidate_blocks(signatures, params, near)
    ]
    key = np.concatenate(keys) if keys else np.empty(0, np.int64)
    key.sort()
    return Pairs(
        key >> 32,
        key & 0xFFFFFFFF,
        np.full(len(key), np.nan),
        params=params,
        documents=len(signatures),
        empty=len(empty_documents(signatures)),
    )


def pair_keys(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each pair as one number, by which pairs sort: lesser * 2^32 + greater."""
    return (np.minimum(a, b) << 32) | np.maximum(a, b)


def empty_documents(signatures: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the documents without a shingle, int64: their row is all ones."""
    suspects = np.flatnonzero(signatures[:, 0] == 0xFFFFFFFF)
    empty: NDArray[np.int64] = suspects[(signatures[suspects] == 0xFFFFFFFF).all(axis=1)]
    return empty
