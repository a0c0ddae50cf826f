"""A collection without near-duplicates, and the proof for each document that goes."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.candidates import empty_documents
from fastlsh.parallel import Progress, ProgressOption, Stopwatch, batches
from fastlsh.parameters import Settings, check_ids
from fastlsh.results import Deduplication
from fastlsh.search.copies import first_copies
from fastlsh.search.short_shingles import warn_of_short_shingles
from fastlsh.stages import Signed, keep_or_drop
from fastlsh.texts import Shingler, Texts, as_texts, joined

KEEP = ("first", "last", "longest")


def deduplicate(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    keep: str | ArrayLike = "first",
    max_candidates: int = 1000,
    shingler: Shingler | None = None,
    num_perm: int = 128,
    seed: int = 1,
    recall: float = 0.98,
    bands: int | None = None,
    rows: int | None = None,
    scheme: str = "affine32",
    verify: str = "exact",
    threads: int | None = None,
    progress: ProgressOption = False,
) -> Deduplication:
    """Remove the near-duplicates from a collection.

    In priority order, a document is removed if its verified similarity with a document that is
    kept is at least `threshold`; that document is the proof. So nothing is removed by a chain of
    others, and each removal can be checked. Time and memory grow linearly with the number of
    documents, however many of them are alike.

    Parameters
    ----------
    texts, threshold, ids, shingler, num_perm, seed, recall, bands, rows, scheme, verify, threads,
    progress
        As in `near_duplicates`.
    against
        A second collection, in any form of `texts`: documents that are kept already. They come
        first in priority and are not part of the result.
    against_ids
        Their ids.
    keep
        Who has priority: "first", "last", "longest" (in code points of the normalised text; in
        bytes with unit "byte"), or an array with a number for each document, higher first. Ties
        go to the earlier document.
    max_candidates
        At most so many kept documents are compared with one. `Deduplication.limited` counts how
        often this, or a bucket with more than 64 kept documents, left some out.

    Returns
    -------
    Deduplication
        In the order of the input. Empty documents are kept.

    Raises
    ------
    TypeError, ValueError
        An unsuitable argument, or a document of another type (the message names it).

    Warns
    -----
    RecallWarning
        As `near_duplicates` does.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> deduplicate(texts, 0.7).kept.tolist()
    [True, False, True]
    """
    settings = Settings.of(
        threshold, shingler=shingler, num_perm=num_perm, seed=seed, recall=recall, bands=bands,
        rows=rows, scheme=scheme, verify=verify, threads=threads,
    )  # fmt: skip
    if max_candidates < 1:
        raise ValueError(f"max_candidates must be at least 1, got {max_candidates}")
    collection = as_texts(texts)
    known = as_texts([] if against is None else against)
    ids = check_ids(ids, len(collection))
    against_ids = check_ids(against_ids, len(known), "against_ids")
    everything = joined(known, collection)
    hasher = settings.hasher
    told = Progress(progress)
    clock = Stopwatch()
    with clock("signatures"):
        signed = Signed.of(everything, hasher, settings.params, told)
        warn_of_short_shingles(everything, signed.signatures, settings)
    if hasher.shingler.tokenizer is not None and isinstance(keep, str) and keep == "longest":
        own_lengths = _code_points(collection, hasher.shingler)
    else:
        own_lengths = signed.lengths[len(known) :]
    order = _priority_order(keep, own_lengths, len(known))
    with clock("identical documents"):
        first = first_copies(everything, hasher.shingler, signed.signatures, order, hasher.threads)
    empty = empty_documents(signed.signatures)
    asked = first == np.arange(len(first))
    asked[empty] = False
    with clock("decisions"):
        decisions = keep_or_drop(
            everything, signed, settings, order[asked[order]],
            np.arange(len(everything)) < len(known), max_candidates, told,
        )  # fmt: skip
    kept = np.arange(len(everything))
    similarity = np.ones(len(everything))
    dropped = decisions.proof >= 0
    kept[decisions.documents[dropped]] = decisions.proof[dropped]
    similarity[decisions.documents] = decisions.similarity
    copies = np.flatnonzero(first != np.arange(len(first)))
    kept[copies] = kept[first[copies]]  # what held for the original
    similarity[copies] = similarity[first[copies]]
    if verify == "none":
        similarity[copies] = np.nan
    kept = kept[len(known) :]
    return Deduplication(
        np.where(kept >= len(known), kept - len(known), -1),
        np.where(kept >= len(known), -1, kept),
        similarity[len(known) :],
        threshold=settings.threshold,
        limited_documents=np.sort(decisions.documents[decisions.unsure]) - len(known),
        ids=ids,
        against_ids=against_ids,
        params=settings.params,
        empty=int((empty >= len(known)).sum()),
        options={
            "keep": keep, "max_candidates": max_candidates, "shingler": hasher.shingler,
            "num_perm": num_perm, "seed": seed, "bands": settings.params.bands,
            "rows": settings.params.rows, "scheme": scheme, "verify": verify,
        },
        seconds=clock,
    )  # fmt: skip


def _code_points(texts: Texts, shingler: Shingler) -> NDArray[np.int64]:
    """Return the length of each normalised text, where signing has counted tokens."""
    lengths = np.empty(len(texts), np.int64)
    for start, stop in batches(len(texts), 4096):
        shingler.take_texts(texts, np.arange(start, stop)).lengths(lengths[start:stop])
    return lengths


def _priority_order(
    keep: str | ArrayLike, lengths: NDArray[np.int64], fixed: int
) -> NDArray[np.int64]:
    """Return all documents, highest priority first; the `fixed` ones before all others."""
    n = len(lengths)
    if isinstance(keep, str):
        if keep not in KEEP:
            raise ValueError(f"keep must be one of {', '.join(KEEP)} or an array, got {keep!r}")
        if keep == "first":
            order = np.arange(n)
        elif keep == "last":
            order = np.arange(n)[::-1]
        else:
            order = np.argsort(-lengths, kind="stable")
    else:
        priorities = np.asarray(keep)
        if priorities.shape != (n,) or priorities.dtype.kind not in "iufb":
            raise ValueError(
                f"keep must hold one number for each of the {n} documents, got "
                f"{priorities.dtype} of shape {priorities.shape}"
            )
        if priorities.dtype.kind == "f" and np.isnan(priorities).any():
            raise ValueError(f"keep holds NaN, at document {int(np.isnan(priorities).argmax())}")
        # Sorting backwards keeps ties in the order of the input without negating unsigned ones.
        order = n - 1 - np.argsort(priorities[::-1], kind="stable")[::-1]
    return np.concatenate([np.arange(fixed), order + fixed])
