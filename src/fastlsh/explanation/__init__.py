"""Why two documents are near-duplicates or not, and what they have in common."""

from fastlsh.explanation.compare import explain, ignored_stretches
from fastlsh.explanation.result import Explanation, shingles_text, steps
from fastlsh.explanation.spans import MatchingSpan, covered
from fastlsh.explanation.units import Units, units_of

__all__ = [
    "Explanation",
    "MatchingSpan",
    "Units",
    "covered",
    "explain",
    "ignored_stretches",
    "shingles_text",
    "steps",
    "units_of",
]
