"""The keep-or-drop step: documents in priority order against the kept ones of their buckets."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.arguments import check_ordered, values_of
from fastlsh.arrays import EXACT
from fastlsh.parallel import RunOptions, batches, batches_by_work, run_batches
from fastlsh.parameters import SearchParams
from fastlsh.priorities import are_missing, read_priorities
from fastlsh.sets import ShingleSets
from fastlsh.stages.signing import LinkedPart, Signed
from fastlsh.texts import Shingler, Texts

KEEP = ("first", "last", "longest")


def check_keep(keep: str, *, with_priority: bool = False) -> str:
    """Return which near-duplicate is kept, or raise; with priorities, ties go to the first one."""
    if not isinstance(keep, str) or keep not in KEEP:
        raise ValueError(
            f"keep must be one of {', '.join(KEEP)}, got {keep!r}; an array of numbers is priority="
        )
    if with_priority and keep != "first":
        raise ValueError(f"give keep= or priority=, not both, got keep={keep!r}")
    return keep


def check_priority(priority: ArrayLike, n: int) -> NDArray[Any]:
    """Return the priorities of n documents as an array, or raise."""
    values: Any = check_ordered(priority, "priority")
    array = np.asarray(values)
    kind = array.dtype.kind
    if array.shape != (n,):
        raise ValueError(
            f"priority must hold one number or date for each of the {n} documents, got "
            f"{array.dtype} of shape {array.shape}"
        )
    if not isinstance(values, np.ndarray):
        is_whole = kind == "f" and not (np.abs(array) >= 2.0**53).any()  # or it may be rounded
        if kind in "iub" or is_whole or (kind == "M" and not isinstance(values, (list, tuple))):
            values = array
        else:
            values = values_of(values)
    parsed = read_priorities(values)
    for index, reason in parsed.unreadable.items():
        raise ValueError(f"priority of document {index}: {reason}")
    if " and " in parsed.kind:
        raise ValueError(f"priority holds {parsed.kind}: they have no common order")
    return parsed.values


def priority_order(
    keep: str, priority: NDArray[Any] | None, signed: Signed, fixed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return all documents, highest priority first.

    Parameters
    ----------
    keep
        One of `KEEP`.
    priority
        As `check_priority` returns them for the documents that are not fixed, instead of `keep`.
    signed
        The documents.
    fixed
        bool (n,): these have priority over all others.
    """
    asked = np.flatnonzero(~fixed)
    n = len(asked)
    if priority is not None:
        # Sorting backwards keeps ties in the order of the input without negating unsigned ones.
        backwards = priority[::-1]
        present = ~are_missing(backwards)
        if backwards.dtype == EXACT:
            ranks = np.lexsort((*(backwards[name] for name in ("least", "rest", "near")), present))
        elif present.all():
            ranks = np.argsort(backwards, kind="stable")
        else:
            ranks = np.lexsort((backwards, present))
        order = n - 1 - ranks[::-1]
    elif keep == "longest":
        if signed.params.shingler.tokenizer is not None:  # signing has counted tokens
            lengths = _code_points(signed.texts, asked, signed.params.shingler)
        else:
            lengths = signed.lengths[asked]
        ranks = int(lengths.max(initial=0)) - lengths
        if int(ranks.max(initial=0)) < 1 << 16:  # then numpy counts instead of comparing
            ranks = ranks.astype(np.uint16)
        order = np.argsort(ranks, kind="stable")
    else:
        order = np.arange(n) if keep == "first" else np.arange(n)[::-1]
    return np.concatenate([np.flatnonzero(fixed), asked[order]])


def _code_points(
    texts: Texts, documents: NDArray[np.int64], shingler: Shingler
) -> NDArray[np.int64]:
    """Return the length of each of these texts, normalised."""
    lengths = np.empty(len(documents), np.int64)
    for start, stop in batches(len(documents), 4096):
        shingler.take_texts(texts, documents[start:stop]).lengths(lengths[start:stop])
    return lengths


BLOCK = 4096
"""Documents whose candidates are looked up and compared in parallel, before the next decisions.

The sets of short documents are made in groups of many, so that fewer give no work for all threads.
"""

FAMILIES = 1 << 10
"""Families whose buckets a thread prepares at a time."""

SETTLED = 1 << 5
"""Families on which a thread decides at a time."""

COMPARED = 1 << 26
"""Elements of sets, or 16 values of signatures each, that are compared at a time; 0.1 s."""


class Decisions(NamedTuple):
    """What became of the documents that share a bucket with another one; all others are kept."""

    documents: NDArray[np.int64]
    """int64 (m,): which they are."""
    proof: NDArray[np.int64]
    """int64 (m,): the kept document that is like this one; -1: this one is kept."""
    similarity: NDArray[np.float64]
    """float64 (m,): to it, or the share of this one that it contains; 1 for kept documents."""
    unsure: NDArray[np.bool_]
    """bool (m,): kept though it could not be compared with every candidate."""


