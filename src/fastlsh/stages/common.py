"""Shingles that many documents of a collection have: of templates that need not be known."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fastlsh.arrays import unique
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.sets import all_sets
from fastlsh.texts import Shingler, Texts, as_texts

SAMPLE = 100_000
"""The most documents that are looked at."""
CHARACTERS = 1 << 23
"""Characters of the documents of a chunk: 8 bytes each. A longer document is more."""


class Sample(NamedTuple):
    """The sample of a collection: all documents, or those with the numbers floor(i * n / 100,000).

    So which documents are in it, and in which chunk, does not depend on how they are read.
    """

    blocks: Callable[[], Iterable[Any]]
    """Yields the texts of the collection, some at a time; it is called several times."""
    n: int
    """The documents of the collection."""

    def chunks(self, shingler: Shingler, share: float = 1.0) -> Iterator[Texts]:
        """Yield some documents at a time, in order: about `CHARACTERS`, but at least 2 / share."""
        as_bytes = shingler.as_bytes
        chosen = np.arange(min(self.n, SAMPLE)) * self.n // max(min(self.n, SAMPLE), 1)
        chunk: list[str | bytes] = []
        first, characters = 0, 0
        for texts in map(as_texts, self.blocks()):
            start, stop = np.searchsorted(chosen, (first, first + len(texts)))
            for text in texts.take(chosen[start:stop] - first, as_bytes).strings():
                if characters > CHARACTERS and len(chunk) * share >= 2:
                    yield as_texts(chunk)
                    chunk, characters = [], 0
                chunk.append(text.encode("latin-1") if as_bytes else text)
                characters += len(text)
            first += len(texts)
        if chunk:
            yield as_texts(chunk)


def ignoring_common(params: SearchParams, sample: Sample, options: RunOptions) -> SearchParams:
    """Return parameters that ignore the shingles of more than the share `ignore_common`.

    What more than this share of a sample has, more than this share of some chunk of it has, too
    (Savasere, Omiecinski and Navathe 1995). So the first pass finds candidates, chunk by chunk, and
    the second one counts them. Memory: a chunk, and the candidates, of which a chunk has at most
    the mean size of its sets, divided by the share.
    """
    share = params.ignore_common
    if share is None:
        return params
    shingler = params.shingler
    if shingler.unit == "token":  # chunks have them as words, with the same hashes
        shingler = replace(shingler, unit="word")
    candidates = [np.empty(0, np.uint64)]
    for texts in sample.chunks(shingler, share):
        hashes, counts = np.unique(all_sets(texts, shingler, options)[0], return_counts=True)
        candidates.append(hashes[counts / len(texts) > share])
    common = unique(np.concatenate(candidates))
    total, documents = np.zeros(len(common), np.int64), 0
    for texts in sample.chunks(shingler, share) if len(common) else ():
        hashes = all_sets(texts, shingler, options)[0]
        at = np.minimum(np.searchsorted(common, hashes), len(common) - 1)
        total += np.bincount(at[common[at] == hashes], minlength=len(common))
        documents += len(texts)
    ignoring = params.shingler.ignoring_hashes(common[total / max(documents, 1) > share])
    return replace(params, shingler=ignoring, ignore_common=None)
