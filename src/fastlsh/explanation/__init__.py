"""Why two documents are near-duplicates or not, and what they have in common."""

from fastlsh.explanation.compare import explain
from fastlsh.explanation.result import Explanation, MatchingSpan

__all__ = ["Explanation", "MatchingSpan", "explain"]
