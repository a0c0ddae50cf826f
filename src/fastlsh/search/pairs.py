"""All pairs of near-duplicates."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BY_SETS, BY_SIGNATURE, NOT_VERIFIED, agreement
from fastlsh.candidates import (
    Keyed,
    candidate_blocks,
    empty_documents,
    joined_blocks,
    pair_keys,
    with_copies,
)
from fastlsh.errors import check_integer
from fastlsh.parallel import Progress, ProgressOption
from fastlsh.parameters import Settings, check_ids
from fastlsh.results import Pairs
from fastlsh.search.copies import first_copies
from fastlsh.search.short_shingles import warn_of_short_shingles
from fastlsh.sets import ShingleSets
from fastlsh.stages import Signed
from fastlsh.texts import Shingler, Texts, as_texts


def near_duplicates(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    ids: Sequence[Any] | None = None,
    shingler: Shingler | None = None,
    num_perm: int = 128,
    seed: int = 1,
    recall: float = 0.98,
    bands: int | None = None,
    rows: int | None = None,
    scheme: str = "affine32",
    verify: str = "exact",
    threads: int | None = None,
    max_pairs: int = 100_000_000,
    progress: ProgressOption = False,
) -> Pairs:
    """Find all pairs of texts whose Jaccard similarity is at least `threshold`.

    Every returned pair is checked. A pair is missed with probability 1 - P(similarity):
    ``result.params.probability(s)`` states it; at the threshold itself it is at most 1 - recall.

    Parameters
    ----------
    texts
        A sequence or iterable of str, bytes (UTF-8) or None (empty); a numpy array of them; or a
        column that speaks the Arrow PyCapsule protocol (pyarrow, polars, pandas, DuckDB...).
    threshold
        Jaccard similarity of shingle sets, above 0 and at most 1.
    ids
        One for each document, for `Pairs.left_id` and `Pairs.right_id`.
    shingler
        What a document is a set of; default ``Shingler()``, 9 characters.
    num_perm, seed, scheme
        The signatures: see `MinHasher`.
    recall
        Probability of finding a pair exactly at the threshold; more similar ones are found more
        surely. Chooses bands and rows: see `LSHParams.for_threshold`.
    bands, rows
        Instead of `recall`.
    verify
        "exact": the Jaccard similarity of the sets of 64-bit shingle hashes. "signature": the
        share of equal minima. "none": candidates as they are, similarity NaN.
    threads
        How many; default: the processors this process may use. They never change the result.
    max_pairs
        Raise instead of returning more pairs (24 bytes each).
    progress
        True: a line on stderr. Or a function of (stage, done, total).

    Returns
    -------
    Pairs
        Sorted by (left, right).

    Raises
    ------
    TypeError, ValueError
        An unsuitable argument, or a document of another type (the message names it).
    TooManyPairsError
        More pairs than `max_pairs`; counted before they take memory.

    Warns
    -----
    RecallWarning
        Very many pairs are compared in vain: the threshold is so low for `num_perm`, or shingles
        of few characters make unrelated documents similar by chance.

    Notes
    -----
    Memory besides the texts: 4 * num_perm bytes a document for the signatures, less than 256
    bytes a document more, 24 bytes a pair (40 for a moment) and about 64 MB.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> [(a, b, round(s, 3)) for a, b, s in near_duplicates(texts, 0.7)]
    [(0, 1, 0.842)]
    """
    settings = Settings.of(
        threshold, shingler=shingler, num_perm=num_perm, seed=seed, recall=recall, bands=bands,
        rows=rows, scheme=scheme, verify=verify, threads=threads,
    )  # fmt: skip
    check_integer(max_pairs, "max_pairs", 0)
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    hasher = settings.hasher
    told = Progress(progress)
    signed = Signed.of(collection, hasher, settings.params, told)
    warn_of_short_shingles(collection, signed.signatures, settings)
    first = first_copies(collection, hasher.shingler, signed.signatures, None, hasher.threads)
    found = list(_verified(collection, signed, first, settings, max_pairs, told))
    identical = np.nan if settings.verify == NOT_VERIFIED else 1.0
    key, similarity = with_copies(joined_blocks(found), first, identical, max_pairs)
    return Pairs(
        key >> 32,
        key & 0xFFFFFFFF,
        similarity,
        ids=ids,
        params=settings.params,
        documents=len(collection),
        empty=len(empty_documents(signed.signatures)),
    )


def _verified(
    texts: Texts,
    signed: Signed,
    first: NDArray[np.int64],
    settings: Settings,
    max_pairs: int,
    progress: Progress,
) -> Iterator[Keyed]:
    """Find and verify the pairs among documents that are no copies, block by block."""
    originals = np.flatnonzero(first == np.arange(len(first)))
    hasher = settings.hasher
    order = originals if len(originals) < len(first) else None
    near = signed.neighbours(settings.params, order, hasher.threads)
    documents = near.documents
    signatures = signed.signatures
    sets = ShingleSets(texts, hasher.shingler, documents, signed.lengths[documents], hasher.threads)
    advance = progress.stage("verified", len(documents))
    done = 0
    for left, right in candidate_blocks(signatures, settings.params, near, max_pairs=max_pairs):
        if settings.verify == BY_SETS:
            similarity = sets.similarities(left, right, settings.threshold)
            kept = similarity >= 0
        elif settings.verify == BY_SIGNATURE:
            similarity = np.empty(len(left))
            agreement(signatures, documents[left], documents[right], similarity)
            kept = similarity >= settings.threshold
        else:
            similarity = np.full(len(left), np.nan)
            kept = np.ones(len(left), np.bool_)
        reached = int(right[-1]) + 1 if len(right) else done
        advance(reached - done)
        done = reached
        yield pair_keys(documents[left[kept]], documents[right[kept]]), similarity[kept]
    advance(len(documents) - done)
