"""fastlsh itself as an adapter."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams
from fastlsh.candidates import band_keys
from fastlsh.sets import estimate_jaccard
from fastlsh.signatures import MinHasher


class Fastlsh:
    """An `Adapter` for a `MinHasher`: its signatures of texts, the band keys, the candidates.

    Parameters
    ----------
    hasher
        Its shingler must use characters as units, and must not normalise texts.
    params
        Bands and rows; by default 16 bands of num_perm // 16 rows.
    name
        For the report.
    """

    def __init__(
        self, hasher: MinHasher, params: LSHParams | None = None, *, name: str | None = None
    ) -> None:
        if hasher.shingler.unit != "char":
            raise ValueError(f"the unit must be char, got {hasher.shingler.unit}")
        self.hasher = hasher
        self.name = name or f"fastlsh, {hasher.scheme}"
        self.shingle_size: int | None = hasher.shingler.size
        self.num_perm = hasher.num_perm
        self.params = params or LSHParams(min(16, self.num_perm), max(self.num_perm // 16, 1))
        self.bands, self.rows = self.params.bands, self.params.rows

    def signatures(self, documents: Sequence[str]) -> NDArray[np.uint32]:
        """Return `MinHasher.signatures`."""
        return self.hasher.signatures(documents)

    def estimates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return `estimate_jaccard`."""
        both = self.signatures([*left, *right])
        places = np.arange(len(left))
        return estimate_jaccard(both, (places, places + len(left)))

    def band_keys(self, signatures: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Return `band_keys`, a row for each document."""
        return band_keys(signatures, self.params).T

    def candidates(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether a key is equal; the key of an empty document, 0, never is."""
        keys = self.band_keys(self.signatures([*left, *right]))
        ours, theirs = keys[: len(left)], keys[len(left) :]
        return np.asarray(((ours == theirs) & (ours != 0)).any(axis=1))
