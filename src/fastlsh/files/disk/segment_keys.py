"""The keys of a segment, of one of three types: how each is stored, and what is read of it."""

from binascii import crc32
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import of_band
from fastlsh.candidates import keys_apart, keys_of_one_band
from fastlsh.files.disk.sorted_keys import SortedRun, keep_first_bits, sorted_in_range
from fastlsh.files.run.ownership import UnsealedError
from fastlsh.files.run.records import Segment
from fastlsh.files.run.run import Run

Keys = NDArray[np.uint64]
Halves = NDArray[np.uint32]

HALF = np.uint64(32)


class StoredKeys:
    """The keys of a segment, mapped; each row of the file is compared with its checksum once.

    They are not compared as a whole, for other processes may link other bands.
    """

    is_sorted: ClassVar[bool] = False
    """Whether each row is sorted when it is stored, with the numbers of the documents in it."""

    def __init__(self, run: Run, segment: Segment) -> None:
        self._run = run
        self._segment = segment
        mapped = run.work.load(f"{segment.name}/keys.npy", sealed=False)
        self._rows: NDArray[Any] = mapped.view(np.ndarray)  # which is cut much faster
        self._checked: set[int] = set()

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return some rows of the file, mapped, if they are unchanged."""
        for row in range(first, last):
            if row not in self._checked:
                with self._run.work.checking(f"{self._segment.name}/keys.npy"):
                    if crc32(self._rows[row].data) != self._segment.bands[row]:
                        raise UnsealedError("is damaged")
                self._checked.add(row)
        return self._rows[first:last]


class BandKeys(StoredKeys):
    """The keys of all bands, packed: uint64 (bands, n)."""

    is_sorted = True

    @staticmethod
    def stored(keys: Keys) -> Keys:
        """Return the keys of a block as they are stored; they are changed."""
        keep_first_bits(keys)
        return keys

    def band(self, band: int, index: int, count: int) -> SortedRun:
        """Return the keys of a band, in at least one of `count` ranges of all keys."""
        return SortedRun(self._segment.first, self.rows(band, band + 1))


class Minima(StoredKeys):
    """What the keys of a search by containment are made of: uint32 (num_perm + 1 or + 3, n).

    A document has so many keys in that search that the minima take less. Behind them are the steps
    of the sizes, and, if only documents of a group are compared, the halves of the groups.
    """

    @staticmethod
    def stored(minima: Halves, groups: Keys | None) -> Halves:
        """Return the minima of a block with the steps, uint32 (num_perm + 1, n), as stored."""
        return minima if groups is None else np.vstack([minima, *_halves(groups)])

    def band(self, band: int, index: int, count: int) -> SortedRun:
        """Return the keys of a band that are in one of `count` ranges of all keys."""
        part, number = of_band(self._run.params.partitions, band)
        height = part.params.rows
        minima = self.rows(number * height, (number + 1) * height)
        keys = keys_of_one_band(minima, self.steps, part)
        if self._groups is not None:
            keys = keys_apart(keys, self._groups)
        return SortedRun(self._segment.first, sorted_in_range(keys, index, count)[np.newaxis])

    @cached_property
    def steps(self) -> NDArray[np.uint8]:
        """The step of the size of each document, by which the search by containment goes."""
        last = self._run.params.num_perm
        steps: NDArray[np.uint8] = self.rows(last, last + 1)[0].astype(np.uint8)
        return steps

    @cached_property
    def _groups(self) -> Keys | None:
        """The group of each document, if only documents of a group are compared."""
        first = self._run.params.num_perm + 1
        return None if len(self._rows) == first else _joined(*self.rows(first, first + 2))


class RowGroups(StoredKeys):
    """The groups of rows that are put together, and the sizes of their texts: uint32 (4, n)."""

    @staticmethod
    def stored(groups: Keys, sizes: NDArray[np.int64]) -> Halves:
        """Return the hash of the group of each row, and the bytes of its text, as stored."""
        return np.vstack([*_halves(groups), *_halves(sizes.view(np.uint64))])

    @cached_property
    def groups(self) -> Keys:
        """The hash of the group of each row."""
        return _joined(*self.rows(0, 2))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of the text of each row."""
        return _joined(*self.rows(2, 4)).view(np.int64)


def kind_of_keys(run: Run) -> type[BandKeys] | type[Minima] | type[RowGroups]:
    """Return which type of keys the segments of a run have."""
    if run.request.group is not None:
        return RowGroups
    return Minima if run.params.partitions else BandKeys


def _halves(numbers: Keys) -> tuple[Halves, Halves]:
    """Return the lower and the upper halves of numbers."""
    return numbers.astype(np.uint32), (numbers >> HALF).astype(np.uint32)


def _joined(low: Halves, high: Halves) -> Keys:
    joined: Keys = high.astype(np.uint64) << HALF | low.astype(np.uint64)
    return joined
