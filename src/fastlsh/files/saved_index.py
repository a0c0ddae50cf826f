"""The index of a finished run: its kept documents, with the parameters of its search."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.index import new_index
from fastlsh.io import Collection, Replacements, replacing_together, take
from fastlsh.parallel import batches
from fastlsh.parameters import SearchParams

TOGETHER = 1 << 12
"""Documents that are added together."""

Added = tuple[list[Any], Any, NDArray[np.uint32] | None]
"""Ids, texts, and signatures if there are some."""


def check_saved(search: SearchParams, *, tokens: bool) -> None:
    """Raise ValueError if an index cannot find what the search of a run finds."""
    if search.rule != "jaccard":
        raise ValueError(
            f"save_index is for rule='jaccard', by which an index finds documents, not for"
            f" {search.rule!r}"
        )
    if tokens:
        raise ValueError("save_index is for texts, not for token ids: use `fastlsh index build`")


def save_index(
    path: str,
    search: SearchParams,
    threads: int | None,
    documents: Iterator[Added],
    together: Replacements,
) -> None:
    """Write an index of documents, which appears together with the other outputs."""
    with new_index(path, search, threads, together) as index:
        for ids, texts, signatures in documents:
            index.add(ids, texts, signatures)


def build_index(
    path: str, collection: Collection, search: SearchParams, threads: int | None
) -> None:
    """Write an index of all documents of a collection, in full or not at all."""
    everything = np.ones(len(collection), np.bool_)
    with replacing_together() as together:
        save_index(path, search, threads, kept_of(collection, everything), together)


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
