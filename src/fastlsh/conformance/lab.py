"""The workbench of the checks: a library behind a guard, and what several checks measure."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.conformance.adapter import parts_of
from fastlsh.conformance.documents import DocumentPairs, Maker, exact
from fastlsh.conformance.guard import AdapterError, call


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

    def maker(self, what: str) -> Maker:
        """Return a source of documents that depends on nothing but the seed and this name."""
        return Maker(self.adapter.shingle_size, [self._seed, *what.encode()])

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call something that calls the library."""
        return call(function, *arguments, timeout=self.timeout)

    def signatures(self, documents: Sequence[Any]) -> NDArray[Any]:
        """Return the signatures, integers (n, k), or raise AdapterError."""
        found = self._ask(self.adapter.signatures, list(documents))
        return self.checked_signatures(found, len(documents))

    def checked_signatures(self, found: NDArray[Any], n: int) -> NDArray[Any]:
        """Return signatures that can be ones of so many documents, or raise AdapterError."""
        if found.ndim != 2 or len(found) != n or not found.shape[1]:
            raise AdapterError(
                f"signatures of {n} documents have the shape {found.shape}, expected ({n}, k)"
            )
        if found.dtype.kind not in "iu":
            raise AdapterError(f"signatures are {found.dtype}, expected integers")
        self._width = self._width or found.shape[1]
        if found.shape[1] != self._width:
            raise AdapterError(
                f"signatures have {self._width} and {found.shape[1]} values by turns"
            )
        return found

    def estimates(self, left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.float64]:
        """Return the estimates of the library, or the share of equal values."""
        if "estimates" not in self.parts:
            share = (self.signatures(left) == self.signatures(right)).mean(axis=1)
            return np.asarray(share, np.float64)
        found = self._ask(self.adapter.estimates, list(left), list(right))
        return _column(found, "estimates", len(left), "iuf").astype(np.float64)

    def candidates(self, left: Sequence[Any], right: Sequence[Any]) -> NDArray[np.bool_]:
        """Return which pairs become candidates."""
        found = self._ask(self.adapter.candidates, list(left), list(right))
        return _column(found, "candidates", len(left), "b")

    def filtered(
        self, left: Sequence[Any], right: Sequence[Any], minimum: float
    ) -> NDArray[np.bool_]:
        """Return which pairs are candidates that reach the minimum."""
        found = self._ask(self.adapter.filtered, list(left), list(right), minimum)
        return _column(found, "filtered", len(left), "b")

    def band_keys(self, signatures: NDArray[Any]) -> list[list[Any]]:
        """Return the band keys, int or bytes, for each signature."""
        keys = self.run(lambda: _rows(self.adapter.band_keys(signatures)))
        bands = self.adapter.bands
        if len(keys) != len(signatures) or any(len(row) != bands for row in keys):
            raise AdapterError(
                f"band_keys of {len(signatures)} signatures are not of shape "
                f"({len(signatures)}, {bands})"
            )
        kinds = {type(key) for row in keys for key in row}
        whole = all(issubclass(kind, int | np.integer) for kind in kinds)
        if not whole and kinds != {bytes}:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise AdapterError(f"band keys are {names}, expected int or bytes")
        return [[int(key) & (2**64 - 1) for key in row] for row in keys] if whole else keys

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
            return Measured(estimates, equal, self.adapter.num_perm)
        assert equal is not None
        return Measured(equal.mean(axis=1), equal, equal.shape[1])

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> NDArray[Any]:
        # What the library returns may raise, too.
        found: NDArray[Any] = self.run(lambda: np.asarray(function(*arguments)))
        return found


def _rows(answer: Any) -> list[list[Any]]:
    return [list(row) for row in (answer.tolist() if isinstance(answer, np.ndarray) else answer)]


def _column(found: NDArray[Any], what: str, n: int, kinds: str) -> NDArray[Any]:
    if found.shape != (n,):
        raise AdapterError(f"{what} of {n} pairs have the shape {found.shape}, expected ({n},)")
    if found.dtype.kind not in kinds:
        expected = "bool" if kinds == "b" else "numbers"
        raise AdapterError(f"{what} are {found.dtype}, expected {expected}")
    return found


def _joined(parts: list[Measured]) -> Measured:
    equal = [part.equal for part in parts if part.equal is not None]
    return Measured(
        np.concatenate([part.estimates for part in parts]),
        np.concatenate(equal) if equal else None,
        parts[0].num_perm,
    )
