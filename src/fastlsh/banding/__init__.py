"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

from fastlsh.banding.choice import longer_signature, steepest_bands
from fastlsh.banding.containment import containment_bandings
from fastlsh.banding.curve import quadrature
from fastlsh.banding.least import least_error, least_weighted_area
from fastlsh.banding.params import LSHParams
from fastlsh.banding.text import probability_text
from fastlsh.banding.tuning import Tuning, tune

__all__ = [
    "LSHParams",
    "Tuning",
    "containment_bandings",
    "least_error",
    "least_weighted_area",
    "longer_signature",
    "probability_text",
    "quadrature",
    "steepest_bands",
    "tune",
]
