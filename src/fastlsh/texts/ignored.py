"""Shingles that are ignored: those of texts that everybody shares, such as a question sheet."""

from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.keyed import Key

HASHED_AS = {"token": "word"}
"""Token ids are hashed as words of their digits; every other unit in its own way."""


class IgnoredShingles:
    """The hashes of shingles that belong to the set of no document.

    `Shingler.ignoring` makes them of texts. They are equal if their hashes are, and they cannot be
    changed.

    Attributes
    ----------
    hashes : ndarray of uint64, shape (n,)
        Different hashes, ascending.
    unit : str
        The unit of the shingles: "char", "byte" or "word", which stands for "token", too.
    size : int
        Units per shingle.
    fingerprint : str or None
        That of the key with which the shingles were hashed.
    """

    def __init__(
        self, hashes: NDArray[np.uint64], unit: str, size: int, fingerprint: str | None
    ) -> None:
        self.hashes = unique(hashes)
        self.hashes.flags.writeable = False
        self.unit = HASHED_AS.get(unit, unit)
        self.size = size
        self.fingerprint = fingerprint

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        return f"<IgnoredShingles {len(self)}, {self.digest}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IgnoredShingles) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return IgnoredShingles, (self.hashes, self.unit, self.size, self.fingerprint)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits, by which the hashes are recognised: of their SHA-256."""
        return sha256(self.hashes.astype("<u8").tobytes()).hexdigest()[:32]


def check_ignored(ignored: Any, unit: str, size: int, key: Key | None) -> None:
    """Raise if an argument is no `IgnoredShingles`, or if texts are hashed in another way."""
    if not isinstance(ignored, IgnoredShingles):
        raise TypeError(
            "ignored must be IgnoredShingles, which Shingler.ignoring makes of texts, got"
            f" {type(ignored).__name__}"
        )
    wanted = HASHED_AS.get(unit, unit), size, key.fingerprint if key else None
    if wanted != (ignored.unit, ignored.size, ignored.fingerprint):
        raise ValueError(
            "ignored: these shingles have another unit, size or key than the shingles of the"
            " texts: set ignored=None, and give the texts that everybody shares as ignore="
            " instead"
        )
