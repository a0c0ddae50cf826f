"""A collection's signatures, and what the same pass over its texts gives besides."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.candidates import Neighbours, neighbours
from fastlsh.parallel import Progress
from fastlsh.signatures import BandKeys, MinHasher
from fastlsh.texts import Texts

KEYED_BANDS = 16
"""Bands whose keys are made while a signature is in the cache: up to 128 bytes a document."""


@dataclass
class Signed:
    """What is known of each document once its text has been read."""

    signatures: NDArray[np.uint32]
    """uint32 (n, num_perm)."""
    lengths: NDArray[np.int64]
    """int64 (n,): code points (bytes, tokens)."""
    keys: NDArray[np.uint64] | None
    """uint64 (bands, n): keys of the first bands, until they have been used."""

    @classmethod
    def of(cls, texts: Texts, hasher: MinHasher, params: LSHParams, progress: Progress) -> "Signed":
        """Read each text once."""
        lengths = np.empty(len(texts), np.int64)
        keys = np.empty((min(params.bands, KEYED_BANDS), len(texts)), np.uint64)
        signatures = hasher.sign(
            texts, lengths=lengths, keys=BandKeys(params.rows, keys), progress=progress
        )
        return cls(signatures, lengths, keys)

    def neighbours(
        self, params: LSHParams, order: NDArray[np.int64] | None, threads: int
    ) -> Neighbours:
        """Find who shares a bucket with whom; the keys are of no further use."""
        near = neighbours(self.signatures, params, order, keys=self.keys, threads=threads)
        self.keys = None
        return near
