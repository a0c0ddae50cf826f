"""A collection without near-duplicates, and the proof for each document that goes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_ids, check_integer
from fastlsh.index import Index, IndexDocuments, PackedTexts, known_documents, packed
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunKeywords, RunOptions, Stopwatch
from fastlsh.parameters import RemovalKeywords, SearchParams, check_same
from fastlsh.priorities import are_missing
from fastlsh.results import Deduplication
from fastlsh.search.advice import warn_of_search
from fastlsh.stages import (
    Sample,
    Signed,
    check_keep,
    check_priority,
    decide,
    groups_of_both,
    ignoring_common,
    priority_order,
    second_texts,
    sign,
)
from fastlsh.texts import Shingler, Texts, as_texts, joined_texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


class SignedDocuments(NamedTuple):
    """Documents of an index that is given as `against`."""

    texts: Texts
    signatures: NDArray[np.uint32]
    ids: list[Any]


def from_index(
    index: Index, signatures: NDArray[np.uint32], texts: Texts, params: SearchParams, threads: int
) -> tuple[SignedDocuments, Texts, Shingler]:
    """Return the documents of an index that may be like new ones.

    Returns
    -------
    documents, texts, shingler
        The documents of the index, the new texts as the index has its own, normalised, and a
        shingler that does not normalise them again.

    Raises
    ------
    ValueError
        The index has other parameters, or no texts.
    """
    its = index.search_params
    by = ("containment", "bandings") if params.search == "containment" else ("lsh",)
    names = ("search", "num_perm", "seed", "scheme", *by)
    check_same(its, params, names, "the index given as against")
    if params.verify != "exact":
        ids, documents = known_documents(index, IndexDocuments(signatures), texts)
        return (
            SignedDocuments(nameless(documents.n), documents.signatures, ids),
            texts,
            params.shingler,
        )
    if its.verify != "exact" or params.shingler.tokenizer is not None:
        raise ValueError(
            "the index given as against keeps no texts, which exact verification needs; only "
            'verify="signature" can compare'
        )
    shingler = params.shingler
    words, offsets = packed(texts, shingler, threads)
    ids, documents = known_documents(index, IndexDocuments(signatures, words, offsets), texts)
    assert documents.contents is not None
    assert documents.offsets is not None
    tokens = shingler.unit == "token"
    held = PackedTexts(documents.contents, documents.offsets, tokens)
    new = PackedTexts(words, offsets, tokens)
    known = np.ascontiguousarray(documents.signatures[:, : params.num_perm])
    return SignedDocuments(held, known, ids), new, shingler.without_steps


def nameless(n: int) -> Texts:
    """Return texts that are like no other, for documents whose texts nobody has."""
    return as_texts([f"\0fastlsh, document {number} of against" for number in range(n)])


def signed_with(
    first: SignedDocuments, signed: Signed, texts: Texts, params: SearchParams
) -> Signed:
    """Return the documents of both, those of `first` first; `texts` are those of `signed`."""
    lengths = params.shingler.lengths(first.texts, np.arange(len(first.texts)))
    signatures = np.concatenate([first.signatures, signed.signatures])
    lengths = np.concatenate([lengths, signed.lengths])
    everything = joined_texts(first.texts, texts)
    return Signed(everything, params, signed.options, signatures, lengths, None)


def check_index(params: SearchParams, against_ids: Any) -> None:
    """Raise an error if a search cannot use an index as `against`, or other ids are given."""
    if params.finds_equal:
        raise ValueError("rule='equal' compares texts and cannot use an index: give texts")
    if against_ids is not None:
        raise TypeError("an index given as against has its own ids")


class DeduplicationKeywords(RemovalKeywords, RunKeywords, total=False):
    """The shared keyword arguments of `deduplicate`, for type checkers."""


@shares(SearchParams.of, RunOptions.of)
def deduplicate(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    against: Iterable[Any] | Index | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    keep: str = "first",
    priority: ArrayLike | None = None,
    max_candidates: int = 1000,
    within: Any = None,
    against_within: Any = None,
    also: Iterable[Any] | None = None,
    against_also: Iterable[Any] | None = None,
    **keywords: "Unpack[DeduplicationKeywords]",
) -> Deduplication:
    """Remove the near-duplicates from a collection.

    In priority order, a document is removed if its verified similarity with a document that is
    kept is at least `threshold`, or if another `rule` says so; that document is the proof. Nothing
    is removed because of a chain of similar documents, and each removal can be checked. Time and
    memory grow linearly with the number of documents, however many of them are similar.

    Parameters
    ----------
    texts, threshold, ids
        As in `near_duplicates`.
    against
        A reference collection, in any form of `texts`. Its documents have the highest priority,
        are always kept, and are not part of the result. Or an `Index` with the same parameters,
        whose documents are already signed; of an index on disk, only the documents in the buckets
        of `texts` are read.
    against_ids
        The ids of its documents; an index has its own.
    keep
        Which of several near-duplicates is kept: "first", "last" or "longest" (in code points of
        the normalised text; in bytes with unit "byte"; ties go to the earlier document).
    priority
        Instead of `keep`: a number or a date for each document, of which the highest or latest is
        kept. Ties go to the earlier document. Numbers, also decimals, are not rounded; dates may be
        `date`, `datetime`, datetime64, columns of dates, and texts like "2024-03-02" and
        "2024-03-02T10:00:00.5+01:00", in UTC if they have no time zone. None, NaN and NaT are lower
        than every other.
    max_candidates
        The most kept documents that one document is compared with. `Deduplication.limited` counts
        the documents for which this limit, or a bucket with more than 64 kept documents, left out
        a comparison.
    within
        A value for each document, as its language: only documents with equal values are compared,
        and the answer is that for the documents of each value by themselves.
    against_within
        The same for the documents of `against`.
    also, against_also
        A second text for each document, and for each of `against`, as in `near_duplicates`: a
        document is removed only if its second text is similar to that of the same kept document,
        too. With the rule "contained", enough of its shingles must be in that text.

    Returns
    -------
    Deduplication
        In the order of the input. Empty documents are always kept.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type (the message names it).

    Warns
    -----
    RecallWarning
        As in `near_duplicates`.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> deduplicate(texts, 0.7).kept.tolist()
    [True, False, True]
    """
    params = made(SearchParams.of, keywords, threshold)
    options = made(RunOptions.of, keywords)
    return deduplicate_texts(
        texts, params, options, against=against, ids=ids, against_ids=against_ids, keep=keep,
        priority=priority, max_candidates=max_candidates, within=within,
        against_within=against_within, also=also, against_also=against_also,
    )  # fmt: skip


def deduplicate_texts(
    texts: Iterable[Any],
    params: SearchParams,
    options: RunOptions,
    *,
    against: Iterable[Any] | Index | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    keep: str = "first",
    priority: ArrayLike | None = None,
    max_candidates: int = 1000,
    on_signed: Callable[[NDArray[np.uint32]], None] | None = None,
    within: Any = None,
    against_within: Any = None,
    also: Iterable[Any] | None = None,
    against_also: Iterable[Any] | None = None,
) -> Deduplication:
    """Remove the near-duplicates as `deduplicate` does.

    `on_signed` is called with the signatures of `texts`.
    """
    max_candidates = check_integer(max_candidates, "max_candidates")
    within, also = (  # they are read again
        list(given) if isinstance(given, Iterator) else given for given in (within, also)
    )
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    check_keep(keep, with_priority=priority is not None)
    priorities = None if priority is None else check_priority(priority, len(collection))
    sample = Sample(lambda: [collection], len(collection))
    params = ignoring_common(params, sample, options)
    prepared = params.shingler.prepared
    new = [] if against is None or isinstance(against, Index) else against
    others = prepared(as_texts(new, "against"))
    collection = prepared(collection)
    everything = joined_texts(others, collection)
    clock = Stopwatch()
    if isinstance(against, Index):
        check_index(params, against_ids)
        if within is not None:
            raise ValueError("within needs the texts of against, not an index")
        if also is not None:
            raise ValueError("also needs the texts of against, not an index")
    groups = groups_of_both(within, len(collection), against_within, len(others))
    second = second_texts(also, len(collection), params, against_also, len(others))
    with clock("signatures"):
        signed = sign(everything, params, options, groups, second)
        warn_of_search(signed, len(others))
        if on_signed is not None:
            on_signed(signed.signatures[len(signed.signatures) - len(collection) :])
    if isinstance(against, Index):
        with clock("index"):
            ready, collection, plain = from_index(
                against, signed.signatures, collection, params, options.threads
            )
        others, against_ids = ready.texts, ready.ids
        signed = signed_with(ready, signed, collection, replace(params, shingler=plain))
    against_ids = check_ids(against_ids, len(others), "against_ids")
    fixed = np.arange(len(signed.texts)) < len(others)
    order = priority_order(keep, priorities, signed, fixed)
    kept, similarity, limited = decide(signed, order, fixed, max_candidates, clock)
    proofs = signed.also_similarity(np.arange(len(kept)), kept)
    kept = kept[len(others) :]
    order = order[order >= len(others)] - len(others)
    return Deduplication(
        np.where(kept >= len(others), kept - len(others), -1),
        np.where(kept >= len(others), -1, kept),
        similarity[len(others) :],
        also_similarity=None if proofs is None else proofs[len(others) :],
        threshold=params.threshold,
        rule=params.rule,
        containment=params.containment,
        limited_documents=limited - len(others),
        ids=ids,
        against_ids=against_ids,
        params=None if params.finds_equal else params.lsh,
        empty=int((signed.empty >= len(others)).sum()),
        missing_priorities=0 if priorities is None else int(are_missing(priorities).sum()),
        options={
            "keep": keep, "priority": priority, "max_candidates": max_candidates,
            "within": within, "also": also, "also_threshold": params.also_threshold,
            **params.removal_keywords,
        },
        order=order,
        seconds=clock,
    )  # fmt: skip
