"""The workbench of the checks: a library behind a guard, and what several checks measure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.conformance.adapter import parts_of
from bench.conformance.answers import as_estimates, as_flags, as_keys, as_signatures
from bench.conformance.documents import DocumentPairs, Maker, exact
from bench.conformance.guard import AdapterError, call


class Cell(NamedTuple):
    """Pairs of sets of this size and exact similarity."""

    size: int
    similarity: float

    def __str__(self) -> str:
        return f"similarity {self.similarity:g}, sets of {self.size:,}"


class Measured(NamedTuple):
    """What a library makes of the pairs of a cell."""

    estimates: NDArray[np.float64]
    """(trials,)"""
    equal: NDArray[np.bool_] | None
    """(trials, k): which values of the two signatures are equal; None without signatures."""
    num_perm: int


class Lab:
    """One library, with the documents for it.

    Parameters
    ----------
    adapter
        Any `Adapter`.
    trials, seed, timeout
        As in `check`.

    Raises
    ------
    TypeError
        The adapter has no name, or nothing to check.
    """

    def __init__(self, adapter: Any, trials: int, seed: int, timeout: float) -> None:
        self.parts = parts_of(adapter)
        self.adapter = adapter
        self.trials = trials
        self.timeout = timeout
        self._seed = seed
        self._width = 0
        self._measured: dict[Cell, Measured] = {}

    # As int, whatever kind of integer the adapter has.

    @property
    def bands(self) -> int:
        """Return how many bands the library has."""
        return int(self.adapter.bands)

    @property
    def rows(self) -> int:
        """Return how many values a band has."""
        return int(self.adapter.rows)

    def maker(self, what: str) -> Maker:
        """Return a source of documents that depends on nothing but the seed and this name."""
        size = self.adapter.shingle_size
        return Maker(size and int(size), [self._seed, *what.encode()])

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call something that calls the library."""
        return call(function, *arguments, timeout=self.timeout)

    def signatures(self, documents: Sequence[Any]) -> NDArray[Any]:
        """Return the signatures, integers (n, k), or raise AdapterError."""
        found: NDArray[Any] = self.run(self.unguarded_signatures, list(documents))
        return found

    def unguarded_signatures(self, documents: list[Any]) -> NDArray[Any]:
        """Return the same, for threads that `run` watches."""
        found = as_signatures(self.adapter.signatures(documents), len(documents))
        self._width = self._width or found.shape[1]
        if found.shape[1] != self._width:
            raise AdapterError(
                f"signatures have {self._width} and {found.shape[1]} values by turns"
            )
        return found

    # What the library returns may raise, too: it becomes an array inside the guard.

    def estimates(self, left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.float64]:
        """Return the estimates of the library, or the share of equal values."""
        if "estimates" not in self.parts:
            share = (self.signatures(left) == self.signatures(right)).mean(axis=1)
            return np.asarray(share, np.float64)
        ask = self.adapter.estimates
        found: NDArray[np.float64] = self.run(
            lambda: as_estimates(ask(list(left), list(right)), len(left))
        )
        return found

    def candidates(self, left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.bool_]:
        """Return which pairs become candidates."""
        ask = self.adapter.candidates
        found: NDArray[np.bool_] = self.run(
            lambda: as_flags(ask(list(left), list(right)), "candidates", len(left))
        )
        return found

    def filtered(
        self, left: Sequence[Any], right: Sequence[Any], minimum: float
    ) -> NDArray[np.bool_]:
        """Return which pairs are candidates that reach the minimum."""
        ask = self.adapter.filtered
        found: NDArray[np.bool_] = self.run(
            lambda: as_flags(ask(list(left), list(right), minimum), "filtered", len(left))
        )
        return found

    def band_keys(self, signatures: NDArray[Any]) -> list[list[Any]]:
        """Return the band keys, int or bytes, for each signature."""
        ask, bands = self.adapter.band_keys, self.bands
        found: list[list[Any]] = self.run(lambda: as_keys(ask(signatures), len(signatures), bands))
        return found

    def measured(self, size: int, similarity: float) -> tuple[Cell, Measured]:
        """Return what the library makes of `trials` pairs; measured once."""
        cell = Cell(size, exact(size, similarity))
        if cell not in self._measured:
            blocks = self.maker(f"pairs {cell}").pairs(size, similarity, self.trials)
            self._measured[cell] = _joined([self._block(pairs) for pairs in blocks])
        return cell, self._measured[cell]

    def _block(self, pairs: DocumentPairs) -> Measured:
        equal = None
        if "signatures" in self.parts:
            equal = self.signatures(pairs.left) == self.signatures(pairs.right)
        if "estimates" in self.parts:
            estimates = self.estimates(pairs.left, pairs.right)
            return Measured(estimates, equal, int(self.adapter.num_perm))
        assert equal is not None
        return Measured(equal.mean(axis=1), equal, equal.shape[1])


def _joined(parts: list[Measured]) -> Measured:
    equal = [part.equal for part in parts if part.equal is not None]
    return Measured(
        np.concatenate([part.estimates for part in parts]),
        np.concatenate(equal) if equal else None,
        parts[0].num_perm,
    )
