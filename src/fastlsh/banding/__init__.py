"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

from fastlsh.banding.choice import check_num_perm, check_threshold, steepest_bands
from fastlsh.banding.params import LSHParams
from fastlsh.banding.text import probability_text

__all__ = [
    "LSHParams",
    "check_num_perm",
    "check_threshold",
    "probability_text",
    "steepest_bands",
]
