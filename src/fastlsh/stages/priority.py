"""Priority: which of several near-duplicates is kept."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_ordered
from fastlsh.arrays import EXACT
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams
from fastlsh.priorities import are_missing, read_priorities
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
    given: Any = check_ordered(priority, "priority")
    array = np.asarray(given)
    kind = array.dtype.kind
    if array.shape != (n,):
        raise ValueError(
            f"priority must hold one number or date for each of the {n} documents, got "
            f"{array.dtype} of shape {array.shape}"
        )
    if not isinstance(given, np.ndarray):
        is_whole = kind == "f" and not (np.abs(array) >= 2.0**53).any()  # or it may be rounded
        if kind in "iub" or is_whole or (kind == "M" and not isinstance(given, (list, tuple))):
            given = array
        else:
            given = given.to_pylist() if hasattr(given, "to_pylist") else list(given)
    found = read_priorities(given)
    for index, reason in found.unreadable.items():
        raise ValueError(f"priority of document {index}: {reason}")
    if " and " in found.kind:
        raise ValueError(f"priority holds {found.kind}: they have no common order")
    return found.values


def priority_order(
    keep: str,
    priority: NDArray[Any] | None,
    texts: Texts,
    lengths: NDArray[np.int64],
    fixed: NDArray[np.bool_],
    params: SearchParams,
) -> NDArray[np.int64]:
    """Return all documents, highest priority first.

    Parameters
    ----------
    keep
        One of `KEEP`.
    priority
        As `check_priority` returns them for the documents that are not fixed, instead of `keep`.
    texts, lengths
        The collection, and the lengths that signing has counted, int64 (n,).
    fixed
        bool (n,): these have priority over all others.
    params
        Of the search.
    """
    asked = np.flatnonzero(~fixed)
    n = len(asked)
    if priority is not None:
        # Sorting backwards keeps ties in the order of the input without negating unsigned ones.
        backwards = priority[::-1]
        there = ~are_missing(backwards)
        if backwards.dtype == EXACT:
            ranks = np.lexsort((*(backwards[name] for name in ("least", "rest", "near")), there))
        elif there.all():
            ranks = np.argsort(backwards, kind="stable")
        else:
            ranks = np.lexsort((backwards, there))
        order = n - 1 - ranks[::-1]
    elif keep == "longest":
        if params.shingler.tokenizer is not None:  # signing has counted tokens
            lengths = _code_points(texts, asked, params.shingler)
        else:
            lengths = lengths[asked]
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
