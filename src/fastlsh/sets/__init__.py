"""Shingle sets of documents, and their similarity."""

from fastlsh.sets.packed import estimate_jaccard_packed, pack_signatures
from fastlsh.sets.shingle_sets import ShingleSets
from fastlsh.sets.similarity import containment, estimate_jaccard, exact_jaccard, jaccard
from fastlsh.sets.sorted_sets import all_sets, set_sizes

__all__ = [
    "ShingleSets",
    "all_sets",
    "containment",
    "estimate_jaccard",
    "estimate_jaccard_packed",
    "exact_jaccard",
    "jaccard",
    "pack_signatures",
    "set_sizes",
]
