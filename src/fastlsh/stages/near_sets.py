"""In which data sets each document has a near-duplicate: each is compared only until that is known.

The documents of a bucket are sorted by their data sets, and a document is compared with those of a
data set until one of them is a near-duplicate. So a million documents that are alike need a few
comparisons each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.errors import TooManyPairsError
from fastlsh.parallel import batches, batches_by_work
from fastlsh.stages.signing import LinkedPart
from fastlsh.stages.verification import Compare, comparison

ROOM = 1 << 16
"""Pairs that are compared at a time."""
SEARCHES = 1 << 11
"""Searches of a document for some data sets that go on together."""
LENGTH = 1 << 21
"""The length of the documents that are searched for together, and of families; one may be more."""
ENTRIES = 1 << 20
"""Documents times bands whose buckets are held together: about 60 bytes each."""


def find_near_sets(
    part: LinkedPart,
    own_sets: NDArray[np.uint64],
    near: NDArray[np.uint64],
    max_pairs: int,
) -> None:
    """Add to `near` the data sets in which a document of a part has a near-duplicate.

    Parameters
    ----------
    part
        Documents without copies, and their families.
    own_sets, near
        uint64 (all documents,): data sets as bits: where the text of a document is, and where
        near-duplicates of it are; `near` is written.
    max_pairs
        Raise TooManyPairsError if more pairs have to be compared.

    Notes
    -----
    Which pairs are compared depends on the order of the documents; what is found does not. A pair
    is compared at most twice: by the later document, and by the earlier one if the later one had
    found what it looked for.
    """
    families = part.families
    documents, previous = families.documents, families.previous
    search = _Search(part, own_sets[documents], near[documents], max_pairs)
    advance = part.signed.options.progress.stage("compared", len(documents))
    # Shingle sets are made for some documents at a time: they are compared in many bands then.
    lengths = np.add.reduceat(search.lengths, families.starts) if len(documents) else documents
    borders = np.append(families.starts, len(documents))
    for first, last in batches_by_work(lengths, LENGTH, len(documents)):
        start, stop = borders[[first, last]].tolist()
        for bands in batches(len(previous), max(1, ENTRIES // (stop - start))):
            buckets = _Buckets.of(
                previous[slice(*bands), start:stop], bands[0], start, search.own_sets
            )
            for later in (False, True):
                search.look_in(buckets, start, stop, later=later)
        advance(stop - start)
    near[documents] = search.near


@dataclass(frozen=True)
class _Buckets:
    """The rows of some families that share a bucket with another one, for some bands.

    An entry is a row in a bucket. A run is what has the same data sets in the same bucket. Entries
    are sorted by bucket, run and row.
    """

    rows: NDArray[np.int64]
    """Of each entry."""
    bands: NDArray[np.int64]
    """Of each entry."""
    first_run: NDArray[np.int64]
    """Of each entry, the first run of its bucket."""
    runs: NDArray[np.int64]
    """Of each entry, how many runs its bucket has."""
    key: NDArray[np.int64]
    """Of each entry, a number that ascends: `run * number of rows + row`."""
    starts: NDArray[np.int64]
    """The first entry of each run, and the number of entries."""
    entry: NDArray[np.int64]
    """int64 (bands, rows of the families): the entry of each row; -1: it shares no bucket."""

    @classmethod
    def of(
        cls, previous: NDArray[np.int32], band: int, start: int, own_sets: NDArray[np.uint64]
    ) -> "_Buckets":
        """Find the buckets of whole families, of which `start` is the first row, from a band on."""
        shape, size = previous.shape, previous.size
        number = np.arange(size).reshape(shape)
        root = np.where(previous < 0, number, number[:, :1] + previous - start).ravel()
        while (root != (up := root[root])).any():
            root = up  # twice as far each time
        place = np.flatnonzero(np.bincount(root, minlength=size)[root] > 1)
        rows = place % shape[1] + start
        order = np.lexsort((own_sets[rows], root[place]))
        place, rows = place[order], rows[order]
        other_bucket = np.diff(root[place], prepend=-1) != 0
        new = other_bucket.copy()
        new[1:] |= own_sets[rows[1:]] != own_sets[rows[:-1]]
        run, bucket = np.cumsum(new) - 1, np.cumsum(other_bucket) - 1
        first_run = run[other_bucket]
        runs = np.diff(first_run, append=int(new.sum()))
        entry = np.full(size, -1)
        entry[place] = np.arange(len(place))
        return cls(
            rows, place // shape[1] + band, first_run[bucket], runs[bucket],
            run * len(own_sets) + rows, np.append(np.flatnonzero(new), len(rows)),
            entry.reshape(shape),
        )  # fmt: skip


class _Search:
    """Compares documents of a part until all near-duplicates that matter are found."""

    def __init__(
        self,
        part: LinkedPart,
        own_sets: NDArray[np.uint64],
        near: NDArray[np.uint64],
        max_pairs: int,
    ) -> None:
        self._part = part
        self.own_sets = own_sets
        self.near = near
        self.lengths = part.signed.lengths[part.families.documents]
        self._before = near.copy()  # what was found before the later documents were looked at
        self._max_pairs = max_pairs
        self._compared = 0
        self._compare: Compare = comparison(part)

    def look_in(self, buckets: _Buckets, start: int, stop: int, *, later: bool) -> None:
        """Compare the rows of some families with the earlier, or later, rows of their buckets."""
        if later:
            self._before[start:stop] = self.near[start:stop]
        for first, last in batches_by_work(self.lengths[start:stop], LENGTH, stop - start):
            entries = buckets.entry[:, first:last].ravel()
            entries = entries[entries >= 0]
            for chunk in batches_by_work(buckets.runs[entries], ROOM, ROOM):
                entry, begin, end = self._searches(buckets, entries[slice(*chunk)], later=later)
                while len(entry):
                    row = buckets.rows[entry]
                    useful = (self.own_sets[buckets.rows[begin]] & ~self.near[row]) != 0
                    entry, begin, end = entry[useful], begin[useful], end[useful]
                    now, rest = slice(SEARCHES), slice(SEARCHES, None)
                    self._look(buckets, entry[now], begin[now], end[now], later=later)
                    entry, begin, end = entry[rest], begin[rest], end[rest]

    def _searches(
        self, buckets: _Buckets, entries: NDArray[np.int64], *, later: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return entries, and from where to where there are earlier or later ones of a run."""
        count = buckets.runs[entries]
        entry = np.repeat(entries, count)
        run = np.repeat(buckets.first_run[entries] - np.cumsum(count) + count, count)
        run += np.arange(len(run))
        start, stop = buckets.starts[run], buckets.starts[run + 1]
        key = run * len(self.own_sets) + buckets.rows[entry]
        if later:
            start = np.searchsorted(buckets.key, key, "right")
        else:
            stop = np.searchsorted(buckets.key, key)
        nonempty = start < stop
        return entry[nonempty], start[nonempty], stop[nonempty]

    def _look(
        self,
        buckets: _Buckets,
        entry: NDArray[np.int64],
        start: NDArray[np.int64],
        stop: NDArray[np.int64],
        *,
        later: bool,
    ) -> None:
        """Compare the row of each entry with those from `start` on until one is similar."""
        row, band, sets = (
            buckets.rows[entry],
            buckets.bands[entry],
            self.own_sets[buckets.rows[start]],
        )
        step = 1
        while len(row):
            count = np.minimum(stop - start, step)
            left = np.repeat(row, count)
            right = np.repeat(start - np.cumsum(count) + count, count)
            right = buckets.rows[right + np.arange(len(right))]
            fresh = self._share_first(left, right, np.repeat(band, count))
            if later:  # the later row has been compared if it had use for the earlier one
                fresh &= (self.own_sets[left] & ~self._before[right]) == 0
            self._add(left[fresh], right[fresh])
            start = start + count
            searching = (start < stop) & ((sets & ~self.near[row]) != 0)
            row, band, start, stop, sets = (
                column[searching] for column in (row, band, start, stop, sets)
            )  # fmt: skip
            step = min(2 * step, ROOM // max(len(row), 1))

    def _share_first(
        self, left: NDArray[np.int64], right: NDArray[np.int64], band: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether a band is the first one in which the signatures of a pair of rows are equal."""
        first = np.empty(len(left), np.uint8)
        signed, lsh = self._part.signed, self._part.signed.params.lsh
        _candidates.share_first(
            signed.signatures, lsh.rows, lsh.bands, self._part.families.documents, left, right,
            band, first,
        )  # fmt: skip
        return first.view(np.bool_)

    def _add(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        self._compared += len(left)
        if self._compared > self._max_pairs:
            raise TooManyPairsError(
                f"more than max_pairs={self._max_pairs:,} pairs of different texts have to be "
                "compared, as many share a bucket and are less similar than the threshold: raise "
                "max_pairs, or choose bands and rows that find fewer candidates (fastlsh tune)"
            )
        _, passes = self._compare(left, right)
        left, right = left[passes], right[passes]
        np.bitwise_or.at(self.near, left, self.own_sets[right])
        np.bitwise_or.at(self.near, right, self.own_sets[left])
