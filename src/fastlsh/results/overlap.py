"""How much of each data set is in each other one, and in which order least is lost."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice
from fastlsh.banding import LSHParams
from fastlsh.results.arrow import Column
from fastlsh.results.table import Table

Measure = Literal["documents", "characters"]
"""What is counted."""

EXACT = 16
"""Of up to so many connected data sets, all orders are considered."""


class KeepOrder(NamedTuple):
    """An order of data sets, and what they lose in it."""

    names: list[str]
    """The data sets; what an earlier one has is lost from a later one."""
    lost: list[int]
    """The documents, or characters, that each of these loses."""
    optimal: bool
    """Whether no order loses less; False if there were too many data sets to consider all."""


class Overlap(Table):
    """How many documents of each data set have a near-duplicate in each other data set.

    It is also a table for every library that reads Arrow, with a row for each pair of data sets: in
    the row of a data set with itself, its documents with a near-duplicate among its own others.

    Attributes
    ----------
    names : list of str
        The data sets.
    documents, characters : ndarray of int64, shape (n,)
        How many documents each has, and how many code points (bytes with unit "byte").
    shared_documents, shared_characters : ndarray of int64, shape (n, n)
        How many of those of the data set of the row have a near-duplicate in that of the column.
    empty : int
        How many documents have no shingle, and so no near-duplicate.
    params : LSHParams
        The bands and rows of the search.

    Examples
    --------
    >>> import fastlsh
    >>> found = fastlsh.overlap({
    ...     "old": ["one text and more", "another text"], "new": ["one text and more", "other"],
    ... })
    >>> found.shared_documents.tolist()
    [[0, 1], [1, 0]]
    >>> found.best_order().names
    ['old', 'new']
    """

    def __init__(
        self,
        names: Sequence[str],
        documents: NDArray[np.int64],
        characters: NDArray[np.int64],
        counts: NDArray[Any],
        *,
        empty: int,
        params: LSHParams,
    ) -> None:
        n = len(names)
        self.names = list(names)
        self.documents = documents
        self.characters = characters
        self.empty = empty
        self.params = params
        self._counts = counts
        bits = np.uint64(1) << np.arange(n, dtype=np.uint64)
        has = (counts["others"][:, None] & bits) != 0
        self.shared_documents, self.shared_characters = (
            _by_row(n, counts["data_set"], has * counts[measure][:, None])
            for measure in get_args(Measure)
        )

    def __len__(self) -> int:
        return len(self.names) ** 2

    def __repr__(self) -> str:
        return f"<Overlap: {len(self.names):,} data sets of {self.documents.sum():,} documents>"

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        n = len(self.names)
        first, second = np.divmod(np.arange(n * n)[rows], max(n, 1))
        return {
            "data_set": [self.names[i] for i in first.tolist()],
            "other": [self.names[i] for i in second.tolist()],
            "shared_documents": self.shared_documents[first, second],
            "documents": self.documents[first],
            "shared_characters": self.shared_characters[first, second],
            "characters": self.characters[first],
        }

    def columns(self) -> dict[str, Column]:
        """Return the columns of the table.

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.overlap({"a": ["some text"], "b": ["some text"]}).columns()["shared_documents"]
        array([0, 1, 1, 0])
        """
        return self._columns()

    def lost(self, order: Sequence[str], measure: Measure = "documents") -> list[int]:
        """Return what each data set loses if the data sets are kept in an order.

        A data set loses the documents that have a near-duplicate in a data set before it: those
        that ``deduplicate(..., against=)`` removes if the data sets before it are given as they
        are, and documents of one data set are not compared with each other.

        Parameters
        ----------
        order
            The names of all data sets.
        measure
            "documents" or "characters".

        Examples
        --------
        >>> import fastlsh
        >>> found = fastlsh.overlap({"a": ["some text"] * 3, "b": ["some text"]})
        >>> found.lost(["a", "b"]), found.lost(["b", "a"], measure="characters")
        ([0, 1], [0, 27])
        """
        check_choice(measure, "measure")
        if sorted(order) != sorted(self.names):
            raise ValueError(f"order must have each data set once: {', '.join(self.names)}")
        return self._lost([self.names.index(name) for name in order], measure)

    def best_order(self, measure: Measure = "documents") -> KeepOrder:
        """Return the order of the data sets in which fewest documents or characters are lost.

        Data sets that share nothing, not even through others, do not matter to each other. Of up to
        16 that are connected, all orders are considered: 2^n sets of earlier data sets, each with
        what the others then lose. Among orders that lose equally little, it is the first one in the
        order of `names`. Of more, the last place goes to the one that loses least there, then the
        place before it, and so on; the order of `names` wins if it loses no more.

        Parameters
        ----------
        measure
            "documents" or "characters".

        Examples
        --------
        >>> import fastlsh
        >>> fastlsh.overlap({"a": ["some text"] * 3, "b": ["some text"]}).best_order()
        KeepOrder(names=['a', 'b'], lost=[0, 1], optimal=True)
        """
        check_choice(measure, "measure")
        groups = self._connected()
        parts = [
            self._of_all_orders(group, measure)
            if len(group) <= EXACT
            else self._greedy_order(group, measure)
            for group in groups
        ]
        order = list[int]()
        while parts := [part for part in parts if part]:
            order.append(min(parts).pop(0))  # that with the first data set
        optimal = max(map(len, groups)) <= EXACT
        return KeepOrder([self.names[i] for i in order], self._lost(order, measure), optimal)

    def _lost(self, order: Sequence[int], measure: Measure) -> list[int]:
        lost, before = [], 0
        for number in order:
            lost.append(self._lost_behind(number, before, measure))
            before |= 1 << number
        return lost

    def _lost_behind(self, number: int, before: int, measure: Measure) -> int:
        """Return what a data set loses behind those of some bits."""
        own = self._counts[self._counts["data_set"] == number]
        return int(own[measure][(own["others"] & np.uint64(before)) != 0].sum())

    def _connected(self) -> list[list[int]]:
        """Return groups of data sets that share nothing with those of other groups."""
        shares = (self.shared_documents > 0) | (self.shared_documents > 0).T
        left, groups = set(range(len(self.names))), list[list[int]]()
        while left:
            group, new = set[int](), {min(left)}
            while new:
                group |= new
                new = {int(j) for i in new for j in np.flatnonzero(shares[i])} - group
            left -= group
            groups.append(sorted(group))
        return groups

    def _greedy_order(self, group: list[int], measure: Measure) -> list[int]:
        left, order = set(group), list[int]()
        while left:
            everything = sum(1 << number for number in left)
            last = min(
                left, key=lambda n: (self._lost_behind(n, everything & ~(1 << n), measure), -n)
            )  # fmt: skip
            order.insert(0, last)
            left.remove(last)
        is_better = sum(self._lost(order, measure)) < sum(self._lost(group, measure))
        return order if is_better else group

    def _of_all_orders(self, group: list[int], measure: Measure) -> list[int]:
        n = len(group)
        behind = self._lost_behind_all(group, measure).tolist()
        # What those that do not come first lose at least, and the next of them, by the bits of
        # those that do.
        least, following = [0] * (1 << n), [0] * (1 << n)
        for before in range((1 << n) - 2, -1, -1):
            least[before], following[before] = min(
                (behind[i][before] + least[before | 1 << i], i)
                for i in range(n)
                if not before >> i & 1
            )
        order, before = list[int](), 0
        while len(order) < n:
            order.append(group[following[before]])
            before |= 1 << following[before]
        return order

    def _lost_behind_all(self, group: list[int], measure: Measure) -> NDArray[np.int64]:
        """Return what each of a group loses, int64 (n, 2^n), by the bits of those before it."""
        n = len(group)
        # What has near-duplicates only in some data sets is the sum over all subsets of these.
        inside = np.zeros((n, 1 << n), np.int64)
        for row, number in enumerate(group):
            counts = self._counts[self._counts["data_set"] == number]
            bits = np.zeros(len(counts), np.int64)
            for place, other in enumerate(group):
                if other != number:
                    bits |= ((counts["others"] >> np.uint64(other)) & np.uint64(1)).astype(
                        np.int64
                    ) << place
            np.add.at(inside[row], bits, counts[measure])
        for number in range(n):
            halves = inside.reshape(n, -1, 2, 1 << number)
            halves[:, :, 1] += halves[:, :, 0]
        outside = inside[:, ::-1]  # the complement of the bits
        return outside[:, :1] - outside


def _by_row(n: int, row: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros((n, n), np.int64)
    np.add.at(total, row, values)
    return total
