"""Probabilities for people."""

import math

from fastlsh.banding.params import LSHParams


def probability_text(params: LSHParams, similarity: float) -> str:
    """Return a probability with as many digits as tell it from 1."""
    missed = params.missed(similarity)
    if missed == 0.0:
        return "1"
    if missed < 1e-7:
        return f"1 - {missed:.0e}"
    return f"{1 - missed:.{max(3, math.ceil(-math.log10(missed)))}f}"
