"""The index of a finished run: its kept documents, with the parameters of its search."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import offsets_of
from fastlsh.index import Arrivals, Counted, NewIndex, Origin, Origins, kept_texts, new_index
from fastlsh.io import Collection, Replacements, replacing_together, take
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams

TOGETHER = 1 << 12
"""Documents that are added together."""

Added = tuple[list[Any], Any, NDArray[np.uint32] | None, Origins]
"""Ids, texts, signatures if there are some, and the blocks that the documents come from."""


DIFFERENT = "save_index needs different ids"
"""Why a repeated id is refused."""

DIFFERENT_ADDED = "index needs different ids"
"""The same where the documents are added to an index that exists."""


class IndexOutput(NamedTuple):
    """A new index."""

    path: str
    texts: str
    """How it keeps them: "full", "compressed" or "none"."""


def check_saved(search: SearchParams, texts: str, *, tokens: bool) -> None:
    """Raise ValueError if an index cannot find what the search of a run finds."""
    kept_texts(search, texts)
    if search.finds_equal:
        raise ValueError("save_index is for rule='jaccard' or 'contained', not for 'equal'")
    if tokens:
        raise ValueError("save_index is for texts, not for token ids: use `fastlsh index build`")


def save_index(
    saved: "IndexOutput",
    search: SearchParams,
    threads: int | None,
    documents: Iterator[Added],
    together: Replacements,
    count: Callable[[NewIndex], None] = lambda _: None,
) -> None:
    """Write an index of documents, which appears together with the other outputs.

    `count` is called when it has the documents, to count what they stand for.
    """
    search, texts = kept_texts(search, saved.texts)
    with new_index(saved.path, search, threads, together, texts) as index:
        for ids, texts, signatures, origins in documents:
            index.add(ids, texts, signatures, origins)
        count(index)


def count_run(
    index: NewIndex,
    what: Counted,
    head: NDArray[np.int64],
    labels: Mapping[str, NDArray[np.uint64]],
    numbers: Mapping[str, NDArray[Any]],
) -> None:
    """Count all documents of a run in the index of those that were kept.

    Parameters
    ----------
    index
        The index, which has the kept documents in their order.
    what
        What it counts.
    head
        int64 (n,): the kept document of each, in the order of the inputs, -1 if that is of
        `against`.
    labels, numbers
        The columns of the documents.
    """
    documents = np.arange(len(head))
    kept = head == documents
    position = np.cumsum(kept) - 1
    counted = head >= 0 if what else (head >= 0) & ~kept
    came = documents[counted]
    heads, of = np.unique(position[head[came]], return_inverse=True)
    is_new = np.full(len(heads), bool(what))
    index.count(what, heads, is_new, Arrivals.of(what, came, of.reshape(-1), labels, numbers))


def build_index(
    path: str, texts: str, collection: Collection, search: SearchParams, threads: int | None
) -> None:
    """Write an index of all documents of a collection, in full or not at all."""
    everything = np.ones(len(collection), np.bool_)
    with replacing_together() as together:
        saved = IndexOutput(path, texts)
        save_index(saved, search, threads, kept_of(collection, everything), together)


def kept_of(
    collection: Collection,
    kept: NDArray[np.bool_],
    signatures: NDArray[np.uint32] | None = None,
) -> Iterator[Added]:
    """Yield the kept documents of a collection in memory."""
    numbers = np.flatnonzero(kept)
    for start, stop in batches(len(numbers), TOGETHER):
        some = numbers[start:stop]
        ready = None if signatures is None else signatures[some]
        texts = take(collection.texts, some)
        yield collection.ids.take(some), texts, ready, list(origins_of(collection, some))


def origins_of(
    collection: Collection, numbers: NDArray[np.int64]
) -> Iterator[tuple[Origin, NDArray[np.int64]]]:
    """Yield the blocks of documents of a collection in memory, given in ascending order."""
    blocks = [(file, number) for file in collection.parts for number in range(len(file.extents))]
    counts = np.array([file.counts[number] for file, number in blocks], np.int64)
    starts = offsets_of(counts)
    of_blocks = np.searchsorted(starts, numbers, "right") - 1
    for block in np.unique(of_blocks).tolist():
        file, number = blocks[block]
        first, *following = (extent.row for extent in file.extents[number : number + 2])
        stop = following[0] if following else math.inf
        bad = tuple(row for row in file.bad if first <= row < stop)
        origin = Origin(file.source, file.identity, file.extents[number], file.counts[number], bad)
        yield origin, numbers[of_blocks == block] - starts[block]
