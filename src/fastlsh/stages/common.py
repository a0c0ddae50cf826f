"""Shingles that many documents of a collection have: of templates that need not be known."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

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

Blocks = Callable[[], Iterable[Any]]
"""Yields the texts of a collection, some at a time; it is called several times."""


def ignoring_common(params: SearchParams, blocks: Blocks, options: RunOptions) -> SearchParams:
    """Return parameters that ignore the shingles of more than the share `ignore_common`.

    The sample of the n documents is all of them, or those with the numbers floor(i * n / 100,000).
    What more than this share of a sample has, more than this share of some chunk of it has, too
    (Savasere, Omiecinski and Navathe 1995). So the first pass finds candidates, chunk by chunk, and
    the second one counts them. Memory: a chunk of 64 MB (or of 2 / share documents, without which
    there would be too many candidates), and the candidates.
    """
    share = params.ignore_common
    if share is None:
        return params
    candidates = [np.empty(0, np.uint64)]
    shingler = params.shingler
    if shingler.unit == "token":  # chunks have them as words, with the same hashes
        shingler = replace(shingler, unit="word")
    for texts in sample_chunks(blocks, shingler, share):
        hashes, counts = np.unique(all_sets(texts, shingler, options)[0], return_counts=True)
        candidates.append(hashes[counts > share * len(texts)])
    common = unique(np.concatenate(candidates))
    counts, documents = np.zeros(len(common), np.int64), 0
    for texts in sample_chunks(blocks, shingler, share) if len(common) else ():
        hashes = all_sets(texts, shingler, options)[0]
        at = np.minimum(np.searchsorted(common, hashes), len(common) - 1)
        counts += np.bincount(at[common[at] == hashes], minlength=len(common))
        documents += len(texts)
    ignoring = params.shingler.ignoring_hashes(common[counts > share * documents])
    return replace(params, shingler=ignoring, ignore_common=None)


def sample_chunks(blocks: Blocks, shingler: Shingler, share: float = 1.0) -> Iterator[Texts]:
    """Yield the documents of the sample in order, in chunks that depend on nothing else."""
    n = sum(len(as_texts(texts)) for texts in blocks())
    chosen = np.arange(min(n, SAMPLE)) * n // max(min(n, SAMPLE), 1)
    as_bytes = shingler.unit == "byte" and not shingler.normalises
    chunk: list[str | bytes] = []
    first, characters = 0, 0
    for texts in map(as_texts, blocks()):
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
