"""MinHash of weighted sets: consistent weighted sampling (Ioffe 2010)."""

import copy
from collections.abc import Sequence, Sized
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class WeightedMinHash:
    """The samples of a weighted set.

    Parameters
    ----------
    seed
        Of the generator.
    hashvalues
        Integers (sample_size, 2): the dimension and the level of each sample.

    Examples
    --------
    >>> generator = WeightedMinHashGenerator(3, sample_size=64)
    >>> generator.minhash([1, 2, 0]).jaccard(generator.minhash([1, 2, 0]))
    1.0
    """

    def __init__(self, seed: int, hashvalues: NDArray[Any]) -> None:
        self.seed = seed
        self.hashvalues = hashvalues

    def jaccard(self, other: "WeightedMinHash") -> float:
        """Estimate the weighted Jaccard similarity: the share of equal samples.

        Raises
        ------
        ValueError
            The seeds or the lengths differ.
        """
        if self.seed != other.seed:
            raise ValueError(
                f"cannot compare WeightedMinHash with different seeds: {self.seed}, {other.seed}"
            )
        if len(self) != len(other):
            raise ValueError(
                "cannot compare WeightedMinHash with different numbers of hash values: "
                f"{len(self)}, {len(other)}"
            )
        ours, theirs = np.asarray(self.hashvalues), np.asarray(other.hashvalues)
        if ours.shape == theirs.shape and ours.ndim == 2:
            equal = int(np.count_nonzero((ours == theirs).all(axis=1)))
        else:  # a MinHash, or what no generator made
            pairs = zip(self.hashvalues, other.hashvalues, strict=True)
            equal = sum(np.array_equal(one, two) for one, two in pairs)
        return float(equal) / float(len(self))

    def digest(self) -> NDArray[Any]:
        """Return a copy of the hash values."""
        return copy.copy(self.hashvalues)

    def copy(self) -> "WeightedMinHash":
        """Return a WeightedMinHash with a copy of the hash values."""
        return WeightedMinHash(self.seed, self.digest())

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, WeightedMinHash)
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]


class WeightedMinHashGenerator:
    """Makes WeightedMinHash of vectors of weights.

    Parameters
    ----------
    dim
        Length of the vectors.
    sample_size
        How many samples a WeightedMinHash has.
    seed
        Draws the random numbers: of numpy's RandomState, whose stream is frozen (NEP 19).

    Examples
    --------
    >>> generator = WeightedMinHashGenerator(3, sample_size=64)
    >>> len(generator.minhash([1, 2, 0]))
    64
    """

    def __init__(self, dim: int, sample_size: int = 128, seed: int = 1) -> None:
        self.dim = dim
        self.sample_size = sample_size
        self.seed = seed
        shape = (sample_size, dim)
        draw = np.random.RandomState(seed=seed)
        self.rs: NDArray[np.float32] = draw.gamma(2, 1, shape).astype(np.float32)
        self.ln_cs: NDArray[np.float32] = np.log(draw.gamma(2, 1, shape)).astype(np.float32)
        self.betas: NDArray[np.float32] = draw.uniform(0, 1, shape).astype(np.float32)

    def minhash(self, v: ArrayLike) -> WeightedMinHash:
        """Sample one vector of weights, (dim,).

        Raises
        ------
        TypeError
            `v` has no length, or more than one dimension.
        ValueError
            It has another length, or no weight.
        OverflowError
            A weight is infinite, or beyond the range of float32.
        """
        if not isinstance(v, Sized):
            raise TypeError(f"v must be a sized vector, got {type(v).__name__}")
        if len(v) != self.dim:
            raise ValueError(f"v must have the dimension {self.dim}, got {len(v)}")
        weights = np.asarray(v, np.float32)
        at = np.flatnonzero(weights)
        if not len(at):
            raise ValueError("v must have a weight that is not zero")
        if weights.ndim != 1:
            raise TypeError(f"v must have one dimension, got {weights.ndim}")
        if not weights.max() < np.inf and np.isposinf(weights).any():  # or not a number
            raise OverflowError("v must have weights in the range of float32")
        return self._sample(at, weights[at], many=False)

    def minhash_many(self, X: Any) -> Sequence[WeightedMinHash | None]:  # noqa: N803
        """Sample each row of a matrix; a row without weights gives None.

        As in datasketch, the numbers are not those of `minhash`.

        Parameters
        ----------
        X
            (n, dim): an array, or a sparse matrix of SciPy.

        Raises
        ------
        TypeError
            `X` is neither.
        ValueError
            It has another shape.
        """
        sparse = hasattr(X, "tocsr")
        if not sparse and not isinstance(X, np.ndarray):
            raise TypeError(f"X must be an array or a sparse matrix, got {type(X).__name__}")
        if not sparse:
            X = np.asarray(X)  # noqa: N806 - a matrix, too
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}")
        if X.shape[1] != self.dim:
            raise ValueError(f"X must have the dimension {self.dim}, got {X.shape[1]}")
        if sparse:
            rows = X.tocsr(copy=True).astype(np.float32)
            rows.sum_duplicates()  # also sorts
            rows.eliminate_zeros()
            ends = rows.indptr
            pairs = [
                (rows.indices[start:stop], rows.data[start:stop]) for start, stop in pairwise(ends)
            ]
        else:
            weights = X.astype(np.float32)
            pairs = [(at := np.flatnonzero(row), row[at]) for row in weights]
        return [self._sample(at, row, many=True) if len(at) else None for at, row in pairs]

    def _sample(
        self, at: NDArray[Any], weights: NDArray[np.float32], many: bool
    ) -> WeightedMinHash:
        """Sample a vector that has `weights` in the dimensions `at`, in order, and else zeros."""
        rs, betas = self.rs[:, at], self.betas[:, at]
        levels = np.floor(np.log(weights) / rs + betas)
        # The two ways round differently.
        if many:
            ln_a = self.ln_cs[:, at] - (levels - betas + 1) * rs
            least = np.argmin(ln_a, axis=1)
        else:
            ln_a = self.ln_cs[:, at] - (levels - betas) * rs - rs
            least = np.nanargmin(ln_a, axis=1)
        hashvalues = np.empty((self.sample_size, 2), int)
        hashvalues[:, 0] = at[least]
        hashvalues[:, 1] = levels[np.arange(self.sample_size), least]
        return WeightedMinHash(self.seed, hashvalues)
