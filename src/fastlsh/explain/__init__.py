"""Why two documents are near-duplicates or not, and what they have in common."""

from fastlsh.explain.compare import explain
from fastlsh.explain.result import Explanation, MatchingSpan

__all__ = ["Explanation", "MatchingSpan", "explain"]
