"""Pieces of texts, lines or paragraphs: which repeat an earlier one, exactly or by similarity."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_threshold
from fastlsh.candidates import repeated
from fastlsh.keyed import Key
from fastlsh.parallel import RunOptions, batches, run
from fastlsh.parameters import SearchParams
from fastlsh.signatures import batch_size
from fastlsh.stages.answers import decide
from fastlsh.stages.batches import sign_batch
from fastlsh.stages.copies import equal_texts, hashing_steps
from fastlsh.stages.signing import sign
from fastlsh.texts import Pieces, Shingler, Texts, with_key

CHUNK = 1 << 24
"""Pieces that are hashed at a time."""


class DecidedPieces(NamedTuple):
    """Which piece is kept for each."""

    kept: NDArray[np.int64]
    """int64 (m,): the kept piece that this one repeats; itself if it is kept."""
    similarity: NDArray[np.float64]
    """float64 (m,): to that one."""
    limited: NDArray[np.int64]
    """int64, ascending: those that were not compared with every candidate."""


def piece_params(
    threshold: float = 1.0,
    *,
    shingler: Shingler | None = None,
    key: Key | None = None,
    **similar: Any,
) -> SearchParams:
    """Return the parameters of a search among pieces; a threshold of 1 means equal texts.

    Parameters
    ----------
    threshold, shingler, key, **similar
        As in `SearchParams.of`; `similar` is for a threshold below 1.

    Raises
    ------
    TypeError, ValueError
        An unsuitable argument, or one that equality has no use for.
    """
    plain = with_key(shingler, key)
    if check_threshold(threshold) != 1.0:
        return SearchParams.of(threshold, shingler=plain, **similar)
    if similar:
        raise ValueError(
            f"{min(similar)} is for a threshold below 1: at 1, a line is removed if it equals"
            " another one"
        )
    if plain.unit == "token" or plain.tokenizer is not None:
        raise ValueError(
            "equal lines are found without tokens: a shingler of tokens needs a threshold below 1"
        )
    return SearchParams.of(1.0, shingler=plain, num_perm=1, bands=1, rows=1)


def is_exact_match(params: SearchParams) -> bool:
    """Whether a piece goes only if it equals another one."""
    return params.threshold == 1.0


def piece_keys(pieces: Pieces, params: SearchParams, min_length: int) -> NDArray[np.uint64]:
    """Return the band keys of pieces, uint64 (bands, m); for equality, one hash of each text.

    0: a piece that is not compared, because it is empty once it is normalised, or shorter than
    `min_length` code points.
    """
    if is_exact_match(params):
        hashes, lengths = _hashes(pieces, params.shingler, RunOptions.of(1))
        hashes[lengths == 0] = 0
        keys = hashes[np.newaxis]
    else:
        keys = sign_batch(pieces, params, text_hashes=False, threads=1).keys
    keys[:, pieces.lengths < min_length] = 0
    return keys


def decide_pieces(
    pieces: Pieces,
    params: SearchParams,
    max_candidates: int,
    options: RunOptions,
    n_against: int = 0,
) -> DecidedPieces:
    """Decide which pieces are kept: the first of those that are equal, or alike.

    Parameters
    ----------
    pieces
        All that are compared, in order.
    params
        From `piece_params`.
    max_candidates
        As in `deduplicate`.
    options
        Threads and progress.
    n_against
        How many pieces, the first ones, are of `against`: these are never compared with each
        other, and what is answered for them has no meaning.

    Notes
    -----
    Memory for equality: about 50 bytes for each piece, besides where it stands.
    """
    kept = first_equal(pieces, params.shingler, options)
    similarity = np.ones(len(kept))
    if is_exact_match(params):
        return DecidedPieces(kept, similarity, np.empty(0, np.int64))
    original = kept == options.numbers(len(kept))
    originals = np.flatnonzero(original)
    chosen = params.shingler.prepared(pieces.chosen(originals))
    signed = sign(chosen, params, options)
    order = np.arange(len(originals))
    fixed = originals < n_against
    found, alike, limited = decide(chosen, signed, order, fixed, max_candidates, params, options)
    row = np.searchsorted(originals, kept)
    similarity = alike[row]
    itself = found[row] == row
    similarity[~original & itself] = np.nan if params.verify == "none" else 1.0
    return DecidedPieces(originals[found[row]], similarity, originals[limited])


def first_equal(texts: Texts, shingler: Shingler, options: RunOptions) -> NDArray[np.int64]:
    """Return for each text the first one that equals it once both are normalised, int64 (n,).

    Texts with the same hash are compared in full. Empty ones equal none.
    """
    n = len(texts)
    first = options.numbers(n)
    seen, numbers_seen = np.empty(0, np.uint64), np.empty(0, np.int64)
    advance = options.progress.stage("identical", n)
    for start, stop in batches(n, CHUNK):
        hashes, lengths = _hashes(texts, shingler, options, start, stop)
        filled = np.flatnonzero(lengths)
        values = np.concatenate([seen, hashes[filled]])
        numbers = np.concatenate([numbers_seen, filled + start])
        later, earlier = repeated(values)
        copies, originals = numbers[later], numbers[earlier]
        equal = equal_texts(texts, copies, originals, shingler, options.threads)
        first[copies[equal]] = originals[equal]
        if stop < n:
            new = np.ones(len(values), np.bool_)
            new[later] = False
            seen, numbers_seen = values[new], numbers[new]
        advance(stop - start)
    return first


def _hashes(
    texts: Texts, shingler: Shingler, options: RunOptions, start: int = 0, stop: int | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return a hash of each normalised text, never 0, and its length."""
    stop = len(texts) if stop is None else stop
    hashes, lengths = np.empty(stop - start, np.uint64), np.empty(stop - start, np.int64)

    def work(low: int, high: int) -> Iterator[None]:
        plain = shingler.plain_texts(texts, start + low, start + high)
        plain.lengths(lengths[low:high])
        yield from hashing_steps(plain, hashes[low:high])

    if start < stop:
        run(work, batches(stop - start, batch_size(texts)), options.threads)
    return hashes, lengths
