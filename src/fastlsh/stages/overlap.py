"""Overlap: which documents have a near-duplicate in which data sets, without a list of pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import RunOptions, batches, run_batches
from fastlsh.signatures import batch_size
from fastlsh.stages.copies import first_copies, originals_of
from fastlsh.stages.near_sets import find_near_sets
from fastlsh.stages.signing import Signed, part_of
from fastlsh.texts import Shingler, Texts

Shared = np.dtype([
    ("data_set", np.int64), ("others", np.uint64), ("documents", np.int64),
    ("characters", np.int64),
])  # fmt: skip
"""How many documents of a data set have near-duplicates in exactly the data sets of some bits."""

MOST_DATA_SETS = 64
"""Each is a bit."""


def shared_counts(
    signed: Signed, data_set: NDArray[np.int64], characters: NDArray[np.int64], max_pairs: int
) -> NDArray[Any]:
    """Count the documents of a part by the data sets that have near-duplicates of them.

    Parameters
    ----------
    signed
        The documents; the band keys are taken.
    data_set, characters
        int64 (n,): of each document the data set, below `MOST_DATA_SETS`, and the length.
    max_pairs
        Raise TooManyPairsError if more pairs of different texts have to be compared.

    Returns
    -------
    ndarray of Shared
        Without the documents that have no near-duplicate.

    Notes
    -----
    Copies are counted through the first of them, and a document is compared until it has a
    near-duplicate in each data set: the time does not depend on how many pairs there are.
    """
    first = first_copies(signed)
    own_sets, near = (np.zeros(len(first), np.uint64) for _ in range(2))
    for number in range(int(data_set.max(initial=-1)) + 1):
        originals, copies = np.unique(first[data_set == number], return_counts=True)
        own_sets[originals] |= np.uint64(1 << number)
        near[originals[copies > 1]] |= np.uint64(1 << number)
    find_near_sets(part_of(signed, originals_of(first)), own_sets, near, max_pairs)
    bit = np.uint64(1) << data_set.astype(np.uint64)
    other_sets = near[first] | (own_sets[first] & ~bit)
    return _counted(data_set, other_sets, characters)


def _counted(
    data_set: NDArray[np.int64], others: NDArray[np.uint64], characters: NDArray[np.int64]
) -> NDArray[Any]:
    is_shared = others != 0
    rows = np.empty(int(is_shared.sum()), Shared)
    rows["data_set"], rows["others"] = data_set[is_shared], others[is_shared]
    rows["documents"], rows["characters"] = 1, characters[is_shared]
    return added_up(rows)


def added_up(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the rows, `Shared`, with one for each data set and combination of others, sorted."""
    rows = rows[np.lexsort((rows["others"], rows["data_set"]))]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows["data_set"][1:] != rows["data_set"][:-1]) | (
        rows["others"][1:] != rows["others"][:-1]
    )
    starts = np.flatnonzero(new)
    total = rows[starts]
    for name in ("documents", "characters") if len(starts) else ():
        total[name] = np.add.reduceat(rows[name], starts)
    return total


def characters_of(texts: Texts, shingler: Shingler, options: RunOptions) -> NDArray[np.int64]:
    """Return the length of each text before normalisation: code points; bytes with unit "byte"."""
    lengths = np.empty(len(texts), np.int64)
    plain = Shingler("byte" if shingler.unit == "byte" else "char")

    def work(start: int, stop: int) -> Iterator[None]:
        plain.plain_texts(texts, start, stop).lengths(lengths[start:stop])
        yield

    run_batches(work, batches(len(texts), batch_size(texts)), options.threads)
    return lengths
