"""The pairs between two collections, and how much of each collection is in the other one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids, check_integer
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.results import Matches, Overlap
from fastlsh.search.advice import warn_of_search
from fastlsh.stages import (
    MOST_DATA_SETS,
    characters_of,
    find_crossing,
    groups_of_both,
    second_texts,
    shared_counts,
    sign,
)
from fastlsh.texts import Texts, as_texts, joined_texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords


@shares(SearchParams.of, RunOptions.of, command="pairs")
def overlap(
    data_sets: Mapping[str, Iterable[Any]],
    threshold: float = 0.8,
    *,
    max_pairs: int = 100_000_000,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> Overlap:
    """Count the documents of each data set that have a near-duplicate in each other data set.

    Every near-duplicate is verified, unless `verify` says otherwise, so that a count is never too
    high. A pair of similarity s is found with probability ``result.params.probability(s)``.

    Parameters
    ----------
    data_sets
        The texts of each data set by its name, each in any form that `near_duplicates` takes: from
        2 to 64 data sets.
    threshold
        Jaccard similarity of shingle sets, above 0 and at most 1.
    max_pairs
        Raise once more pairs of different texts have been compared. A document is compared until it
        has a near-duplicate in each data set, so many documents that are alike need few pairs.

    Returns
    -------
    Overlap
        The counts of documents and of their characters.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type (the message names it).
    TooManyPairsError
        More than `max_pairs` are needed.

    Warns
    -----
    RecallWarning
        As in `near_duplicates`.

    Examples
    --------
    >>> crawls = {
    ...     "old": ["the quick brown fox jumps", "something else"],
    ...     "new": ["the quick brown fox jumped", "the quick brown fox jumps"],
    ... }
    >>> found = overlap(crawls, 0.7)
    >>> found.shared_documents.tolist()
    [[0, 1], [2, 2]]
    """
    params = made(SearchParams.of, keywords, threshold)
    options = made(RunOptions.of, keywords)
    check_countable(params)
    names = list(data_sets)
    collections = [as_texts(texts, f"data set {name}") for name, texts in data_sets.items()]
    check_data_sets(names)
    sizes = np.array([len(texts) for texts in collections])
    characters = [characters_of(texts, params.shingler, options) for texts in collections]
    prepared = [params.shingler.prepared(texts) for texts in collections]
    everything = prepared.pop()
    while prepared:
        everything = joined_texts(prepared.pop(), everything)
    return overlap_of_texts(
        everything, np.repeat(np.arange(len(names)), sizes), np.concatenate(characters), names,
        params, options, max_pairs=max_pairs,
    )  # fmt: skip


def overlap_of_texts(
    texts: Texts,
    data_set: NDArray[np.int64],
    characters: NDArray[np.int64],
    names: list[str],
    params: SearchParams,
    options: RunOptions,
    *,
    max_pairs: int,
) -> Overlap:
    """Count as `overlap` does, given the data set and the length of each document."""
    max_pairs = check_integer(max_pairs, "max_pairs")
    signed = sign(texts, params, options)
    warn_of_search(signed)
    empty = len(signed.empty)
    counts = shared_counts(signed, data_set, characters, max_pairs)
    documents = np.bincount(data_set, minlength=len(names))
    total = np.zeros(len(names), np.int64)
    np.add.at(total, data_set, characters)
    short = 0 if signed.short is None else int(signed.short.sum())
    return Overlap(names, documents, total, counts, empty=empty, short=short, params=params.lsh)


def check_data_sets(names: list[str]) -> None:
    """Raise ValueError unless there are as many data sets as can be compared, each once."""
    if not 2 <= len(names) <= MOST_DATA_SETS:
        raise ValueError(f"an overlap compares 2 to {MOST_DATA_SETS} data sets, got {len(names)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the data set {twice} is given twice")


def check_countable(params: SearchParams) -> None:
    """Raise ValueError if documents have no characters."""
    if params.shingler.unit == "token":
        raise ValueError("an overlap counts characters, which token ids do not have: give texts")


@shares(SearchParams.of, RunOptions.of, command="pairs")
def matches(
    texts: Iterable[Any],
    against: Iterable[Any],
    threshold: float = 0.8,
    *,
    best: bool = False,
    one_to_one: bool = False,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    max_pairs: int = 100_000_000,
    estimates: bool = False,
    within: Any = None,
    against_within: Any = None,
    also: Iterable[Any] | None = None,
    against_also: Iterable[Any] | None = None,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> Matches:
    """Find all pairs of a text and one of another collection that are similar.

    These are the pairs of `near_duplicates` between the two collections, without those inside of
    either, which are not compared.

    Parameters
    ----------
    texts, threshold, ids, max_pairs, estimates
        As in `near_duplicates`.
    against
        The other collection, in any form of `texts`.
    best
        Whether to return, for each text, only the most similar text of `against`, the first one of
        equally similar texts.
    one_to_one
        Whether each text of both collections is in one pair at most: of all pairs, the most similar
        one is taken first, of equals the first one, and then the others without these texts.
    against_ids
        The ids of the documents of `against`, for `Matches.against_id`.
    within, against_within
        A value for each document, and for each of `against`, as their languages: only documents
        with equal values are compared.
    also, against_also
        A second text for each document, and for each of `against`, as in `near_duplicates`.

    Returns
    -------
    Matches
        Sorted by (document, against).

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type (the message names it).
    TooManyPairsError
        There are more pairs than `max_pairs`, or more candidates.

    Warns
    -----
    RecallWarning
        As in `near_duplicates`.

    Examples
    --------
    >>> ours = ["the quick brown fox jumps", "something else"]
    >>> theirs = ["the quick brown fox jumped", "the quick brown fox jumps!"]
    >>> [(a, b, round(s, 3)) for a, b, s in matches(theirs, ours, 0.7)]
    [(0, 0, 0.842), (1, 0, 0.944)]
    >>> matches(ours, theirs, 0.7, best=True)[0][:2]
    (0, 1)
    """
    params = made(SearchParams.of, keywords, threshold)
    options = made(RunOptions.of, keywords)
    return matches_of_texts(
        texts, against, params, options, best=best, one_to_one=one_to_one, ids=ids,
        against_ids=against_ids, max_pairs=max_pairs, estimates=estimates, within=within,
        against_within=against_within, also=also, against_also=against_also,
    )  # fmt: skip


def matches_of_texts(
    texts: Iterable[Any],
    against: Iterable[Any],
    params: SearchParams,
    options: RunOptions,
    *,
    best: bool,
    one_to_one: bool,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    max_pairs: int,
    estimates: bool,
    within: Any = None,
    against_within: Any = None,
    also: Iterable[Any] | None = None,
    against_also: Iterable[Any] | None = None,
) -> Matches:
    """Find the pairs as `matches` does."""
    max_pairs = check_integer(max_pairs, "max_pairs")
    check_best(best, one_to_one, params)
    prepared = params.shingler.prepared
    collection, others = prepared(as_texts(texts)), prepared(as_texts(against, "against"))
    ids = check_ids(ids, len(collection))
    against_ids = check_ids(against_ids, len(others), "against_ids")
    everything, n = joined_texts(others, collection), len(others)
    groups = groups_of_both(within, len(collection), against_within, n)
    second = second_texts(also, len(collection), params, against_also, n)
    signed = sign(everything, params, options, groups, second)
    warn_of_search(signed, n)
    document, of_against, similarity, *_ = find_crossing(
        signed, n, max_pairs, best=best, one_to_one=one_to_one
    )
    estimate = signed.estimates(document, of_against) if estimates else None
    return Matches(
        document - n, of_against, similarity, estimate=estimate, ids=ids, against_ids=against_ids,
        params=params.lsh, documents=len(collection), against_documents=n,
        empty=int((signed.empty >= n).sum()),
        also_similarity=signed.also_similarity(document, of_against),
    )  # fmt: skip


def check_best(best: bool, one_to_one: bool, params: SearchParams) -> None:
    """Raise ValueError if there is no similarity to tell the best matches by, or two ways to."""
    if best and one_to_one:
        raise ValueError("best=True and one_to_one=True choose pairs in two ways: give one")
    if (best or one_to_one) and params.verify == "none":
        name = "best" if best else "one_to_one"
        raise ValueError(f"{name}=True needs similarities, which verify='none' does not give")
