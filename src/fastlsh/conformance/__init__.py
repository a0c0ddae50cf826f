"""Judges any MinHash library by what theory promises: `check`, with an `Adapter` for it."""

from fastlsh.conformance.adapter import (
    Adapter,
    BandKeys,
    Candidates,
    Estimates,
    Filter,
    Signatures,
)
from fastlsh.conformance.data import Finding, Verdict
from fastlsh.conformance.ours import Fastlsh
from fastlsh.conformance.result import Report
from fastlsh.conformance.running import CHECKS, check

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
