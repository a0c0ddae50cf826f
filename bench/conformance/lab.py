"""A library on the workbench: documents whose sets are known, and its answers as arrays."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LETTERS = 9
"""Of a made-up element: that two of a thousand are equal by accident is one in ten millions."""

BLOCK = 200_000
"""Elements on each side that are held at a time."""

PARTS = ("signatures", "estimates", "band_keys", "candidates", "filtered")
Documents = Sequence[Any]
Flags = NDArray[np.bool_]


# ---- documents


def shared_of(size: int, similarity: float) -> int:
    """Return how many elements two sets of so many share."""
    return round(2 * size * similarity / (1 + similarity))


def exact(size: int, similarity: float) -> float:
    """Return the nearest similarity that two sets of so many elements can have."""
    shared = shared_of(size, similarity)
    return shared / (2 * size - shared)


class Maker:
    """Makes documents from a seed, in the form that an adapter takes.

    A document is a stretch of a random sequence: of elements, or of letters, every window of
    `width` of which is a shingle. So two stretches that overlap have exactly the shingles in
    common that lie in both, and the stretch that covers both has the union.

    Parameters
    ----------
    shingle_size
        As `bench.conformance` describes it for adapters.
    seed
        Whatever `numpy.random.default_rng` takes.
    """

    def __init__(self, shingle_size: int | None, seed: Any) -> None:
        self.text, self.width = shingle_size is not None, shingle_size or 1
        self.rng = np.random.default_rng(seed)

    def pairs(self, size: int, similarity: float, count: int) -> Iterator[tuple[list[Any], ...]]:
        """Yield so many pairs of sets, a block at a time: left, right and the unions of both."""
        shared, length = shared_of(size, similarity), size + self.width - 1
        overlap = shared + self.width - 1 if shared else 0
        at_once = max(BLOCK // size, 1)
        for start in range(0, count, at_once):
            union = list(self.sequences(min(at_once, count - start), 2 * length - overlap))
            right = [units[length - overlap :] for units in union]
            yield [units[:length] for units in union], right, union

    def documents(self, size: int, count: int) -> list[Any]:
        """Return so many documents with sets of `size` elements."""
        return list(self.sequences(count, size + self.width - 1))

    def reordered(self, document: Any, times: int = 1) -> tuple[Any, Any]:
        """Return two documents of one set: the elements in another order, so many times each.

        A closed ring of letters has the same windows wherever it is opened, and twice around.
        """
        if not self.text:
            orders = (self.rng.permutation(len(document)) for _ in range(times))
            return document, [document[i] for order in orders for i in order]
        place, tail = int(self.rng.integers(1, len(document))), self.width - 1
        turned = document[place:] + document[:place]
        return document + document[:tail], turned * times + turned[:tail]

    def sequences(self, count: int, length: int) -> Iterator[Any]:
        """Yield so many random sequences."""
        if self.text:
            letters = self.rng.integers(97, 123, (count, length), np.uint8)
            yield from (row.tobytes().decode() for row in letters)
            return
        words = np.full((count, length, LETTERS + 1), ord(" "), np.uint8)
        words[..., :LETTERS] = self.rng.integers(97, 123, (count, length, LETTERS), np.uint8)
        yield from (row.tobytes().decode().split() for row in words)


# ---- the library


class AnswerError(Exception):
    """An answer of the wrong shape or type, in words for the report."""


class Measured(NamedTuple):
    """The answers of a library for pairs of sets of a size and an exact similarity."""

    cell: str
    """The similarity and the size in words."""
    similarity: float
    estimates: NDArray[np.float64]
    """(trials,)"""
    equal: Flags
    """(trials, k): which values of the two signatures are equal; (trials, 0) without signatures."""
    num_perm: int


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
        name = getattr(adapter, "name", None)
        if not isinstance(name, str) or not hasattr(adapter, "shingle_size"):
            raise TypeError(f"an adapter is an object with a name and a shingle_size: {adapter!r}")
        self.adapter, self.trials, self._seed = adapter, trials, seed
        self.parts = {part for part in PARTS if callable(getattr(adapter, part, None))}
        if not self.parts & {"signatures", "estimates"}:
            raise TypeError(f"adapter {adapter.name} has neither signatures nor estimates")
        if self.parts & {"band_keys", "candidates"}:
            self.bands, self.rows = int(adapter.bands), int(adapter.rows)
        self._measured: dict[tuple[int, float], Measured] = {}

    def maker(self, purpose: str) -> Maker:
        """Return a source of documents that depends on nothing but the seed and this name."""
        size = self.adapter.shingle_size
        return Maker(size and int(size), [self._seed, *purpose.encode()])

    def signatures(self, documents: Documents) -> NDArray[Any]:
        """Return the signatures, integers (n, k)."""
        values, n = np.asarray(self.adapter.signatures(list(documents))), len(documents)
        if values.ndim != 2 or len(values) != n or values.dtype.kind not in "iu":
            shape = f"{values.dtype} of the shape {values.shape}, expected integers ({n}, k)"
            raise AnswerError(f"signatures of {n} documents are {shape}")
        return values

    def equal(self, left: Documents, right: Documents) -> Flags:
        """Return which values of the signatures are equal, (n, k)."""
        return np.asarray(self.signatures(left) == self.signatures(right))

    def estimates(self, left: Documents, right: Documents) -> NDArray[np.float64]:
        """Return the estimates of the library, or the shares of equal values."""
        if "estimates" not in self.parts:
            return np.asarray(self.equal(left, right).mean(axis=1), np.float64)
        answer = self.adapter.estimates(list(left), list(right))
        estimates = _column(answer, len(left)).astype(np.float64)
        if not np.isfinite(estimates).all():
            raise AnswerError("estimates that are no finite numbers")
        return estimates

    def flags(self, part: str, left: Documents, right: Documents, *more: float) -> Flags:
        """Return which pairs are candidates, or pass the filter."""
        answer = getattr(self.adapter, part)(list(left), list(right), *more)
        return _column(answer, len(left)).astype(bool)

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
        """Return the answers for `trials` pairs; they are measured once."""
        place = size, exact(size, similarity)
        if place not in self._measured:
            cell = f"similarity {place[1]:g}, sets of {size:,}"
            pairs = self.maker(f"pairs {cell}").pairs(size, similarity, self.trials)
            blocks = [pair[:2] for pair in pairs]
            equal = np.empty((self.trials, 0), np.bool_)
            if "signatures" in self.parts:
                equal = np.concatenate([self.equal(*block) for block in blocks])
            if "estimates" in self.parts:
                estimates = np.concatenate([self.estimates(*block) for block in blocks])
                k = int(self.adapter.num_perm)
            else:
                estimates, k = equal.mean(axis=1), equal.shape[1]
            self._measured[place] = Measured(cell, place[1], estimates, equal, k)
        return self._measured[place]


def _column(answer: Any, n: int) -> NDArray[Any]:
    column = np.asarray(answer)
    if column.shape != (n,) or column.dtype.kind not in "biuf":
        raise AnswerError(f"the answer for {n} pairs is {column.dtype} of the shape {column.shape}")
    return column
