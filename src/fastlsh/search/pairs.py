"""All pairs of near-duplicates."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fastlsh.arguments import check_ids, check_integer
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.results import Pairs
from fastlsh.search.advice import warn_of_search
from fastlsh.stages import Sample, find_pairs, groups_of, ignoring_common, second_texts, sign
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords


@shares(SearchParams.of, RunOptions.of, command="pairs")
def near_duplicates(
    texts: Iterable[Any],
    threshold: float = 0.8,
    *,
    ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    estimates: bool = False,
    within: Any = None,
    also: Iterable[Any] | None = None,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> Pairs:
    """Find all pairs of texts whose Jaccard similarity is at least `threshold`.

    Every returned pair is verified, unless `verify` says otherwise. A pair of similarity s is found
    with probability ``result.params.probability(s)``, which is at least `recall` at the threshold.

    Parameters
    ----------
    texts
        A sequence or iterable of str, bytes (UTF-8) or None (empty); a numpy array of them; or a
        column that supports the Arrow PyCapsule protocol (pyarrow, polars, pandas, DuckDB...).
    threshold
        Jaccard similarity of shingle sets, above 0 and at most 1.
    ids
        The ids of the documents, for `Pairs.left_id` and `Pairs.right_id`.
    max_pairs
        Raise instead of returning more pairs (24 bytes each).
    estimates
        Whether `Pairs.estimate` has the share of equal minima of each pair, to be compared with
        its exact similarity; 8 more bytes per pair.
    within
        A value for each document, as its language: only documents with equal values are compared.
    also
        A second text for each document, such as the answer to a question, in any form of `texts`:
        a pair counts only if the second texts are similar, too. They are compared exactly, by the
        same shingler; an empty text is similar to none. Pairs are searched for by the first texts,
        whose recall is that of the search.

    Returns
    -------
    Pairs
        Sorted by (left, right).

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type (the message names it).
    TooManyPairsError
        There are more pairs than `max_pairs`; they are counted before they take memory.

    Warns
    -----
    RecallWarning
        Very many pairs are compared needlessly, because the threshold is low for `num_perm` or
        because short shingles make unrelated documents similar by chance.

    Notes
    -----
    Memory besides the texts: 4 * num_perm bytes per document for the signatures, less than 256
    bytes per document more, 24 bytes per pair (40 for a moment) and about 64 MB.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> [(a, b, round(s, 3)) for a, b, s in near_duplicates(texts, 0.7)]
    [(0, 1, 0.842)]
    """
    params = made(SearchParams.of, keywords, threshold)
    options = made(RunOptions.of, keywords)
    return pairs_of_texts(
        texts, params, options, ids=ids, max_pairs=max_pairs, estimates=estimates, within=within,
        also=also,
    )  # fmt: skip


def pairs_of_texts(
    texts: Iterable[Any],
    params: SearchParams,
    options: RunOptions,
    *,
    ids: Sequence[Any] | None = None,
    max_pairs: int,
    estimates: bool,
    within: Any = None,
    also: Iterable[Any] | None = None,
) -> Pairs:
    """Find the pairs as `near_duplicates` does."""
    max_pairs = check_integer(max_pairs, "max_pairs")
    collection = as_texts(texts)
    sample = Sample(lambda: [collection], len(collection))
    params = ignoring_common(params, sample, options)
    collection = params.shingler.prepared(collection)
    ids = check_ids(ids, len(collection))
    second = second_texts(also, len(collection), params)
    signed = sign(collection, params, options, groups_of(within, len(collection)), second)
    warn_of_search(signed)
    left, right, similarity, *_ = find_pairs(signed, max_pairs)
    estimate = signed.estimates(left, right) if estimates else None
    return Pairs(
        left, right, similarity, estimate=estimate, ids=ids, params=params.lsh,
        documents=len(collection), empty=len(signed.empty),
        also_similarity=signed.also_similarity(left, right),
    )  # fmt: skip
