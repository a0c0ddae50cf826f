"""What fastlsh raises and warns of, besides TypeError and ValueError."""

from fastlsh.io import InputError

__all__ = ["InputError", "RecallWarning", "TooManyPairsError"]


class TooManyPairsError(ValueError):
    """The answer would have more pairs than `max_pairs` allows: use `deduplicate`, or raise it."""


class RecallWarning(UserWarning):
    """The parameters work, but many dissimilar pairs will be compared in vain."""
