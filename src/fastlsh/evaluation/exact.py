"""All pairs that reach a threshold, none missed: the truth that LSH is measured against."""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import SetJoin
from fastlsh.banding import check_threshold
from fastlsh.buckets import pair_keys
from fastlsh.errors import TooManyPairsError, check_integer
from fastlsh.evaluation.tokens import Ranked, TokenSets, ranked
from fastlsh.keyed import Keyed, joined_blocks, with_copies
from fastlsh.parallel import Progress, ProgressOption, batches, run, thread_count
from fastlsh.results import Pairs
from fastlsh.sets import all_sets
from fastlsh.settings import check_ids
from fastlsh.shingling import Shingler, check_shingler
from fastlsh.texts import Texts, as_texts

PROBES = 128
"""The join is cut into about so many batches, each with scratch memory for all documents."""

ROOM = 1 << 16
"""Pairs that a batch writes before they go to the others; as many as documents if that is more."""


def exact_pairs(
    texts: Iterable[Any],
    threshold: float,
    *,
    shingler: Shingler | None = None,
    ids: Sequence[Any] | None = None,
    threads: int | None = None,
    max_pairs: int = 100_000_000,
    progress: ProgressOption = False,
) -> Pairs:
    """Find all pairs of texts whose Jaccard similarity is at least `threshold`, without LSH.

    Nothing is left to chance: an exact set similarity join with prefix, length and position
    filters (Bayardo, Ma, Srikant 2007; Xiao, Wang, Lin, Yu 2008). For collections of up to some
    hundred thousand documents, as the truth for `evaluate`, or where no pair may be missed.

    Parameters
    ----------
    texts
        Anything that `near_duplicates` takes.
    threshold
        Jaccard similarity of shingle sets, above 0 and at most 1.
    shingler
        What a document is a set of; default ``Shingler()``, 9 characters.
    ids
        One for each document, for `Pairs.left_id` and `Pairs.right_id`.
    threads
        How many; default: the processors this process may use. They never change the result.
    max_pairs
        Raise instead of returning more pairs (24 bytes each).
    progress
        True: a line on stderr. Or a function of (stage, done, total).

    Returns
    -------
    Pairs
        Sorted by (left, right), with exact similarities (up to accidental collisions of 64-bit
        hashes). ``params`` is None.

    Raises
    ------
    TypeError, ValueError
        An unsuitable argument, or a document of another type (the message names it).
    TooManyPairsError
        More pairs than `max_pairs`.

    Notes
    -----
    The time grows with the lengths of the lists of documents that share a rare shingle: nearly
    linear at high thresholds, at worst with the square of the number of documents. Memory besides
    the texts: about 25 bytes for each distinct shingle of each document.

    Examples
    --------
    >>> texts = ["the quick brown fox jumps", "the quick brown fox jumped", "something else"]
    >>> [(a, b, round(s, 3)) for a, b, s in exact_pairs(texts, 0.7)]
    [(0, 1, 0.842)]
    """
    threshold = check_threshold(threshold)
    check_integer(max_pairs, "max_pairs", 0)
    shingler = check_shingler(shingler)
    collection = as_texts(texts)
    ids = check_ids(ids, len(collection))
    (key, similarity), empty = exact_keys(
        collection, threshold, shingler, thread_count(threads), max_pairs, Progress(progress)
    )
    return Pairs(
        key >> 32, key & 0xFFFFFFFF, similarity, ids=ids, documents=len(collection), empty=empty
    )


def exact_keys(
    texts: Texts,
    threshold: float,
    shingler: Shingler,
    threads: int,
    max_pairs: int,
    progress: Progress,
) -> tuple[Keyed, int]:
    """Return the pairs, and how many documents are empty. Parameters as in `exact_pairs`."""
    sets = TokenSets(*all_sets(texts, shingler, threads, progress))
    empty = int((sets.size == 0).sum())
    first = sets.first_equals()
    documents = np.flatnonzero((first == np.arange(len(first))) & (sets.size > 0))
    sets = sets.only(documents)
    index = ranked(sets, threshold)
    found = _join(index, documents[index.order], threshold, threads, max_pairs, progress)
    return with_copies(joined_blocks(found), first, 1.0, max_pairs), empty


def _join(
    index: Ranked,
    documents: NDArray[np.int64],
    threshold: float,
    threads: int,
    max_pairs: int,
    progress: Progress,
) -> list[Keyed]:
    """Return the pairs among the sets of the index, which are those of `documents`."""
    n = len(index.size)
    join = SetJoin(index.size, index.start, index.elements, index.lists, index.postings, threshold)
    room = max(n, ROOM)
    found: list[Keyed] = []
    total = 0
    lock = Lock()

    def add(
        left: NDArray[np.int32], right: NDArray[np.int32], similarity: NDArray[np.float64]
    ) -> None:
        nonlocal total
        key = pair_keys(documents[left], documents[right])
        with lock:
            found.append((key, similarity.copy()))
            total += len(key)
            if total > max_pairs:
                raise TooManyPairsError(
                    f"more than max_pairs={max_pairs:,} pairs reach the threshold {threshold}: "
                    "raise one of the two"
                )

    def work(first: int, last: int) -> None:
        scratch = np.empty((2, n), np.int32)
        left, right = np.empty(room, np.int32), np.empty(room, np.int32)
        similarity = np.empty(room)
        at = np.array([first], np.int64)
        while at[0] < last:
            end = join.pairs(at, last, scratch, left, right, similarity)
            add(left[:end], right[:end], similarity[:end])

    run(work, batches(n, max(n // PROBES, 64)), threads, progress.stage("joined", n))
    return found
