"""How an index signs, bands and verifies."""

from dataclasses import dataclass
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.signatures import MinHasher
from fastlsh.stages import hasher_for


@dataclass(frozen=True)
class Settings:
    """The parameters of the search, and the hasher that signs for it."""

    search: SearchParams
    hasher: MinHasher

    @classmethod
    def of(cls, threshold: float, *, threads: int | None, **parameters: Any) -> "Settings":
        """Check the arguments of `Index`; the others are those of `SearchParams.of`."""
        search = SearchParams.of(threshold, **parameters)
        return cls(search, hasher_for(search, RunOptions.of(threads)))

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
        """How to verify, by the number that the kernels have for it."""
        return self.search.verify_mode
