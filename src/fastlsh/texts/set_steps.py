"""Shingle sets in steps: each call of a kernel is short enough for Ctrl-C, however long a text."""

from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.arrays import unique
from fastlsh.parallel import batches, batches_by_work
from fastlsh.texts.gathered import Gathered, Hashing

STEP = 1 << 22
"""Units that are hashed, or hashes that are merged, in one call: about a tenth of a second."""


def shingle_set_steps(
    gathered: Gathered,
    lengths: NDArray[np.int64],
    hashing: Hashing,
    out: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    *,
    thinned: bool = False,
) -> Iterator[None]:
    """Write the shingle hashes of each document of a batch, step by step.

    Parameters
    ----------
    gathered, lengths
        The batch, and the code points (bytes, tokens) of each document, int64 (n,).
    hashing
        Of the shingler.
    out
        uint64, written: document d from start[d] on; it needs room for
        `Shingler.most_shingles`.
    start
        int64 (n + 1,), where the room of each document begins and ends.
    count
        int64 (n,), written: how many hashes there are, distinct and ascending.
    thinned
        In the order of the text instead; some that repeat are left out.
    """
    unit, size, prepared = hashing
    for first, last in batches_by_work(lengths, STEP, max(len(lengths), 1)):
        room = start[first : last + 1]
        counts = count[first:last]
        if lengths[first] <= STEP or not _has_windows(gathered, unit):
            some = gathered.part(first, last)
            _kernels.shingle_sets(
                some.units, some.offsets, unit, size, out, room, counts, thinned=thinned,
                prepared=prepared,
            )  # fmt: skip
            yield
            continue
        parts: list[NDArray[np.uint64]] = []
        end = int(room[0])
        overlap = size - 1
        length = int(lengths[first])
        # What is read twice is to be little.
        for a, b in batches(max(length - overlap, 1), max(STEP, 64 * overlap)):
            some = gathered.window(first, a, min(b + overlap, length))
            bounds = np.array([end, end + b - a])
            _kernels.shingle_sets(
                some.units, some.offsets, unit, size, out, bounds, counts, thinned=thinned,
                prepared=prepared,
            )  # fmt: skip
            parts.append(out[end : end + int(counts[0])])
            end += int(counts[0])
            yield
        counts[0] = end - room[0]
        if not thinned:
            counts[0] = yield from _merge(parts, out[int(room[0]) : end])


def _has_windows(gathered: Gathered, unit: int) -> bool:
    # The words of a text are not cut yet: a window might begin within one.
    return gathered.offsets is not None or unit in (_kernels.CHARACTERS, _kernels.TOKEN_IDS)


def _merge(parts: list[NDArray[np.uint64]], out: NDArray[np.uint64]) -> Generator[None, None, int]:
    """Write the union of ascending parts of `out` to its beginning; return its size.

    Range by range of values: hashes are spread evenly over all of them.
    """
    ranges = len(out) // STEP + 1
    bounds = np.array([2**64 * i // ranges for i in range(1, ranges)], np.uint64)
    edges = [[0, *np.searchsorted(part, bounds).tolist(), len(part)] for part in parts]
    union = []
    for i in range(ranges):
        some = [part[edge[i] : edge[i + 1]] for part, edge in zip(parts, edges, strict=True)]
        union.append(unique(np.concatenate(some)))
        yield
    end = 0
    for merged in union:
        out[end : end + len(merged)] = merged
        end += len(merged)
    return end
