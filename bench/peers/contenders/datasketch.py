"""datasketch: `MinHash.bulk` with its default SHA-1, or with the faster CRC-32."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.contenders.base import (
    THRESHOLD,
    Contender,
    K,
    Pair,
    shingle_list,
    word_cutter,
)  # fmt: skip


def byte_sets(texts: list[str], cut: Callable[[str], list[str]]) -> Iterator[list[bytes]]:
    """Yield the sets of encoded shingles."""
    for text in texts:
        yield [shingle.encode() for shingle in set(cut(text))]


class Datasketch(Contender):
    """The same algorithm as affine32."""

    module = "datasketch"
    share = 0.3

    def __init__(self, name: str) -> None:
        self.name = name
        self.more = {"hashfunc": zlib.crc32} if "CRC-32" in name else {}
        self.hashed = not self.more  # of ready hashes there is one way

    def bulk(self, sets: Iterable[Iterable[bytes]]) -> list[Any]:
        """Sketch ready sets."""
        from datasketch import MinHash

        return MinHash.bulk(sets, num_perm=K, **self.more)  # type: ignore[no-any-return]

    def characters(self, texts: list[str]) -> list[Any]:
        return self.bulk(byte_sets(texts, shingle_list))

    def words(self, texts: list[str], size: int) -> list[Any]:
        return self.bulk(byte_sets(texts, word_cutter(size)))

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> list[Any]:
        from datasketch import MinHash

        low = (hashes & np.uint64(0xFFFFFFFF)).tolist()  # affine32 takes 32 bits
        sets = [low[a:b] for a, b in zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]
        return MinHash.bulk(sets, num_perm=K, seed=1, hashfunc=int)  # type: ignore[no-any-return]

    def estimates(self, left: list[Any], right: list[Any]) -> NDArray[np.float64]:
        return np.array([a.jaccard(b) for a, b in zip(left, right, strict=True)])

    def pairs(self, texts: list[str]) -> set[Pair]:
        from datasketch import MinHashLSH

        hashes = self.characters(texts)
        index = MinHashLSH(num_perm=K, params=self.bands)
        found: set[Pair] = set()
        for d, minhash in enumerate(hashes):
            near = index.query(minhash)
            found.update((e, d) for e in near if minhash.jaccard(hashes[e]) >= THRESHOLD)
            index.insert(d, minhash)
        return found
