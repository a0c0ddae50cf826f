"""How an index signs, bands and verifies."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fastlsh._kernels import BY_TEXTS
from fastlsh.banding import LSHParams
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.signatures import MinHasher
from fastlsh.stages import hasher_for

TEXTS = "texts"
"""The index keeps normalised texts, which are hashed again when they are compared."""
SETS = "sets"
"""The index keeps sets of shingle hashes, 8 bytes each, because a function makes the tokens."""


@dataclass(frozen=True)
class Settings:
    """The parameters of the search, and the hasher that signs for it."""

    search: SearchParams
    hasher: MinHasher

    @classmethod
    def of(cls, threshold: float, *, threads: int | None, **parameters: Any) -> "Settings":
        """Check the arguments of `Index`; the others are those of `SearchParams.of`."""
        return cls.over(SearchParams.of(threshold, **parameters), threads)

    @classmethod
    def over(cls, search: SearchParams, threads: int | None) -> "Settings":
        """Return the settings of parameters that were checked before."""
        return cls(search, hasher_for(search, RunOptions.of(threads)))

    @cached_property
    def keeps(self) -> str:
        """What is kept for exact verification: `TEXTS`, `SETS`, or "" if nothing is needed."""
        if self.search.verify != "exact":
            return ""
        return TEXTS if self.search.shingler.tokenizer is None else SETS

    @cached_property
    def unverified(self) -> "Settings":
        """The same settings without verification: every document that shares a bucket is found."""
        return replace(self, search=replace(self.search, verify="none"))

    @property
    def threshold(self) -> float:
        """The least similarity of what is found."""
        return self.search.threshold

    @property
    def params(self) -> LSHParams:
        """Bands and rows."""
        return self.search.lsh

    @property
    def verify(self) -> int:
        """The kernels' number for the kind of verification."""
        return BY_TEXTS if self.keeps == TEXTS else self.search.verify_mode
