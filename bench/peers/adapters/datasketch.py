"""datasketch in each scheme, by its own module or a drop-in for it; its index of Bloom filters."""

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, ROWS, Adapting, K, encoded, named


class Datasketch(Adapting):
    """`MinHash.bulk`, `MinHash.jaccard` and `MinHashLSH`."""

    def __init__(self, scheme: str, module: str = "datasketch") -> None:
        self.library = importlib.import_module(module)
        self.scheme = scheme

    def minhashes(self, documents: Sequence[Sequence[str]]) -> list[Any]:
        """Return the objects of the library."""
        found: list[Any] = self.library.MinHash.bulk(
            encoded(documents), num_perm=K, scheme=self.scheme
        )
        return found

    def signatures(self, documents: Sequence[Sequence[str]]) -> NDArray[Any]:
        return np.array([m.hashvalues for m in self.minhashes(documents)])

    def estimates(
        self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        pairs = zip(self.minhashes(left), self.minhashes(right), strict=True)
        return np.array([a.jaccard(b) for a, b in pairs])

    def candidates(
        self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]
    ) -> NDArray[np.bool_]:
        index = self.library.MinHashLSH(num_perm=K, params=(BANDS, ROWS))
        return named(index.insert, index.query, self.minhashes(left), self.minhashes(right))


class Bloom(Datasketch):
    """`MinHashLSHBloom`: signatures as they are, keys as its filters get them."""

    def __init__(self) -> None:
        super().__init__("affine32")

    def index(self, count: int) -> Any:
        """Return an empty index, with filters that err once in a billion questions."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it will not be saved
            return self.library.MinHashLSHBloom(
                num_perm=K, n=max(count, 10), fp=1e-9, params=(BANDS, ROWS)
            )

    def band_keys(self, signatures: NDArray[Any]) -> list[list[int]]:
        tables = self.index(1).hashtables
        return [
            [
                table._band_hash(row[ROWS * i : ROWS * (i + 1)])
                for i, table in enumerate(tables)
            ]
            for row in signatures
        ]  # fmt: skip

    def candidates(
        self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]
    ) -> NDArray[np.bool_]:
        index = self.index(len(left))
        for minhash in self.minhashes(left):
            index.insert(minhash)
        return np.array([index.query(minhash) for minhash in self.minhashes(right)], bool)
