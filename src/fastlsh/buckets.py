"""From band keys to candidate pairs."""

from collections.abc import Iterator
from typing import Any

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
        Equal keys: equal values in that band (docs/signature-spec.md, section 5). The key 0 says
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


def linked_bands(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    documents: NDArray[np.int64] | None = None,
) -> Iterator[NDArray[np.int32]]:
    """Yield for each band the latest earlier document in the same bucket, int32 (n,), -1: none.

    Parameters
    ----------
    signatures, params
        As in `band_keys`.
    documents
        int64 (m,): only these, in this order; the yielded numbers count in it. The array that is
        yielded is used again for the next band.
    """
    n = len(signatures) if documents is None else len(documents)
    table = np.empty(1 << max(4, (4 * n // 3).bit_length()), np.int32)
    previous = np.empty(n, np.int32)
    for first in range(0, params.bands, BANDS_AT_A_TIME):
        count = min(BANDS_AT_A_TIME, params.bands - first)
        keys = np.empty((count, len(signatures)), np.uint64)
        _kernels.band_keys(signatures, first, params.rows, keys)
        for band in range(count):
            chosen = keys[band] if documents is None else keys[band][documents]
            _kernels.link(chosen, table, previous)
            yield previous


def candidate_blocks(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    *,
    documents: NDArray[np.int64] | None = None,
    max_pairs: int | None = None,
    room: int = 1 << 20,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield all candidate pairs, each once, in blocks.

    Parameters
    ----------
    signatures, params
        As in `band_keys`.
    documents
        int64, ascending: only these.
    max_pairs
        Raise instead of finding more.
    room
        At most so many pairs in a block; 8 bytes each.

    Yields
    ------
    left, right
        int32 arrays of documents, left < right; they are used again for the next block.

    Raises
    ------
    TooManyPairsError
        Before the first block wherever counting shows it.
    """
    if max_pairs is not None:
        _check_count(signatures, params, documents, max_pairs)
    left = np.empty(room, np.int32)
    right = np.empty(room, np.int32)
    end = 0
    for band, previous in enumerate(linked_bands(signatures, params, documents)):
        at = np.array([0, -1], np.int64)
        while at[0] < len(previous):
            end += _kernels.emit_pairs(
                signatures, params.rows, band, previous, documents, at, left[end:], right[end:]
            )
            if end == room:
                yield left, right
                end = 0
    if end:
        yield left[:end], right[:end]


def _check_count(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    documents: NDArray[np.int64] | None,
    max_pairs: int,
) -> None:
    """Raise TooManyPairsError if there are more candidate pairs than `max_pairs`."""
    found = 0
    size, example = 0, 0
    totals = np.empty(3, np.int64)
    for band, previous in enumerate(linked_bands(signatures, params, documents)):
        _kernels.chain_depths(previous, totals)
        if totals[1] > size:
            size = int(totals[1])
            example = int(totals[2] if documents is None else documents[totals[2]])
        if band == 0 and 4 * totals[0] * params.bands <= max_pairs:
            return      # far from it
        if totals[0] > max_pairs:
            found = max_pairs + 1
        else:
            at = np.array([0, -1], np.int64)
            found += _kernels.emit_pairs(
                signatures, params.rows, band, previous, documents, at, None, None,
                max_pairs + 1 - found,
            )  # fmt: skip
        if found > max_pairs:
            raise TooManyPairsError(
                f"more than max_pairs={max_pairs:,} candidate pairs: {size:,} documents share a "
                f"bucket with document {example}. Use deduplicate(), which is linear in the "
                "number of documents, or raise max_pairs"
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
    blocks = [
        left.astype(np.int64) << 32 | right for left, right in candidate_blocks(signatures, params)
    ]
    key = np.concatenate(blocks) if blocks else np.empty(0, np.int64)
    key.sort()
    return Pairs(
        key >> 32,
        key & 0xFFFFFFFF,
        np.full(len(key), np.nan),
        params=params,
        documents=len(signatures),
    )
