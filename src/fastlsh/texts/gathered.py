"""A batch of texts or tokens, ready for a kernel."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import ShinglePlan, token_hashes

BATCH_TOKENS = 1 << 16
"""Their hashes stay in the cache."""


class Hashing(NamedTuple):
    """How shingles are hashed, as arguments of the kernels."""

    unit: int
    """By the number that the kernels have for it."""
    size: int
    prepared: ShinglePlan | None = None
    """With a key, or without some words."""


class Gathered(NamedTuple):
    """The texts of a batch, ready for a kernel."""

    units: Any
    """The texts, `Spans`; or tokens, uint64, of which document d has those from offsets[d] on."""
    offsets: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.units) if self.offsets is None else len(self.offsets) - 1

    def part(self, first: int, last: int) -> "Gathered":
        """Return the documents first ... last - 1, read in place."""
        if self.offsets is None:
            return Gathered(self.units.part(first, last), None)
        return Gathered(self.units, self.offsets[first : last + 1])

    def window(self, document: int, begin: int, end: int) -> "Gathered":
        """Return the code points (bytes, tokens) begin ... end - 1 of a document as the only one.

        Not for words that are not cut yet.
        """
        if self.offsets is None:
            return Gathered(self.units.window(document, begin, end), None)
        return Gathered(self.units, self.offsets[document] + np.array([begin, end]))

    def lengths(self) -> NDArray[np.int64]:
        """Return the code points (bytes, tokens) of each document, int64 (n,)."""
        if self.offsets is not None:
            return np.diff(self.offsets)
        lengths = np.empty(len(self.units), np.int64)
        self.units.lengths(lengths)
        return lengths


def gather_tokens(
    documents: list[Sequence[str | bytes]],
    first: int = 0,
    numbers: NDArray[np.int64] | None = None,
    prepared: ShinglePlan | None = None,
) -> Gathered:
    """Gather ready tokens; errors name the document, counted from `first` or in `numbers`."""
    offsets = np.empty(len(documents) + 1, np.int64)
    return Gathered(token_hashes(documents, offsets, first, numbers, prepared), offsets)


def tokens_batch(documents: list[Any]) -> int:
    """Return how many documents have about `BATCH_TOKENS` tokens, by a sample."""
    sample = documents[:: len(documents) // 64 + 1]
    lengths = [len(document) for document in sample if hasattr(document, "__len__")]
    return max(BATCH_TOKENS * len(lengths) // (sum(lengths) + 1), 1) if lengths else 1
