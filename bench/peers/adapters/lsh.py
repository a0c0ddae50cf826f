"""mattilyra/lsh, by its own module or the drop-in for it."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, SIZE, Adapting, K

SEED = 1


class Lsh(Adapting):
    """`MinHasher` and `Cache`."""

    shingle_size: int | None = SIZE

    def __init__(self, hashbytes: int, module: str = "lsh") -> None:
        self.cache = importlib.import_module(f"{module}.cache")
        self.hasher = importlib.import_module(f"{module}.minhash").MinHasher(
            K, char_ngram=SIZE, random_state=SEED, hashbytes=hashbytes
        )

    def signatures(self, documents: Sequence[str]) -> NDArray[Any]:
        found = np.array([self.hasher.fingerprint(text) for text in documents])
        return found.view(np.int32) if found.itemsize == 4 else found  # the least *signed* hash

    def estimates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        pairs = zip(left, right, strict=True)
        return np.array([self.hasher.jaccard(a, b) for a, b in pairs])

    def candidates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        return self.filtered(left, right, None)

    def filtered(
        self, left: Sequence[str], right: Sequence[str], minimum: float | None
    ) -> NDArray[np.bool_]:
        index = self.cache.Cache(self.hasher, num_bands=BANDS)
        for i, text in enumerate(left):
            index.add_doc(text, i)
        return np.array(
            [
                i in index.get_duplicates_of(text, min_jaccard=minimum)
                for i, text in enumerate(right)
            ],
            bool,
        )
