"""Lines, paragraphs and sentences: which repeat an earlier one, exactly or by similarity."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer, check_share
from fastlsh.keyed import Key
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.stages.answers import decide
from fastlsh.stages.batches import SignedBatch, sign_batch
from fastlsh.stages.copies import first_equal
from fastlsh.stages.signing import hashes_of_texts, sign
from fastlsh.texts import Pieces, Shingler, with_key


class DecidedPieces(NamedTuple):
    """Which piece is kept for each."""

    kept: NDArray[np.int64]
    """int64 (m,): the kept piece that this one repeats; itself if it is kept."""
    similarity: NDArray[np.float64]
    """float64 (m,): to that one."""
    limited: NDArray[np.int64]
    """int64, ascending: those that were not compared with every candidate."""
    short: NDArray[np.bool_] | None = None
    """bool (m,): as in `SignedBatch`."""
    empty: NDArray[np.bool_] | None = None
    """bool (m,): which pieces have no unit; None where `short` is None."""


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
    if check_share(threshold, "threshold") != 1.0:
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


def check_window(window: int, params: SearchParams) -> int:
    """Return of how many lines, paragraphs or sentences a piece consists, or raise.

    Windows of one text that follow each other share all but one of these. By similarity, the first
    would remove the second.
    """
    window = check_integer(window, "window")
    if window > 1 and not params.finds_equal:
        raise ValueError(
            "window is for a threshold of 1: windows that overlap are similar to each other"
        )
    return window


def sign_pieces(pieces: Pieces, params: SearchParams, min_length: int) -> SignedBatch:
    """Sign pieces; for equality, the only key is a hash of each text.

    The keys are 0 of a piece that is not compared, because it has no unit once it is normalised,
    or is shorter than `min_length` code points.
    """
    signed = sign_batch(pieces, params, text_hashes=False, threads=1)
    signed.keys[:, pieces.lengths < min_length] = 0
    if signed.short is not None:
        signed.short[pieces.lengths < min_length] = False
    return signed


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
    number = options.numbers(len(pieces))
    if params.finds_equal:
        signed, none = sign(pieces, params, options), np.zeros(0, np.bool_)
        return DecidedPieces(*decide(signed, number, none, max_candidates))
    hashes = hashes_of_texts(pieces, params, options)
    first = first_equal(pieces, number, hashes, params.shingler, options)
    originals = np.flatnonzero(first == number)
    chosen = params.shingler.prepared(pieces.chosen(originals))
    signed = sign(chosen, params, options)
    order = np.arange(len(originals))
    fixed = originals < n_against
    kept_row, alike, limited = decide(signed, order, fixed, max_candidates)
    row = np.searchsorted(originals, first)
    kept, similarity = originals[kept_row[row]], alike[row]
    similarity[(first != number) & (kept == first)] = np.nan if params.verify == "none" else 1.0
    is_empty = np.zeros(len(pieces), np.bool_)
    is_empty[originals[signed.empty]] = True
    alone = is_empty[first]  # also copies of a piece that is like no other
    kept[alone], similarity[alone] = number[alone], 1.0
    short = None if signed.short is None else signed.short[row]
    return DecidedPieces(kept, similarity, originals[limited], short, alone)
