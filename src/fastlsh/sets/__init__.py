"""Shingle sets of documents, and their similarity."""

from fastlsh.sets.all_at_once import all_sets, offsets_of, places_of
from fastlsh.sets.shingle_sets import ShingleSets
from fastlsh.sets.similarity import estimate_jaccard, exact_jaccard, jaccard

__all__ = [
    "ShingleSets",
    "all_sets",
    "estimate_jaccard",
    "exact_jaccard",
    "jaccard",
    "offsets_of",
    "places_of",
]
