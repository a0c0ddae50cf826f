"""Priority: which of several near-duplicates is kept."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_ordered
from fastlsh.arrays import EXACT, numbers_of, plain_values, rounded
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams
from fastlsh.texts import Shingler, Texts

KEEP = ("first", "last", "longest")


def check_keep(keep: str, *, with_priority: bool = False) -> str:
    """Return which near-duplicate is kept, or raise; with priorities, ties go to the first one."""
    if not isinstance(keep, str) or keep not in KEEP:
        raise ValueError(
            f"keep must be one of {', '.join(KEEP)}, got {keep!r}; an array of numbers is priority="
        )
    if with_priority and keep != "first":
        raise ValueError(f"give keep or priority, not both, got keep={keep!r}")
    return keep


def check_priority(priority: ArrayLike, n: int) -> NDArray[Any]:
    """Return the priorities of n documents as an array, or raise."""
    priorities = as_numbers(priority)
    near = rounded(priorities)
    if priorities.shape != (n,) or near.dtype.kind not in "iufb":
        raise ValueError(
            f"priority must hold one number for each of the {n} documents, got "
            f"{priorities.dtype} of shape {priorities.shape}"
        )
    if near.dtype.kind == "f" and np.isnan(near).any():
        raise ValueError(f"priority holds NaN, at document {int(np.isnan(near).argmax())}")
    return priorities


def as_numbers(priority: ArrayLike) -> NDArray[Any]:
    """Return priorities as an array that rounds none of them, if all are numbers, or raise."""
    priority = check_ordered(priority, "priority")
    priorities = np.asarray(priority)
    is_array = isinstance(priority, np.ndarray) and priority.dtype != object
    if is_array or priorities.ndim != 1 or priorities.dtype.kind not in ("f", "O"):
        return priorities
    if priorities.dtype != object and not (np.abs(priorities) >= 2.0**53).any():
        return priorities
    values = plain_values(list(priority))  # type: ignore[arg-type]
    if not set(map(type, values)) <= {int, float, bool}:
        return priorities
    try:
        return numbers_of(values)
    except OverflowError:
        raise ValueError(
            "priority holds an integer that is too large to be compared exactly: give integers of"
            " at most 116 bits, or floats alone"
        ) from None


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
        A number for each document that is not fixed, instead of `keep`.
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
        if backwards.dtype == EXACT:
            ranks = np.lexsort((backwards["rest"], backwards["near"]))
        else:
            ranks = np.argsort(backwards, kind="stable")
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
