"""From families to candidate pairs, and pairs as numbers by which they sort."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.banding import LSHParams
from fastlsh.candidates.families import Families, find_families
from fastlsh.candidates.keys import RowBlocks, check_bands, check_signatures
from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import batches, run_batches, thread_count
from fastlsh.results import Pairs

CodedPairs = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Pairs as numbers, and their similarity."""


def pair_codes(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each pair as one number, by which pairs sort: lesser * 2^32 + greater."""
    return (np.minimum(a, b) << 32) | np.maximum(a, b)


def split_codes(code: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of `pair_codes`: (lesser, greater)."""
    return code >> 32, code & 0xFFFFFFFF


DOCUMENTS_AT_A_TIME = 1 << 14
"""Documents whose pairs one thread writes at a time."""


def candidate_blocks(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    families: Families,
    *,
    max_pairs: int | None = None,
    room: int = 1 << 18,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield all candidate pairs, each once, in blocks, families together.

    Parameters
    ----------
    signatures, params, families
        The signatures, the bands, and their `find_families`.
    max_pairs
        Raise instead of finding more.
    room
        At most so many pairs in a block; 8 bytes each.

    Yields
    ------
    left, right
        int32 arrays of rows of `families.documents`, left < right; used again for the next block.

    Raises
    ------
    TooManyPairsError
        Before the first block.
    """
    if max_pairs is not None:
        _check_count(signatures, params, families, max_pairs)
    yield from _emitted(signatures, params, families, 0, len(families.documents), room)


def _emitted(
    signatures: NDArray[np.uint32],
    params: LSHParams,
    families: Families,
    start: int,
    stop: int,
    room: int,
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield the pairs whose right document has a row from `start` to before `stop`."""
    left = np.empty(room, np.int32)
    right = np.empty(room, np.int32)
    at = np.array([start, 0, -1], np.int64)
    while at[0] < stop:
        end = _candidates.emit_pairs(
            signatures, params.rows, families.documents, families.previous, at, stop, left, right,
            asks=families.asks,
        )  # fmt: skip
        yield left[:end], right[:end]


def _check_count(
    signatures: NDArray[np.uint32], params: LSHParams, families: Families, max_pairs: int
) -> None:
    """Raise TooManyPairsError if there are more candidate pairs than `max_pairs`."""
    totals = np.empty((params.bands, 3), np.int64)
    for band in range(params.bands):
        _candidates.chain_depths(families.previous[band], totals[band])
    if totals[:, 0].sum() <= max_pairs:
        return
    if totals[:, 0].max() <= max_pairs:
        at = np.array([0, 0, -1], np.int64)
        stop, count = len(families.documents), 0
        while at[0] < stop and count <= max_pairs:
            count += _candidates.emit_pairs(
                signatures, params.rows, families.documents, families.previous, at, stop, None,
                None, max_pairs + 1 - count, asks=families.asks,
            )  # fmt: skip
        if count <= max_pairs:
            return
    _, size, row = totals[np.argmax(totals[:, 1])]
    document = int(families.documents[row])
    raise TooManyPairsError(
        f"more than max_pairs={max_pairs:,} candidate pairs: {size:,} documents share a bucket "
        f"with document {document}. Use deduplicate(), which is linear in the "
        "number of documents, or raise max_pairs",
        document,
    )


def candidate_pairs(
    signatures: NDArray[np.uint32], params: LSHParams, *, threads: int | None = None
) -> Pairs:
    """Return all pairs of documents whose values are equal in at least one whole band.

    Parameters
    ----------
    signatures, params, threads
        As in `band_keys`. Rows of all ones are empty documents, which are in no pair.

    Returns
    -------
    Pairs
        Unverified candidates, with similarity NaN; 24 bytes per pair.

    Notes
    -----
    Memory besides the signatures and the result: less than 64 bytes per document with two threads,
    if one document in ten shares a bucket with another one.

    Examples
    --------
    >>> import fastlsh
    >>> signatures = fastlsh.MinHasher().signatures(["some text", "another", "some text"])
    >>> found = candidate_pairs(signatures, LSHParams(17, 7))
    >>> found.left.tolist(), found.right.tolist()
    ([0], [2])
    """
    signatures = check_signatures(signatures)
    check_bands(signatures, params)
    threads = thread_count(threads)
    families = find_families(signatures, params, threads=threads)
    codes = RowBlocks(np.int64)

    def work(start: int, stop: int) -> Iterator[None]:
        for left, right in _emitted(signatures, params, families, start, stop, 1 << 14):
            codes.append(pair_codes(families.documents[left], families.documents[right]))
            yield

    run_batches(work, batches(len(families.documents), DOCUMENTS_AT_A_TIME), threads)
    (code,) = codes.take_sorted()
    return Pairs(
        *split_codes(code),
        np.full(len(code), np.nan),
        params=params,
        documents=len(signatures),
        empty=families.empty,
    )
