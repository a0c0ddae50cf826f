"""MinHashLSHEnsemble: keys of sets that contain most of a query."""

import struct
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from fastlsh.compat.datasketch.containers import random_name
from fastlsh.compat.datasketch.lsh import MinHashLSH
from fastlsh.compat.datasketch.lshensemble_partition import optimal_partitions
from fastlsh.compat.datasketch.params import (
    Sketch,
    check_threshold,
    check_weights,
    optimal_containment_param,
)


class MinHashLSHEnsemble:
    """An index of sketches for containment: |query and set| / |query| above a threshold.

    Sets are parted by size; each part has a MinHashLSH for each of some numbers of rows, and a
    query takes the one that suits the ratio of the sizes (Zhu et al., LSH Ensemble, VLDB 2016).

    Parameters
    ----------
    threshold
        Containment, 0 to 1.
    num_perm
        Length of the sketches.
    num_part
        Number of parts: more are more accurate and slower.
    m
        Greatest number of rows; memory grows with it, and accuracy.
    weights
        (false positives, false negatives), summing to 1.
    storage_config, prepickle
        As of `MinHashLSH`.

    Attributes
    ----------
    h, m, threshold
        As given.
    xqs, params
        Ratios of set to query size, and the (b, r) chosen for each.
    indexes
        For each part, a dict from r to a MinHashLSH.
    lowers, uppers
        Least and greatest size of each part.

    Raises
    ------
    ValueError
        An argument out of range.

    Examples
    --------
    >>> from fastlsh.compat.datasketch import MinHash
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"a", b"few", b"tokens"])
    >>> ensemble = MinHashLSHEnsemble(threshold=0.8)
    >>> ensemble.index([("first", sketch, 3)])
    >>> list(ensemble.query(sketch, 3))
    ['first']
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
    ) -> None:
        check_threshold(threshold, num_perm)
        check_weights(weights)
        if num_part < 1:
            raise ValueError(f"num_part must be at least 1, got {num_part}")
        if not 2 <= m <= num_perm:
            raise ValueError(f"m must be in the range of [2, num_perm], got {m}")
        self.threshold = threshold
        self.h = num_perm
        self.m = m
        self.xqs = np.exp(np.linspace(-5, 5, 10))
        self.params = np.array(
            [_params(threshold, num_perm, m, float(xq), *weights) for xq in self.xqs], dtype=int
        )
        config = storage_config or {"type": "dict"}
        base = config.get("basename") or random_name(11)
        rows = sorted({int(r) for _, r in self.params})
        self.indexes = [
            {
                r: MinHashLSH(
                    num_perm=num_perm,
                    params=(num_perm // r, r),
                    storage_config={**config, "basename": _basename(base, part, r)},
                    prepickle=prepickle,
                )
                for r in rows
            }
            for part in range(num_part)
        ]
        self.lowers: list[int | None] = [None] * num_part
        self.uppers: list[int | None] = [None] * num_part

    def index(self, entries: Iterable[tuple[Hashable, Sketch, int]]) -> None:
        """Index (key, sketch, size of the set) triples, all at once.

        Raises
        ------
        ValueError
            No entry, an index that is not empty, or, unless `entries` is a list, a size that is not
            positive.
        """
        if not self.is_empty():
            raise ValueError("Cannot call index again on a non-empty index")
        if not isinstance(entries, list):  # as in datasketch, a list may have any sizes
            entries = [_checked(*entry) for entry in entries]
        if not entries:
            raise ValueError("entries is empty")
        entries = sorted(entries, key=lambda entry: entry[2])
        counts = Counter(size for _, _, size in entries)
        sizes = np.array(sorted(counts))
        parts = optimal_partitions(
            sizes, np.array([counts[size] for size in sizes]), len(self.indexes)
        )
        for i, (lower, upper) in enumerate(parts):
            self.lowers[i], self.uppers[i] = lower, upper
        part = 0
        for key, minhash, size in entries:
            if size > parts[part][1]:
                part += 1
            for index in self.indexes[part].values():
                index.insert(key, minhash)

    def query(self, minhash: Sketch, size: int) -> Iterator[Any]:
        """Yield the keys whose sets contain probably more than the threshold of the query.

        Parameters
        ----------
        minhash, size
            Of the query.
        """
        for indexes, upper in zip(self.indexes, self.uppers, strict=True):
            if upper is not None:
                b, r = self._get_optimal_param(upper, size)
                yield from indexes[r]._query_b(minhash, b)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key is there."""
        return any(key in index for indexes in self.indexes for index in indexes.values())

    def is_empty(self) -> bool:
        """Return whether no key is there."""
        return all(index.is_empty() for indexes in self.indexes for index in indexes.values())

    def _get_optimal_param(self, x: int, q: int) -> tuple[int, int]:
        i = min(int(np.searchsorted(self.xqs, float(x) / float(q))), len(self.params) - 1)
        b, r = self.params[i]
        return int(b), int(r)


def _checked(key: Hashable, minhash: Sketch, size: int) -> tuple[Hashable, Sketch, int]:
    if size <= 0:
        raise ValueError(f"Set size must be positive, got {size}")
    return key, minhash, size


_params = lru_cache(1024)(optimal_containment_param)


def _basename(base: bytes, part: int, r: int) -> bytes:
    return b"-".join([base, struct.pack(">H", part), struct.pack(">H", r)])
