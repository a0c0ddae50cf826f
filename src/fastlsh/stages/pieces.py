"""Pieces of texts, lines or paragraphs: which repeat an earlier one, exactly or by similarity."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_threshold
from fastlsh.keyed import Key
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.stages.answers import decide
from fastlsh.stages.batches import sign_batch
from fastlsh.stages.signing import sign
from fastlsh.texts import Pieces, Shingler, with_key


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
    return SearchParams.of(shingler=plain, rule="equal")


def piece_keys(pieces: Pieces, params: SearchParams, min_length: int) -> NDArray[np.uint64]:
    """Return the band keys of pieces, uint64 (bands, m); for equality, one hash of each text.

    0: a piece that is not compared, because it is empty once it is normalised, or shorter than
    `min_length` code points.
    """
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
    equal = replace(params, rule="equal")
    hashed = sign(pieces, equal, options)
    kept, similarity, limited = decide(
        pieces, hashed, options.numbers(len(pieces)), np.zeros(0, np.bool_), max_candidates, equal,
        options,
    )  # fmt: skip
    if params.finds_equal:
        return DecidedPieces(kept, similarity, limited)
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
