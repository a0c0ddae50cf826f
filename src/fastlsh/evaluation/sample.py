"""Some of the texts of a collection."""

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Spans
from fastlsh.texts import Texts

MOST = 20_000
"""A larger collection is evaluated by a sample of so many, unless asked otherwise."""


class SomeTexts:
    """The given documents of a collection, in their order."""

    def __init__(self, texts: Texts, documents: NDArray[np.int64]) -> None:
        self._texts = texts
        self._documents = documents

    def __len__(self) -> int:
        return len(self._documents)

    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans:
        """Gather the documents start ... stop - 1."""
        return self._texts.take(self._documents[start:stop], as_bytes)

    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans:
        """Gather the given documents."""
        return self._texts.take(self._documents[documents], as_bytes)


def sampled(texts: Texts, sample: int | None, seed: int) -> tuple[Texts, NDArray[np.int64]]:
    """Return the texts to evaluate and their numbers: all, or `sample` of them (None: `MOST`).

    Every set of so many documents is equally likely; the same seed draws the same one.
    """
    n, size = len(texts), MOST if sample is None else sample
    if size >= n:
        return texts, np.arange(n)
    # The stream of RandomState is frozen by numpy's policy (NEP 19).
    documents = np.random.RandomState(seed).permutation(n)[:size].astype(np.int64)
    documents.sort()
    return SomeTexts(texts, documents), documents
