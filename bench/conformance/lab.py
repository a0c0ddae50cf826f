"""A library on the workbench: its answers as arrays, and what several checks measure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.conformance.documents import DocumentPairs, Maker, exact

PARTS = ("signatures", "estimates", "band_keys", "candidates", "filtered")
Pairs = tuple[Sequence[Any], Sequence[Any]]


class AnswerError(Exception):
    """An answer of the wrong shape or type, in words for the report."""


class Measured(NamedTuple):
    """What a library makes of pairs of sets of this size and exact similarity."""

    size: int
    similarity: float
    estimates: NDArray[np.float64]
    """(trials,)"""
    equal: NDArray[np.bool_]
    """(trials, k): which values of the two signatures are equal; (trials, 0) without signatures."""
    num_perm: int

    @property
    def cell(self) -> str:
        """Return what was measured, in words."""
        return f"similarity {self.similarity:g}, sets of {self.size:,}"


class Lab:
    """One library, with the documents for it.

    Parameters
    ----------
    adapter
        As `bench.conformance` describes it.
    trials, seed
        As in `check`.
    """

    def __init__(self, adapter: Any, trials: int, seed: int) -> None:
        if not isinstance(getattr(adapter, "name", None), str) or not hasattr(
            adapter, "shingle_size"
        ):
            raise TypeError(f"an adapter is an object with a name and a shingle_size: {adapter!r}")
        self.parts = {part for part in PARTS if callable(getattr(adapter, part, None))}
        if not self.parts & {"signatures", "estimates"}:
            raise TypeError(f"adapter {adapter.name} has neither signatures nor estimates")
        self.adapter, self.trials, self._seed = adapter, trials, seed
        if self.parts & {"band_keys", "candidates"}:
            self.bands, self.rows = int(adapter.bands), int(adapter.rows)
        self._measured: dict[tuple[int, float], Measured] = {}

    def maker(self, what: str) -> Maker:
        """Return a source of documents that depends on nothing but the seed and this name."""
        size = self.adapter.shingle_size
        return Maker(size and int(size), [self._seed, *what.encode()])

    def signatures(self, documents: Sequence[Any]) -> NDArray[Any]:
        """Return the signatures, integers (n, k)."""
        found = np.asarray(self.adapter.signatures(list(documents)))
        if found.ndim != 2 or len(found) != len(documents) or found.dtype.kind not in "iu":
            raise AnswerError(
                f"signatures of {len(documents)} documents are {found.dtype} of the shape "
                f"{found.shape}, expected integers ({len(documents)}, k)"
            )
        return found

    def estimates(self, left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.float64]:
        """Return the estimates of the library, or the shares of equal values."""
        if "estimates" in self.parts:
            answer = self.adapter.estimates(list(left), list(right))
            found = _column(answer, len(left)).astype(np.float64)
            if not np.isfinite(found).all():
                raise AnswerError("estimates that are no finite numbers")
            return found
        share = (self.signatures(left) == self.signatures(right)).mean(axis=1)
        return np.asarray(share, np.float64)

    def flags(self, part: str, pairs: Pairs, *more: float) -> NDArray[np.bool_]:
        """Return which pairs are candidates, or pass the filter."""
        left, right = map(list, pairs)
        return _column(getattr(self.adapter, part)(left, right, *more), len(left)).astype(bool)

    def band_keys(self, signatures: NDArray[Any]) -> list[list[Any]]:
        """Return the band keys, int or bytes, for each signature."""
        answer = self.adapter.band_keys(signatures)
        keys = [list(row) for row in (answer.tolist() if hasattr(answer, "tolist") else answer)]
        if len(keys) != len(signatures) or any(len(row) != self.bands for row in keys):
            raise AnswerError(f"band keys are not of the shape ({len(signatures)}, {self.bands})")
        if {type(key) for row in keys for key in row} == {bytes}:
            return keys
        if not all(isinstance(key, int) and 0 <= key < 2**64 for row in keys for key in row):
            raise AnswerError("band keys are neither bytes nor integers of 64 bits")
        return keys

    def measured(self, size: int, similarity: float) -> Measured:
        """Return what the library makes of `trials` pairs; measured once."""
        place = size, exact(size, similarity)
        if place not in self._measured:
            name = f"pairs similarity {place[1]:g}, sets of {size:,}"
            blocks = list(self.maker(name).pairs(size, similarity, self.trials))
            estimates, equal = zip(*map(self._block, blocks), strict=True)
            k = self.adapter.num_perm if "estimates" in self.parts else equal[0].shape[1]
            self._measured[place] = Measured(
                *place, np.concatenate(estimates), np.concatenate(equal), int(k)
            )
        return self._measured[place]

    def _block(self, pairs: DocumentPairs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if "signatures" not in self.parts:
            none = np.empty((len(pairs.left), 0), np.bool_)
            return self.estimates(pairs.left, pairs.right), none
        equal = self.signatures(pairs.left) == self.signatures(pairs.right)
        if "estimates" in self.parts:
            return self.estimates(pairs.left, pairs.right), equal
        return equal.mean(axis=1), equal


def _column(answer: Any, n: int) -> NDArray[Any]:
    found = np.asarray(answer)
    if found.shape != (n,) or found.dtype.kind not in "biuf":
        raise AnswerError(f"the answer for {n} pairs is {found.dtype} of the shape {found.shape}")
    return found
