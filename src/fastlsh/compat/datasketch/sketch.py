"""The base of all sketches: compare, count, merge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.compat.datasketch.schemes import SCHEMES


class Sketch:
    """Hash values with the scheme and the seed of their functions."""

    scheme: str
    seed: Any
    hashvalues: NDArray[Any]
    __hash__: Any

    def jaccard(self, other: "Sketch") -> float:
        """Estimate the Jaccard similarity to another set: the share of equal hash values.

        Raises
        ------
        ValueError
            The schemes, the seeds or the lengths differ.
        """
        if (
            getattr(other, "scheme", None) != self.scheme
            or other.seed != self.seed
            or len(self) != len(other)
        ):
            raise different("compare", self, other)
        equal = np.count_nonzero(self.hashvalues == other.hashvalues)
        return float(equal) / float(len(self))

    def count(self) -> float:
        """Estimate the number of different elements (Cohen 1994)."""
        shares = self.hashvalues / float(SCHEMES[self.scheme].largest)
        return float(len(self)) / np.sum(shares) - 1.0

    def digest(self) -> NDArray[Any]:
        """Return a copy of the hash values."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Return whether all hash values are those of the empty set."""
        return bool((self.hashvalues == SCHEMES[self.scheme].largest).all())

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Sketch)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    def merge(self, other: "Sketch") -> None:
        """Add the set of another sketch of the same scheme, seed and length."""
        if (
            getattr(other, "scheme", None) != self.scheme
            or other.seed != self.seed
            or len(self) != len(other)
        ):
            raise different("merge", self, other)
        self.hashvalues = np.minimum(other.hashvalues, self.hashvalues)

    def clear(self) -> None:
        """Make the set empty again."""
        self.hashvalues = no_hash_values(self.scheme, len(self))

    @staticmethod
    def _united(sketches: Sequence["Sketch"]) -> NDArray[Any]:
        """Return the hash values of the union of at least two sets."""
        if len(sketches) < 2:
            raise ValueError(f"union needs at least 2 MinHash, got {len(sketches)}")
        first = sketches[0]
        length, seed, scheme = len(first), first.seed, first.scheme
        for one in sketches[1:]:
            if one.seed != seed or len(one) != length or one.scheme != scheme:
                raise different("unite", first, one)
        values: NDArray[Any] = np.minimum.reduce([one.hashvalues for one in sketches])
        return values


def different(verb: str, one: Sketch, other: Sketch) -> ValueError:
    """Return an error that names the difference between two sketches."""
    for name, ours, theirs in (
        ("permutation schemes", one.scheme, getattr(other, "scheme", None)),
        ("seeds", one.seed, getattr(other, "seed", None)),
    ):
        if ours != theirs:
            return ValueError(f"cannot {verb} MinHash with different {name}: {ours}, {theirs}")
    return ValueError(
        f"cannot {verb} MinHash with different numbers of permutation functions: "
        f"{len(one)}, {len(other)}"
    )


def no_hash_values(scheme: str, num_perm: int) -> NDArray[Any]:
    """Return the hash values of the empty set."""
    kind = SCHEMES[scheme]
    return np.full(num_perm, kind.largest, kind.dtype)
