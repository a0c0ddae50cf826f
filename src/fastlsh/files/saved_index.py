"""The index of a finished run: its kept documents, with the parameters of its search."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.run.workdir import WorkDirectory, outputs_there
from fastlsh.index import Arrivals, Counted, NewIndex, check_kept_texts, check_new_index, new_index
from fastlsh.io import Collection, Replacements, replacing_together, take
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams

TOGETHER = 1 << 12
"""Documents that are added together."""

IndexBatch = tuple[list[Any], Any, NDArray[np.uint32] | None]
"""Ids, texts, and signatures if there are some."""

INDEX = "index.json"
"""The record of an index in a work directory."""

DIFFERENT = "save_index needs different ids"
"""Why a repeated id is refused."""

DIFFERENT_ADDED = "index needs different ids"
"""The same where the documents are added to an index that exists."""


class IndexOutput(NamedTuple):
    """A new index."""

    path: str
    texts: str
    """How it keeps them: "full" or "compressed"."""

    @property
    def record(self) -> tuple[str, str, dict[int, str]]:
        """What a work directory has of it, for `recording` and `outputs_there`."""
        return INDEX, self.texts, {0: self.path}

    def is_in_record_of(self, work: WorkDirectory) -> bool:
        """Whether a run with this work directory has written it, and it has not changed."""
        return bool(outputs_there(work, *self.record))


def check_saved(search: SearchParams, texts: str, *, tokens: bool) -> None:
    """Raise ValueError if an index cannot find what the search of a run finds."""
    check_kept_texts(search, texts)
    if search.finds_equal:
        raise ValueError("save_index is for rule='jaccard' or 'contained', not for 'equal'")
    if tokens:
        raise ValueError("save_index is for texts, not for token ids: use `fastlsh index build`")


def save_index(
    saved: "IndexOutput",
    search: SearchParams,
    threads: int | None,
    documents: Iterator[IndexBatch],
    together: Replacements,
    count: Callable[[NewIndex], None] = lambda _: None,
) -> None:
    """Write an index of documents, which appears together with the other outputs.

    `count` is called when it has the documents, to count what they stand for.
    """
    check_kept_texts(search, saved.texts)
    with new_index(saved.path, search, threads, together, saved.texts) as index:
        for added in documents:
            index.add(*added)
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
    check_new_index(path)
    everything = np.ones(len(collection), np.bool_)
    with replacing_together() as together:
        saved = IndexOutput(path, texts)
        save_index(saved, search, threads, kept_of(collection, everything), together)


def kept_of(
    collection: Collection,
    kept: NDArray[np.bool_],
    signatures: NDArray[np.uint32] | None = None,
) -> Iterator[IndexBatch]:
    """Yield the kept documents of a collection in memory."""
    numbers = np.flatnonzero(kept)
    for start, stop in batches(len(numbers), TOGETHER):
        chunk = numbers[start:stop]
        ready = None if signatures is None else signatures[chunk]
        yield collection.ids.take(chunk), take(collection.texts, chunk), ready
