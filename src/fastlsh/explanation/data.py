"""What an `Explanation` consists of: plain data, which all that shows it takes."""

from dataclasses import dataclass
from typing import NamedTuple

from fastlsh.banding import LSHParams
from fastlsh.texts import Shingler


class MatchingSpan(NamedTuple):
    """A run that two texts share: ``a[a_start:a_stop]`` and ``b[b_start:b_stop]``."""

    a_start: int
    a_stop: int
    b_start: int
    b_stop: int


@dataclass(frozen=True)
class ExplanationData:
    """The fields of an `Explanation`, where each is described, and what follows from them."""

    a: str | bytes
    b: str | bytes
    original: bool
    shingler: Shingler
    threshold: float
    params: LSHParams
    num_perm: int
    seed: int
    scheme: str
    shingles_a: int
    shingles_b: int
    shared: int
    estimate: float
    matching_bands: list[int]
    spans: list[MatchingSpan]
    covered_a: list[tuple[int, int]]
    covered_b: list[tuple[int, int]]

    @property
    def similarity(self) -> float:
        """The exact Jaccard similarity of the sets of shingles."""
        return _share(self.shared, self.shingles_a + self.shingles_b - self.shared)

    @property
    def containment_a(self) -> float:
        """The share of a's shingles that b has."""
        return _share(self.shared, self.shingles_a)

    @property
    def containment_b(self) -> float:
        """The share of b's shingles that a has."""
        return _share(self.shared, self.shingles_b)

    @property
    def probability(self) -> float:
        """The probability that a pair of this similarity is found."""
        return self.params.probability(self.similarity)

    @property
    def found(self) -> bool:
        """Whether any band matches: the two are compared."""
        return bool(self.matching_bands)

    @property
    def is_duplicate(self) -> bool:
        """Whether the similarity reaches the threshold."""
        return self.similarity >= self.threshold


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
