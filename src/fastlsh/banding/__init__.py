"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

from fastlsh.banding.choice import steepest_bands
from fastlsh.banding.params import LSHParams
from fastlsh.banding.text import probability_text

__all__ = [
    "LSHParams",
    "probability_text",
    "steepest_bands",
]
