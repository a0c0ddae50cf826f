"""Judges any MinHash library by what theory promises: `check`, with an `Adapter` for it."""

from bench.conformance.adapter import (
    Adapter,
    BandKeys,
    Candidates,
    Estimates,
    Filter,
    Signatures,
)
from bench.conformance.data import Finding, Verdict
from bench.conformance.ours import Fastlsh
from bench.conformance.result import Report
from bench.conformance.running import CHECKS, check

__all__ = [
    "CHECKS",
    "Adapter",
    "BandKeys",
    "Candidates",
    "Estimates",
    "Fastlsh",
    "Filter",
    "Finding",
    "Report",
    "Signatures",
    "Verdict",
    "check",
]
