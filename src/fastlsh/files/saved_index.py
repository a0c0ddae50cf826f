"""The index of a finished run: its kept documents, with the parameters of its search."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.index import kept_texts, new_index
from fastlsh.io import Collection, Replacements, replacing_together, take
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams

TOGETHER = 1 << 12
"""Documents that are added together."""

Added = tuple[list[Any], Any, NDArray[np.uint32] | None]
"""Ids, texts, and signatures if there are some."""


class IndexOutput(NamedTuple):
    """A new index."""

    path: str
    texts: str
    """How it keeps them: "full", "compressed" or "none"."""


def check_saved(search: SearchParams, texts: str, *, tokens: bool) -> None:
    """Raise ValueError if an index cannot find what the search of a run finds."""
    kept_texts(search, texts)
    if search.rule != "jaccard":
        raise ValueError(
            f"save_index is for rule='jaccard', by which an index finds documents, not for"
            f" {search.rule!r}"
        )
    if tokens:
        raise ValueError("save_index is for texts, not for token ids: use `fastlsh index build`")


def save_index(
    saved: "IndexOutput",
    search: SearchParams,
    threads: int | None,
    documents: Iterator[Added],
    together: Replacements,
) -> None:
    """Write an index of documents, which appears together with the other outputs."""
    search, texts = kept_texts(search, saved.texts)
    with new_index(saved.path, search, threads, together, texts) as index:
        for ids, texts, signatures in documents:
            index.add(ids, texts, signatures)


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
        yield collection.ids.take(some), take(collection.texts, some), ready
