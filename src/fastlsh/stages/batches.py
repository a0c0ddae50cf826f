"""Sign a batch for an engine: keys, lengths and text hashes, in one pass over the texts."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import steps_of
from fastlsh.candidates import keys_by_size
from fastlsh.parallel import RunOptions, batches, run_batches
from fastlsh.parameters import SearchParams, check_params
from fastlsh.sets import set_sizes
from fastlsh.signatures import BandKeys, batch_size
from fastlsh.stages.signing import (
    Signed,
    hash_into,
    hasher_for,
    hashes_of_texts,
    hashing_steps,
    sign,
)
from fastlsh.texts import Texts, as_texts


def check_column(column: Any, name: str) -> NDArray[Any]:
    """Return a column of integers as an array of one dimension, or raise TypeError."""
    values = np.asarray(column)
    if values.ndim == 1 and not len(values):
        return values.astype(np.int64) if values.dtype.kind not in "iu" else values
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a column of integers without nulls, got {values.dtype} "
            f"of {values.ndim} dimensions"
        )
    return values


def check_numbers(column: Any, name: str, n: int | None = None) -> NDArray[np.int64]:
    """Return a column of n document numbers as int64, or raise.

    Raises
    ------
    TypeError
        It has no integers.
    ValueError
        It has another length, or a number below 0 or above 2^63 - 1.
    """
    values = check_column(column, name)
    if n is not None and len(values) != n:
        raise ValueError(f"{name} has {len(values)} elements, expected {n}")
    if len(values) and not (values.min() >= 0 and int(values.max()) < 2**63):
        row = int(np.argmax((values < 0) | (values > 2**63 - 1)))
        raise ValueError(f"{name} must be from 0 to 2^63 - 1, got {values[row]} in row {row}")
    return values.astype(np.int64, copy=False)


def check_ascending(numbers: NDArray[np.int64], name: str) -> None:
    """Raise ValueError unless each number is greater than the one before."""
    wrong = np.flatnonzero(numbers[1:] <= numbers[:-1])
    if len(wrong):
        row = int(wrong[0]) + 1
        raise ValueError(
            f"{name} must ascend: row {row} has {numbers[row]} after {numbers[row - 1]}"
        )


class SignedBatch(NamedTuple):
    """What an engine needs to know about each document of a batch, in plain numbers."""

    keys: NDArray[np.uint64]
    """uint64 (bands, n): ``keys[band]`` is the column of a band; 0: an empty document. With the
    rule "equal", the only one is that of the text hashes; with a search by containment, there are
    the bands of each partition by size."""
    lengths: NDArray[np.int64]
    """int64 (n,): code points; bytes with unit "byte"; tokens with a tokenizer."""
    text_hashes: NDArray[np.uint64] | None
    """uint64 (n,): never 0, and equal for documents with the same normalised text; if wanted."""
    signatures: NDArray[np.uint32] | None
    """uint32 (n, num_perm), if they are kept."""
    short: NDArray[np.bool_] | None = None
    """bool (n,): whether a document has fewer units than a shingle, but one, so that only an equal
    one is similar to it; None with the rule "equal", to which that makes no difference."""


def sign_batch(
    texts: Any,
    params: SearchParams,
    *,
    signatures: bool = False,
    text_hashes: bool = True,
    threads: int | None = None,
) -> SignedBatch:
    """Sign the documents of a batch, reading each text once.

    Parameters
    ----------
    texts
        A sequence or iterable of str, bytes (UTF-8) or None (empty); a numpy array of them; or an
        Arrow column, read in place.
    params
        The parameters of the search, from `SearchParams.of`.
    signatures
        Whether to return the signatures. Otherwise, `decide_part` and `find_pairs_of_part` compute
        them again for the documents that share a bucket.
    text_hashes
        Whether to hash whole texts, which the argument `batch` of these functions requires.
    threads
        Number of threads; by default all usable processors. It never changes the result.

    Returns
    -------
    SignedBatch
        The values of a document do not depend on its form, its batch or its position in it.

    Raises
    ------
    TypeError, ValueError
        A document has an unsupported type or is not UTF-8; the message names its position in the
        batch.

    Notes
    -----
    Memory: 8 * bands + 16 bytes per document, 4 * num_perm more with signatures or a search by
    containment, and a few MB for each thread. That search has ``params.n_keys`` bands, and reads
    each text twice.

    docs/signature-spec.md defines keys and signatures. Text hashes can be compared only within one
    collection that was signed by one version of fastlsh on machines of the same byte order. The
    probability that any two of n different texts have the same text hash is about n^2 / 2^65.

    Examples
    --------
    >>> signed = sign_batch(["one text", "one text", ""], SearchParams.of(0.8))
    >>> signed.keys.shape, signed.lengths.tolist(), int(signed.keys[0, 2])
    ((17, 3), [8, 8, 0], 0)
    """
    params, options = check_params(params), RunOptions.of(threads)
    collection = as_texts(texts)
    n = len(collection)
    if params.partitions:
        collection = params.shingler.prepared(collection)
        signed, steps = sign_with_steps(collection, params, options)
        made = keys_by_size(signed.signatures, steps, params.partitions, threads=options.threads)
        hashes = hashes_of_texts(collection, params, options) if text_hashes else None
        kept = signed.signatures if signatures else None
        return SignedBatch(made, signed.lengths, hashes, kept, signed.short)
    hasher = hasher_for(params, options)
    width = 0 if params.finds_equal else params.num_perm
    kept = np.empty((n, width), np.uint32) if signatures else None
    keys = np.empty((params.n_keys, n), np.uint64)
    lengths = np.empty(n, np.int64)
    hashes = np.empty(n, np.uint64) if text_hashes else None
    short = None if params.finds_equal else np.empty(n, np.bool_)

    def work(start: int, stop: int) -> Iterator[None]:
        plain = params.shingler.plain_texts(collection, start, stop)
        if params.finds_equal:
            yield from hash_into(plain, params.shingler, keys[0, start:stop], lengths[start:stop])
            if hashes is not None:
                yield from hashing_steps(plain, hashes[start:stop])
            return
        gathered = params.shingler.tokenised(plain, start)
        counted = lengths[start:stop] = gathered.lengths()
        assert short is not None
        short[start:stop] = params.shingler.are_short(gathered, counted)
        if hashes is not None:
            yield from hashing_steps(plain, hashes[start:stop])
        out = np.empty((stop - start, width), np.uint32) if kept is None else kept[start:stop]
        band_keys = BandKeys(params.lsh.rows, keys[:, start:stop])
        yield from hasher.sign_gathered(gathered, counted, out, band_keys)

    run_batches(work, batches(n, batch_size(collection)), options.threads)
    if short is not None:
        short[keys[0] == 0] = False  # whose only shingle is ignored
    return SignedBatch(keys, lengths, hashes, kept, short)


def sign_with_steps(
    texts: Texts, params: SearchParams, options: RunOptions
) -> tuple[Signed, NDArray[np.uint8]]:
    """Sign texts for a search by containment; also return the step of the size of each."""
    steps = steps_of(set_sizes(texts, params.shingler, options))
    return sign(texts, params, options), steps
