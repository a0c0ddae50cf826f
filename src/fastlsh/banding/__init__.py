"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

from fastlsh.banding.choice import steepest_bands
from fastlsh.banding.params import LSHParams

__all__ = ["LSHParams", "steepest_bands"]
