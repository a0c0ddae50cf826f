"""Duplicate pairs as a set that takes no room for the pairs of identical documents."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from itertools import combinations
from typing import Any

import numpy as np

from fastlsh.banding import LSHParams
from fastlsh.candidates import candidate_pairs
from fastlsh.compat.lsh.minhash import Fingerprint, agreement, is_empty

Pair = tuple[Hashable, Hashable]

PAIRS_AT_A_TIME = 4096


class DuplicatePairs(Set[Pair]):
    """A set of pairs (id, id added later), unchangeable; ``set(pairs)`` is a usual one.

    n identical documents have n (n - 1) / 2 pairs. They are one group here: making the set,
    ``len`` and ``in`` do not go through the pairs, only iteration does.

    Attributes
    ----------
    groups : list of list
        The ids of each distinct fingerprint, in the order in which they were added.
    edges : list of (int, int)
        The groups all of whose members are duplicates of each other.

    Parameters
    ----------
    groups, edges
        As above; the lesser number first.
    order
        The position of each id.
    within
        Whether the members of one group are duplicates of each other.
    """

    def __init__(
        self,
        groups: list[list[Hashable]],
        edges: Iterable[tuple[int, int]],
        order: dict[Hashable, int],
        within: bool,
    ) -> None:
        self.groups = groups
        self.edges = list(edges)
        self._order = order
        self._within = within
        self._group = {key: g for g, group in enumerate(groups) for key in group}
        self._joined = set(self.edges)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return set(it)  # of &, |, -, ^

    def __len__(self) -> int:
        sizes = [len(group) for group in self.groups]
        inside = sum(n * (n - 1) // 2 for n in sizes) if self._within else 0
        return inside + sum(sizes[a] * sizes[b] for a, b in self.edges)

    def __iter__(self) -> Iterator[Pair]:
        if self._within:
            for group in self.groups:
                yield from combinations(group, 2)
        for a, b in self.edges:
            for left in self.groups[a]:
                for right in self.groups[b]:
                    yield self._ordered(left, right)

    def _ordered(self, left: Hashable, right: Hashable) -> Pair:
        return (left, right) if self._order[left] < self._order[right] else (right, left)

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        left, right = pair
        if left not in self._group or right not in self._group or left == right:
            return False
        if self._ordered(left, right) != pair:
            return False
        a, b = sorted((self._group[left], self._group[right]))
        return self._within if a == b else (a, b) in self._joined

    def __repr__(self) -> str:
        return f"<{len(self):,} duplicate pairs>"

    def copy(self) -> set[Pair]:
        """Return the pairs as a usual set."""
        return set(self)

    def union(self, *others: Iterable[Any]) -> set[Any]:
        """Return the pairs and the elements of the others, as a usual set."""
        return set(self).union(*others)

    def intersection(self, *others: Iterable[Any]) -> set[Pair]:
        """Return the pairs that are in all the others, as a usual set."""
        return set(self).intersection(*others)

    def difference(self, *others: Iterable[Any]) -> set[Pair]:
        """Return the pairs that are in none of the others, as a usual set."""
        return set(self).difference(*others)

    def symmetric_difference(self, other: Iterable[Any]) -> set[Any]:
        """Return the pairs and the elements of the other that are not in both, as a usual set."""
        return set(self).symmetric_difference(other)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Return whether all pairs are in the other."""
        return set(self).issubset(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Return whether all elements of the other are pairs of this set."""
        return all(pair in self for pair in other)


def duplicate_pairs(
    fingerprints: Mapping[Hashable, Fingerprint],
    num_bands: int,
    min_jaccard: float | None,
    dtype: np.dtype[Any],
) -> DuplicatePairs:
    """Return the pairs that share a band, and are more similar than `min_jaccard` if given.

    Linear in the number of documents with equal fingerprints; of distinct ones each pair that
    shares a band is compared.
    """
    members: dict[bytes, list[Hashable]] = {}
    for doc_id, fingerprint in fingerprints.items():
        members.setdefault(fingerprint.tobytes(), []).append(doc_id)
    groups = list(members.values())
    edges: list[tuple[int, int]] = []
    if groups:
        rows = np.frombuffer(b"".join(members), dtype).reshape(len(groups), -1)
        edges.extend(_similar(rows, num_bands, min_jaccard))
        for g in np.flatnonzero(is_empty(rows)):
            groups[g] = []
    order = {doc_id: position for position, doc_id in enumerate(fingerprints)}
    return DuplicatePairs(groups, edges, order, min_jaccard is None or min_jaccard < 1.0)


def _similar(
    rows: Fingerprint, num_bands: int, min_jaccard: float | None
) -> Iterator[tuple[int, int]]:
    words = rows.view(np.uint32)
    near = candidate_pairs(words, LSHParams(num_bands, words.shape[1] // num_bands))
    for start in range(0, len(near), PAIRS_AT_A_TIME):
        left = near.left[start : start + PAIRS_AT_A_TIME]
        right = near.right[start : start + PAIRS_AT_A_TIME]
        if min_jaccard is not None:
            kept = agreement(rows[left], rows[right]) > min_jaccard
            left, right = left[kept], right[kept]
        yield from zip(left.tolist(), right.tolist(), strict=True)
