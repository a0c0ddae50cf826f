"""What the main functions return."""

from fastlsh.results.deduplication import Deduplication
from fastlsh.results.pairs import Pairs

__all__ = ["Deduplication", "Pairs"]
