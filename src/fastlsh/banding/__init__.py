"""Bands and rows: the chance that a pair becomes a candidate, and choosing it."""

from fastlsh.banding.choice import (
    least_error,
    least_weighted_area,
    longer_signature,
    steepest_bands,
)
from fastlsh.banding.containment import (
    ASKS,
    BOTH,
    OFFERS,
    Partition,
    containment_bandings,
    indexed,
    of_band,
    partitions_of,
    slices_of,
    steps_of,
)
from fastlsh.banding.curve import quadrature
from fastlsh.banding.params import LSHParams, given_bands, probability_text
from fastlsh.banding.tuning import Tuning, tune

__all__ = [
    "ASKS",
    "BOTH",
    "OFFERS",
    "LSHParams",
    "Partition",
    "Tuning",
    "containment_bandings",
    "given_bands",
    "indexed",
    "least_error",
    "least_weighted_area",
    "longer_signature",
    "of_band",
    "partitions_of",
    "probability_text",
    "quadrature",
    "slices_of",
    "steepest_bands",
    "steps_of",
    "tune",
]
