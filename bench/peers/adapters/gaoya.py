"""gaoya."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, ROWS, SIZE, Adapting, K, named


def index(threshold: float) -> Any:
    """Return an empty index, whose queries drop what its estimate leaves below the threshold."""
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(32, threshold, BANDS, ROWS, K, "char", False, (SIZE, SIZE))


class Gaoya(Adapting):
    """`MinHashStringIndex`, with its own shingles."""

    shingle_size: int | None = SIZE

    def signatures(self, documents: Sequence[str]) -> NDArray[Any]:
        tokenize_and_minhash = index(0.0).minhash_index.tokenize_and_minhash
        return np.array([tokenize_and_minhash(text) for text in documents], np.uint32)

    def candidates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        return self.filtered(left, right, 0.0)

    def filtered(
        self, left: Sequence[str], right: Sequence[str], minimum: float
    ) -> NDArray[np.bool_]:
        found = index(minimum)
        return named(found.insert_document, found.query, left, right)
