"""Whether passages are so short that some are equal without having been copied."""

from math import ceil, log2

from fastlsh.errors import warn_caller

BITS = 1.0
"""Bits of information of a character of natural text, in the context of those before it."""


def warn_of_short_passages(min_length: int, units: int) -> None:
    """Warn if passages of a collection are expected to be equal by accident.

    Of n windows, n^2 / 2 pairs may be equal, each with probability 2^(-b * min_length) where a
    unit carries b bits that those before it do not tell: about 1 for a character or a byte of
    natural text (Shannon 1951: 0.6 to 1.3 for English). So n^2 / 2 * 2^(-b * min_length) pairs are
    expected.

    Parameters
    ----------
    min_length
        Units of the shortest passage.
    units
        How many all texts have together.
    """
    if units < 2:
        return
    expected = 2 * log2(units) - 1 - BITS * min_length
    if expected <= 0:
        return
    least = ceil((2 * log2(units) - 1) / BITS)
    warn_caller(
        f"with min_length={min_length}, about {2.0 ** min(expected, 1000):.1e} pairs of passages"
        " are expected to be equal by accident in texts of this size; give"
        f" min_length={least} or more",
        UserWarning,
    )
