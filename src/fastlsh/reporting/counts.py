"""What a report counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RunCounts:
    """The counts of a deduplication, also if a page shows only some of its documents.

    Parameters
    ----------
    documents : int
        The number of documents in the inputs.
    outside : int
        How many were removed as duplicates of the reference collection.
    similarity : ndarray of float64
        Of each removed document to its kept one.
    sizes : ndarray of int64
        How many documents were removed for each kept one that has duplicates.
    limited : int
        How many documents were kept without being compared with every candidate.
    empty : int
        The number of documents without a unit.
    """

    documents: int
    outside: int
    similarity: NDArray[np.float64]
    sizes: NDArray[np.int64]
    limited: int
    empty: int

    @property
    def removed(self) -> int:
        """The number of removed documents."""
        return len(self.similarity)

    @property
    def duplicate_ratio(self) -> float:
        """The share of removed documents, 0 to 1."""
        return self.removed / self.documents if self.documents else 0.0
