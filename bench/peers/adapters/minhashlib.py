"""minhashlib."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, ROWS, SIZE, Adapting, K, named


class Minhashlib(Adapting):
    """`MinHash` and `MinHashLSH`."""

    shingle_size: int | None = SIZE

    def __init__(self) -> None:
        from minhashlib import MinHash

        self.hasher = MinHash(k=SIZE, num_perm=K, seed=1)

    def signatures(self, documents: Sequence[str]) -> NDArray[Any]:
        return np.array([self.hasher.signature(text) for text in documents])

    def estimates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        from minhashlib import similarity

        pairs = zip(self.signatures(left), self.signatures(right), strict=True)
        return np.array([similarity(a, b) for a, b in pairs])

    def band_keys(self, signatures: NDArray[np.int64]) -> list[list[int]]:
        index = self.index()
        return [[key for _, key in index._band_hashes(row)] for row in signatures]

    def candidates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        index = self.index()
        return named(index.insert, index.query, self.signatures(left), self.signatures(right))

    @staticmethod
    def index() -> Any:
        """Return an empty index."""
        from minhashlib import MinHashLSH

        return MinHashLSH(num_perm=K, bands=BANDS, rows=ROWS)