def keep_or_drop(part: LinkedPart, fixed: NDArray[np.bool_], max_candidates: int) -> Decisions:
    """Decide on each document, in priority order; linear in their number.

    A document is dropped if its similarity with a kept one of its buckets reaches the threshold, or
    with the rule "contained" if the kept one has enough of its shingles.
    The first 64 kept documents of a bucket are candidates; if they are more than
    `max_candidates`, those with the most shared bands, then the most equal minima, then the
    highest priority. The proof is the first among them in priority order.

    Parameters
    ----------
    part
        Families whose documents are in priority order, without copies and empty ones.
    fixed
        bool, by document: kept without being asked. They must come first in their families.
    max_candidates
        At most so many comparisons for a document.
    """
    families, signatures = part.families, part.signed.signatures
    params, options = part.signed.params, part.signed.options
    documents = families.documents  # families are independent: one after the other will do
    bands = len(families.previous)
    root = options.empty((len(documents), bands), np.int32)
    edges = [*families.starts[::FAMILIES].tolist(), len(documents)]

    def find_roots(start: int, stop: int) -> None:
        _candidates.roots(families.previous, edges[start], edges[stop], root)

    run_batches(find_roots, batches(len(edges) - 1, 1), options.threads)
    sets, also_sets = part.sets(), part.also_sets()
    max_candidates = min(max_candidates, max(len(documents), 1))  # there are no more
    keeper = _candidates.Keeper(
        root, signatures, documents, fixed[documents].view(np.uint8), params.least,
        params.removal_mode, max_candidates, families.roles, options.empty,
    )  # fmt: skip
    max_found = min(_candidates.REMEMBERED * bands, max_candidates)
    room = np.empty(max(1 << 20, max_found), np.int32)
    decisions = Decisions(
        documents,
        options.full(len(documents), -1, np.int64),
        options.full(len(documents), 1, np.float64),
        np.zeros(len(documents), np.bool_),
    )
    advance = options.progress.stage("decisions", len(documents))
    first = 0
    while first < len(documents):
        last = _decide_block(
            keeper, sets, also_sets, decisions, families.starts, first, room, params, options
        )
        advance(last - first)
        first = last
    return decisions


def _decide_block(
    keeper: _candidates.Keeper,
    sets: ShingleSets,
    also_sets: ShingleSets | None,
    decisions: Decisions,
    families: NDArray[np.int64],
    first: int,
    room: NDArray[np.int32],
    params: SearchParams,
    options: RunOptions,
) -> int:
    """Decide on up to `BLOCK` documents from row `first` on; return the row after the last."""
    last = min(first + BLOCK, len(decisions.documents))
    exact = params.verify == "exact"
    used_sets = [sets] * exact + ([] if also_sets is None else [also_sets])
    for each in used_sets:
        last = first + max(each.fitting(first, last), 1)
    while True:
        offsets = np.empty(last - first + 1, np.int64)
        end = keeper.candidates(first, last, room, offsets)
        needed = _distinct(room[: offsets[end - first]], first, end)
        if end - first == 1 or all(each.fits(needed) for each in used_sets):
            break
        last = first + (end - first) // 2
    offsets = offsets[: end - first + 1]
    for each in used_sets:
        each.ensure(needed)
    if also_sets is not None:
        keeper.require(also_sets.words, also_sets.start, also_sets.count, params.also_least)
    hit = np.empty(end - first, np.int32)
    hit_similarity = np.empty(end - first)

    def compare(start: int, stop: int) -> None:
        keeper.first_hits(
            first + start, first + stop, room, offsets[start : stop + 1],
            sets.words, sets.start, sets.count, hit[start:stop], hit_similarity[start:stop],
        )  # fmt: skip

    # Sets that share a bucket are mostly of about the same size.
    cost = 2 * sets.count[first:end] if exact else np.int64(1 + params.num_perm // 16)
    parts = batches_by_work(np.diff(offsets) * cost, COMPARED, 128)
    run_batches(compare, parts, options.threads)
    unsure = decisions.unsure[first:end].view(np.uint8)

    def settle(start: int, stop: int) -> Iterator[None]:
        start, stop = edges[start], edges[stop]
        done = 0
        while done < stop - start:
            done = keeper.settle(
                first + start, first + stop, sets.words, sets.start, sets.count, hit[start:stop],
                hit_similarity[start:stop], unsure[start:stop], done,
            )  # fmt: skip
            yield

    # No document of a family shares a bucket with one of another family.
    inner = families[slice(*np.searchsorted(families, (first, end)))] - first
    edges = np.concatenate([[0], inner[inner > 0], [end - first]]).tolist()
    run_batches(settle, batches(len(edges) - 1, SETTLED), options.threads)
    dropped = np.flatnonzero(hit >= 0)
    decisions.proof[first + dropped] = decisions.documents[hit[dropped]]
    decisions.similarity[first + dropped] = (
        np.nan if params.verify == "none" else hit_similarity[dropped]
    )
    return end


def _distinct(candidates: NDArray[np.int32], first: int, end: int) -> NDArray[np.int64]:
    """Return the rows of a block and of its candidates, which all come before it, ascending."""
    low = int(candidates.min(initial=first))  # families lie together: not far back
    mark = np.zeros(end - low, np.bool_)
    mark[candidates - low] = True
    mark[first - low :] = True
    return np.flatnonzero(mark) + low
