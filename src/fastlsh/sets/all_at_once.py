"""The shingle sets of all documents at once, as sorted hashes."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import offsets_of, ranges_of
from fastlsh.parallel import RunOptions, batches, batches_by_work, run
from fastlsh.signatures import batch_size
from fastlsh.texts import Shingler, Texts, shingle_set_steps

HASHED = 1 << 22
"""Characters that are made sets at a time: about a tenth of a second."""

Start = NDArray[np.int64]


def all_sets(
    texts: Texts, shingler: Shingler, options: RunOptions
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the sets of all documents.

    Returns
    -------
    hashes
        uint64: the sets one after the other, each ascending.
    size
        int64 (n,): of each; 0: an empty document.
    """
    parts: dict[int, NDArray[np.uint64]] = {}

    def keep(first: int, hashes: NDArray[np.uint64], start: Start, count: Start) -> None:
        parts[first] = hashes[ranges_of(start, count)]

    size = _make(texts, shingler, options, keep)
    hashes, end = np.empty(int(size.sum()), np.uint64), 0
    for first in sorted(parts):  # one by one, for Ctrl-C
        part = parts.pop(first)
        start, end = end, end + len(part)
        hashes[start:end] = part
    return hashes, size


def set_sizes(texts: Texts, shingler: Shingler, options: RunOptions) -> NDArray[np.int64]:
    """Return how many shingles each document has, int64 (n,); the sets are not kept."""
    return _make(texts, shingler, options, lambda *_: None)


def _make(
    texts: Texts,
    shingler: Shingler,
    options: RunOptions,
    use: Callable[[int, NDArray[np.uint64], Start, Start], None],
) -> NDArray[np.int64]:
    n = len(texts)
    size = np.empty(n, np.int64)

    def work(first: int, last: int) -> Iterator[None]:
        gathered = shingler.gather(texts, first, last)
        lengths = gathered.lengths()
        for begin, end in batches_by_work(lengths, HASHED, last - first):
            start = offsets_of(shingler.most_shingles(lengths[begin:end]))
            hashes = np.empty(start[-1], np.uint64)
            count = size[first + begin : first + end]
            yield from shingle_set_steps(
                gathered.part(begin, end), lengths[begin:end], shingler.hashing, hashes, start,
                count,
            )  # fmt: skip
            use(first + begin, hashes, start[:-1], count)
            yield

    advance = options.progress.stage("sets", n)
    run(work, batches(n, batch_size(texts)), options.threads, advance)
    return size
