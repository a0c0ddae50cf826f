"""Link: the sorted keys of a band become families of documents that have 64-bit numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.arguments import check_integer
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.stages.batches import check_column, check_numbers

PENDING = 1 << 18
"""So many links wait at least, before they are united: each round goes through all documents."""


class FamilyTable(NamedTuple):
    """The documents that share a bucket with another one, each with its family."""

    number: NDArray[np.int64]
    """int64 (m,), ascending."""
    family: NDArray[np.int64]
    """int64 (m,): the smallest number in the family."""


class UnionFind:
    """Unites the documents that links connect, in any order, into families.

    Each of several workers can have one for some of the links; `merge` combines them. It can be
    pickled. `families` returns its whole content, from which `unite(*table)` restores it.

    Parameters
    ----------
    documents
        The documents have the numbers from 0 to this one, exclusive; it is at most 2^31 - 1, and
        each document takes 4 bytes. None: the numbers are any from 0 to 2^63 - 1. Then each
        document that shares a bucket takes 16 bytes, and up to 100 more temporarily, when pending
        links are united. At most 2^31 - 1 documents may share buckets.
    roots
        With `documents`: the result of `roots` of another object, from which to continue. It is
        copied.

    Raises
    ------
    TypeError, ValueError
        `documents` is not an integer or out of range, or `roots` does not match it.

    Examples
    --------
    >>> one, other = UnionFind(), UnionFind()
    >>> one.unite([7, 9], [2, 4])
    >>> other.unite([9], [7])
    >>> one.merge(other)
    >>> number, family = one.families()
    >>> number.tolist(), family.tolist()
    ([2, 4, 7, 9], [2, 2, 2, 2])
    """

    def __init__(
        self, documents: int | None = None, *, roots: NDArray[np.int32] | None = None
    ) -> None:
        self._dense = None
        if documents is not None:
            self._dense = np.arange(check_integer(documents, "documents"), dtype=np.int32)
        if roots is not None:
            self._dense = _check_roots(roots, self._dense)
        none = np.empty(0, np.int64)
        self._table = FamilyTable(none, none)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._waiting = 0

    def unite(self, later: Any, earlier: Any) -> None:
        """Join the families of each pair of documents.

        Parameters
        ----------
        later, earlier
            Integers (m,), as `link_sorted` returns them; which of both is the lesser does not
            matter. Arrays, or Arrow columns without nulls.

        Raises
        ------
        TypeError
            A column that has no integers.
        ValueError
            A number outside of what was announced, or unequal lengths; nothing is united then.

        Notes
        -----
        Close to linear in the links, all calls together: small ones wait for each other.

        Examples
        --------
        >>> union = UnionFind()
        >>> union.unite([7], [2])
        >>> union.families().family.tolist()
        [2, 2]
        """
        left = check_numbers(later, "later")
        right = check_numbers(earlier, "earlier", len(left))
        apart = left != right
        left, right = left[apart], right[apart]
        if self._dense is not None:
            n = len(self._dense)
            if len(left) and (largest := max(int(left.max()), int(right.max()))) >= n:
                raise ValueError(f"document {largest} lies outside of documents={n}")
            _candidates.unite(self._dense, left.astype(np.int32), right.astype(np.int32))
        elif len(left):
            self._pending.append((left, right))
            self._waiting += len(left)
            if self._waiting > max(PENDING, len(self._table.number) // 2):
                self._unite_pending()

    def merge(self, other: "UnionFind") -> None:
        """Join what `other` has joined, which does not change.

        Examples
        --------
        >>> one, other = UnionFind(), UnionFind()
        >>> other.unite([9], [7])
        >>> one.merge(other)
        >>> one.families().number.tolist()
        [7, 9]
        """
        self.unite(*other.families())

    def families(self) -> FamilyTable:
        """Return each document that is in a family, and the smallest number of its family.

        Returns
        -------
        FamilyTable
            16 bytes for each of them.

        Examples
        --------
        >>> union = UnionFind(documents=5)
        >>> union.unite([3, 4], [1, 3])
        >>> number, family = union.families()
        >>> number.tolist(), family.tolist()
        ([1, 3, 4], [1, 1, 1])
        """
        if self._dense is None:
            self._unite_pending()
            return FamilyTable(self._table.number.copy(), self._table.family.copy())
        _candidates.families(self._dense)
        in_family = self._dense != np.arange(len(self._dense), dtype=np.int32)
        in_family[self._dense[in_family]] = True
        number = np.flatnonzero(in_family)
        return FamilyTable(number, self._dense[number].astype(np.int64))

    def roots(self) -> NDArray[np.int32]:
        """Return the smallest number of each document's family, its own if it is alone.

        Only where `documents` was given.

        Returns
        -------
        ndarray of int32, shape (documents,)
            4 bytes for each document; a copy.

        Examples
        --------
        >>> union = UnionFind(documents=5)
        >>> union.unite([3, 4], [1, 3])
        >>> union.roots().tolist()
        [0, 1, 2, 1, 1]
        """
        if self._dense is None:
            raise ValueError("roots() needs UnionFind(documents=...): call families() instead")
        _candidates.families(self._dense)
        return self._dense.copy()

    def _unite_pending(self) -> None:
        """Turn the numbers into rows of the table, and let the kernel unite the rows."""
        if not self._waiting:
            return
        number, family = self._table
        left = np.concatenate([number, *(links[0] for links in self._pending)])
        right = np.concatenate([family, *(links[1] for links in self._pending)])
        members = np.concatenate([left, right[len(number) :]])
        members.sort()  # many times as fast as numpy.unique
        new = np.ones(len(members), np.bool_)
        np.not_equal(members[1:], members[:-1], out=new[1:])
        members = members[new]
        if len(members) > MAX_DOCUMENTS:
            raise ValueError(f"at most {MAX_DOCUMENTS:,} documents may share buckets with others")
        root = np.arange(len(members), dtype=np.int32)
        _candidates.unite(
            root,
            np.searchsorted(members, left).astype(np.int32),
            np.searchsorted(members, right).astype(np.int32),
        )
        _candidates.families(root)
        self._table = FamilyTable(members, members[root])  # rows ascend as their numbers do
        self._pending.clear()
        self._waiting = 0


def _check_roots(roots: NDArray[np.int32], everyone: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """Return a copy of the roots of earlier work, or raise."""
    if everyone is None or roots.dtype != np.int32 or roots.shape != everyone.shape:
        raise ValueError("roots must be int32, one for each of `documents`")
    if len(roots) and not ((roots >= 0).all() and (roots <= everyone).all()):
        raise ValueError("roots must be from 0 to the number of each document")
    return np.array(roots, np.int32)


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
