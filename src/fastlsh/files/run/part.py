"""The part of a stage that one process works on."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Part(NamedTuple):
    """One of several parts of a stage."""

    number: int = 1
    """From 1."""
    of: int = 1

    def share(self, units: Sequence[T]) -> Sequence[T]:
        """Return the units of this part: a stretch of them, so that a file is read once."""
        n = len(units)
        return units[n * (self.number - 1) // self.of : n * self.number // self.of]


ALL = Part()
