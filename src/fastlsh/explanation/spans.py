"""From shingles to spans of the texts."""

import numpy as np
from numpy.typing import NDArray

from fastlsh.explanation.data import MatchingSpan
from fastlsh.explanation.matching import Pairing
from fastlsh.explanation.units import Units


def covered(units: Units, shared: NDArray[np.bool_], size: int) -> list[tuple[int, int]]:
    """Return the spans of a text that at least one of the shared shingles covers.

    Parameters
    ----------
    units
        Of the document.
    shared : ndarray of bool
        For each of its shingles, whether the other document has it.
    size
        Units in a shingle.
    """
    at = np.flatnonzero(shared)
    if not len(at):
        return []
    start, stop = units.start[at], units.stop[np.minimum(at + size, len(units)) - 1]
    # Shingles that overlap or touch make one span; so do shingles whose units share a character.
    begins = np.flatnonzero((at[1:] > at[:-1] + size) & (start[1:] > stop[:-1])) + 1
    first = np.concatenate([[0], begins])
    last = np.concatenate([begins, [len(at)]]) - 1
    return list(zip(start[first].tolist(), stop[last].tolist(), strict=True))


def matching_spans(a: Units, b: Units, pairing: Pairing, size: int) -> list[MatchingSpan]:
    """Return the spans of the runs of paired shingles."""
    return [
        MatchingSpan(
            int(a.start[run.a]),
            int(a.stop[min(run.a + run.length - 1 + size, len(a)) - 1]),
            int(b.start[run.b]),
            int(b.stop[min(run.b + run.length - 1 + size, len(b)) - 1]),
        )
        for run in pairing.runs()
    ]
