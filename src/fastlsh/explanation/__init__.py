"""Why two documents are near-duplicates or not, and what they have in common."""

from fastlsh.explanation.compare import explain
from fastlsh.explanation.result import Explanation, shingles_text, steps
from fastlsh.explanation.spans import MatchingSpan, covered
from fastlsh.explanation.units import Units, units_of

__all__ = [
    "Explanation",
    "MatchingSpan",
    "Units",
    "covered",
    "explain",
    "shingles_text",
    "steps",
    "units_of",
]
