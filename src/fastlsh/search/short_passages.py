"""Whether passages are so short that some are equal without having been copied."""

from math import ceil, log2

from fastlsh.errors import warn_caller

BITS = {"char": 1.0, "byte": 1.0, "word": 5.0}
"""Bits of information of a unit of natural text, in the context of those before it."""

PER_WORD = 6
"""Characters of a word of natural text with the space behind it."""


def warn_of_short_passages(min_length: int, characters: int, unit: str) -> None:
    """Warn if passages of a collection are expected to be equal by accident.

    Of n windows, n^2 / 2 pairs may be equal, each with probability 2^(-b * min_length) where a
    unit carries b bits that those before it do not tell: about 1 for a character or a byte of
    natural text (Shannon 1951: 0.6 to 1.3 for English), and 5 for a word. So
    n^2 / 2 * 2^(-b * min_length) pairs are expected.

    Parameters
    ----------
    min_length
        Units of the shortest passage.
    characters
        How many all texts have together.
    unit
        Of a `Shingler`: what `min_length` counts.
    """
    units = characters // (PER_WORD if unit == "word" else 1)
    bits = BITS[unit]
    if units < 2:
        return
    expected = 2 * log2(units) - 1 - bits * min_length
    if expected <= 0:
        return
    least = ceil((2 * log2(units) - 1) / bits)
    warn_caller(
        f"with min_length={min_length}, about {2.0 ** min(expected, 1000):.1e} pairs of passages"
        " are expected to be equal by accident in texts of this size; give"
        f" min_length={least} or more",
        UserWarning,
    )
