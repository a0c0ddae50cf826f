"""How often documents of an index have come: counts that change together with the index."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.api import Index
from fastlsh.index.publishing import shown, store_of
from fastlsh.index.store import retry_until_consistent
from fastlsh.index.stored_counts import Arrivals, Counted, count_arrivals, counted_of


def check_counted(index: Index, wanted: Counted, *, is_required: bool = True) -> Counted:
    """Return what an index counts from now on, with a run that is to count `wanted`.

    Parameters
    ----------
    index
        An index in a database.
    wanted
        The columns that the run names.
    is_required
        Whether the columns have no other use in this run.

    Raises
    ------
    ValueError
        The index counts something else, or has documents of which these columns are not known.
    """
    store = store_of(index)

    def ask() -> tuple[Counted | None, int]:
        with index._guard.hold(), store.reading():
            return counted_of(store), store.count()

    saved, documents = retry_until_consistent(ask)
    if saved is None:
        if not documents or not wanted:
            return wanted
        if not is_required:
            return Counted()
        raise ValueError(
            f"{shown(store.location)}: it has documents that were added without source= and"
            " count=, which must be given from the first document on"
        )
    if saved != wanted:
        sums = "".join(f", count={name!r}" for name in saved.columns)
        given = ("" if saved.source is None else f", source={saved.source!r}") + sums
        raise ValueError(
            f"{shown(store.location)}: the index counts other columns, or in another order:"
            f" give {given[2:]}"
        )
    return saved


def count_of_names(
    index: Index, what: Counted, names: list[Any], is_new: NDArray[np.bool_], arrivals: Arrivals
) -> None:
    """Raise the counts of documents by their ids, within a batch of the index."""
    store = store_of(index)
    with index._guard.hold():
        found = store.find(names)
        numbers = np.array([found[name] for name in names], np.int64)
        count_arrivals(store, what, numbers, is_new, arrivals)
