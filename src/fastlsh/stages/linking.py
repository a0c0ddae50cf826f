"""Link: the sorted keys of a band, batch by batch, to pairs of documents in one bucket."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.stages.columns import check_column, check_numbers


class LinkState(NamedTuple):
    """The state between two batches of a band: what the next one needs to know of those before."""

    rows: int = 0
    """How many there have been."""
    key: int = 0
    number: int = -1
    """Those of the last row."""
    dtype: str = ""
    """That of the keys."""


class NumberLinks(NamedTuple):
    """Pairs of documents in the same bucket, by number."""

    later: NDArray[np.int64]
    """int64 (m,)."""
    earlier: NDArray[np.int64]
    """int64 (m,): the greatest lesser number in the bucket."""


def link_sorted(
    keys: Any, numbers: Any, state: LinkState | None = None
) -> tuple[NumberLinks, LinkState]:
    """Link each document of a band to the one before it in its bucket.

    The rows of a band arrive sorted by key, then by number, in batches of any size. A band may be
    divided anywhere, and each range of its keys may be linked by another worker.

    Parameters
    ----------
    keys
        uint64 (n,), as `sign_batch` makes them; or the same 64 bits as int64, in signed order, for
        engines that have no unsigned integers. An array, or an Arrow column without nulls. The
        key 0 belongs to empty documents, which are in no bucket.
    numbers
        The number of each document: integers (n,) from 0 to 2^63 - 1, in the same forms.
    state
        The state that the call for the previous batch returned; None: this is the first batch.

    Returns
    -------
    links : NumberLinks
        Over all batches, there are as many as documents, minus one for each bucket.
    state : LinkState
        For the next batch. The argument `state` is not changed, so a batch can be repeated.

    Raises
    ------
    TypeError
        A column does not contain integers.
    ValueError
        Rows are out of order, or a document occurs twice; the message names the row, counted from
        the beginning of the band. Or the keys have another dtype than before, or the lengths
        differ.

    Notes
    -----
    Memory: up to 60 bytes for each row of the batch, and nothing for what came before.

    Examples
    --------
    >>> links, state = link_sorted([5, 5, 7], [0, 3, 1])
    >>> links.later.tolist(), links.earlier.tolist()
    ([3], [0])
    >>> links, state = link_sorted([7, 9], [4, 2], state)
    >>> links.later.tolist(), links.earlier.tolist()
    ([4], [1])
    """
    state = LinkState() if state is None else state
    key = check_column(keys, "keys")
    number = check_numbers(numbers, "numbers", len(key))
    if not len(key):
        return NumberLinks(number, number.copy()), state
    key = key.astype(np.uint64 if key.dtype.kind == "u" else np.int64, copy=False)
    if state.rows:
        if key.dtype.str != state.dtype:
            raise ValueError(f"keys were {np.dtype(state.dtype)} so far, got {key.dtype}")
        key = np.concatenate([np.array([state.key], key.dtype), key])
        number = np.concatenate([np.array([state.number]), number])
    same = key[1:] == key[:-1]
    sorted_so_far = (key[1:] > key[:-1]) | (same & (number[1:] > number[:-1]))
    if not sorted_so_far.all():
        wrong = int(np.argmin(sorted_so_far)) + 1
        row = wrong + state.rows - (1 if state.rows else 0)
        raise ValueError(
            f"rows must be sorted by key, then by number, each document once: row {row} has "
            f"({key[wrong]}, {number[wrong]}) after ({key[wrong - 1]}, {number[wrong - 1]})"
        )
    new = len(key) - (1 if state.rows else 0)
    following = LinkState(state.rows + new, int(key[-1]), int(number[-1]), key.dtype.str)
    linked = np.flatnonzero(same & (key[1:] != 0))
    return NumberLinks(number[1:][linked], number[linked]), following
