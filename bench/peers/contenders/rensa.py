"""rensa: the digests of the full set, fed by a generator or from lists."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.contenders.base import (
    EVEN,
    THRESHOLD,
    Contender,
    K,
    Pair,
    shingle_list,
    word_cutter,
)  # fmt: skip


class Rensa(Contender):
    """A bucket sketch, as fss is.

    By a generator, which yields the shingles of one text at a time, is the fastest way we found to
    feed it; a list of lists is how the example in its README does.
    """

    module = "rensa"

    def __init__(self, name: str) -> None:
        self.name = name
        self.lists = "lists" in name
        self.hashed = not self.lists

    def fed(self, texts: list[str], cut: Callable[[str], list[str]]) -> Iterable[list[str]]:
        """Return the sets in the form that is measured."""
        return [cut(text) for text in texts] if self.lists else map(cut, texts)

    def characters(self, texts: list[str]) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_token_sets(self.fed(texts, shingle_list), K, 1)

    def words(self, texts: list[str], size: int) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_token_sets(self.fed(texts, word_cutter(size)), K, 1)

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Any:
        from rensa import RMinHash

        return RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, K, 1)

    def estimates(self, left: Any, right: Any) -> NDArray[np.float64]:
        return super().estimates(left.to_rows(), right.to_rows())

    def pairs(self, texts: list[str]) -> set[Pair]:
        from rensa import RMinHash, RMinHashLSH

        hashes = RMinHash.from_token_sets(self.fed(texts, shingle_list), K, 1)
        index = RMinHashLSH(THRESHOLD, K, EVEN[0])
        index.insert_many(hashes)
        return {
            (d, e)
            for d, group in enumerate(index.query_all(hashes))
            for e in group
            if d < e and hashes[d].jaccard(hashes[e]) >= THRESHOLD
        }
