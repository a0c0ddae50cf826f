"""rensa: the digests of the full set, those of its rho pipeline, its C-MinHash."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, Adapting, K

SEED = 1
Documents = Sequence[list[str]]


class Rensa(Adapting):
    """`RMinHash` and `RMinHashLSH`."""

    def minhashes(self, documents: Documents) -> list[Any]:
        """Return the objects of the library."""
        from rensa import RMinHash

        found: list[Any] = RMinHash.from_token_sets(documents, K, SEED)
        return found

    def signatures(self, documents: Documents) -> NDArray[Any]:
        from rensa import RMinHash

        matrix = RMinHash.digest_matrix_from_token_sets(documents, K, SEED)
        return np.array(matrix.to_rows(), np.uint64)

    def estimates(self, left: Documents, right: Documents) -> NDArray[np.float64]:
        pairs = zip(self.minhashes(left), self.minhashes(right), strict=True)
        return np.array([a.jaccard(b) for a, b in pairs])

    def candidates(self, left: Documents, right: Documents) -> NDArray[np.bool_]:
        from rensa import RMinHashLSH

        index = RMinHashLSH(0.0, K, BANDS)
        index.insert_many(self.minhashes(left))
        groups = index.query_all(self.minhashes(right))
        return np.array([i in group for i, group in enumerate(groups)], bool)

    def filtered(self, left: Documents, right: Documents, minimum: float) -> NDArray[np.bool_]:
        from rensa import RMinHashLSH

        index = RMinHashLSH(minimum, K, BANDS)
        pairs = zip(self.minhashes(left), self.minhashes(right), strict=True)
        return np.array([index.is_similar(a, b) for a, b in pairs], bool)


class Rho(Adapting):
    """`digest_matrix_from_token_sets_rho`, of which the speeds in its README are."""

    def signatures(self, documents: Documents) -> NDArray[Any]:
        from rensa import RMinHash

        matrix = RMinHash.digest_matrix_from_token_sets_rho(documents, K, SEED)
        return np.array(matrix.to_rows(), np.uint64)


class CMinHash(Adapting):
    """`CMinHash`."""

    def minhashes(self, documents: Documents) -> list[Any]:
        """Return the objects of the library."""
        from rensa import CMinHash as Theirs

        found = []
        for document in documents:
            found.append(Theirs(K, SEED))
            found[-1].update(document)
        return found

    def signatures(self, documents: Documents) -> NDArray[Any]:
        return np.array([m.digest() for m in self.minhashes(documents)], np.uint64)

    def estimates(self, left: Documents, right: Documents) -> NDArray[np.float64]:
        pairs = zip(self.minhashes(left), self.minhashes(right), strict=True)
        return np.array([a.jaccard(b) for a, b in pairs])
