"""Sign: read each text once, and keep what the later stages need of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.signatures import BandKeys, MinHasher
from fastlsh.texts import Texts

KEYED_BANDS = 16
"""Bands whose keys are made while a signature is in the cache: up to 128 bytes per document."""


@dataclass
class Signed:
    """Signature, length and band keys of each document."""

    signatures: NDArray[np.uint32]
    """uint32 (n, num_perm)."""
    lengths: NDArray[np.int64]
    """int64 (n,): code points (bytes, tokens)."""
    keys: NDArray[np.uint64] | None
    """uint64 (bands, n): keys of the first bands, until they have been used."""


def hasher_for(params: SearchParams, options: RunOptions) -> MinHasher:
    """Return the hasher that signs for a search."""
    return MinHasher(
        params.num_perm, seed=params.seed, shingler=params.shingler, scheme=params.scheme,
        threads=options.threads,
    )  # fmt: skip


def sign(texts: Texts, params: SearchParams, options: RunOptions) -> Signed:
    """Sign every document. Memory: 4 * num_perm + 8 * min(bands, 16) + 8 bytes per document."""
    lengths = options.empty(len(texts), np.int64)
    keys = options.empty((min(params.lsh.bands, KEYED_BANDS), len(texts)), np.uint64)
    out = options.empty((len(texts), params.num_perm), np.uint32)
    signatures = hasher_for(params, options).sign(
        texts, out, lengths=lengths, keys=BandKeys(params.lsh.rows, keys), progress=options.progress
    )
    return Signed(signatures, lengths, keys)
