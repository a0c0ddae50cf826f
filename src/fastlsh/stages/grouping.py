"""Groups: documents of different ones are not compared."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.results import check_labels


def groups_of(within: Any, n: int, name: str = "within") -> NDArray[np.uint64] | None:
    """Return the group of each document, uint64 (n,); None: all are of one.

    Parameters
    ----------
    within
        A value for each document, in a list, an array, or a column of Arrow, pandas or polars.
    n
        The number of documents.
    name
        What messages call the argument.

    Raises
    ------
    TypeError, ValueError
        There are more or fewer values, or a value is missing.
    """
    if within is None:
        return None
    return check_labels(within, n, name)


def groups_of_both(
    within: Any, n: int, against_within: Any, n_against: int
) -> NDArray[np.uint64] | None:
    """Return the groups of two collections, those of `against` first; None: all are of one."""
    if within is None:
        if against_within is not None:
            raise ValueError("against_within is for the documents of against: give within, too")
        return None
    groups = groups_of(within, n)
    if not n_against and against_within is None:
        return groups
    if against_within is None:
        raise ValueError("within needs against_within, the values of the documents of against")
    others = groups_of(against_within, n_against, "against_within")
    assert groups is not None
    assert others is not None
    return np.concatenate([others, groups])
