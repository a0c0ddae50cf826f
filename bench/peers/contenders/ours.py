"""fastlsh in both schemes."""

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench.peers.contenders.base import EVEN, PARAMS, SIZE, THRESHOLD, Contender, K, Pair

Signatures = NDArray[np.uint32]


class Fastlsh(Contender):
    """One scheme of fastlsh; its pairs are verified exactly."""

    module = "fastlsh"
    bands = (PARAMS.bands, PARAMS.rows)
    check = "exact"

    def __init__(self, name: str, scheme: str, bands: tuple[int, int] = bands) -> None:
        self.name = name
        self.scheme = scheme
        self.bands = bands

    def hasher(self, shingler: fastlsh.Shingler | None = None) -> fastlsh.MinHasher:
        """Return the hasher of this scheme."""
        return fastlsh.MinHasher(K, scheme=self.scheme, shingler=shingler, threads=1)

    def characters(self, texts: list[str]) -> Signatures:
        return self.hasher(fastlsh.Shingler(size=SIZE)).signatures(texts)

    def words(self, texts: list[str], size: int) -> Signatures:
        return self.hasher(fastlsh.Shingler(unit="word", size=size)).signatures(texts)

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Signatures:
        return self.hasher().from_hashes(hashes, offsets)

    def pairs(self, texts: list[str]) -> set[Pair]:
        bands, rows = self.bands
        found = fastlsh.near_duplicates(
            texts, THRESHOLD, scheme=self.scheme, threads=1, bands=bands, rows=rows
        )
        return set(zip(found.left.tolist(), found.right.tolist(), strict=True))


OURS = (Fastlsh("fastlsh", "affine32"), Fastlsh("fastlsh, fss", "fss"))
WITH_THEIR_BANDS = Fastlsh("fastlsh, 16 x 8", "affine32", EVEN)
"""With the bands of the others, to tell the difference of bands from that of verification."""
