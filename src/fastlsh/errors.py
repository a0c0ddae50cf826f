"""What fastlsh raises and warns of, besides TypeError and ValueError."""

import sys
import warnings

from fastlsh.io import InputError

__all__ = ["InputError", "RecallWarning", "TooManyPairsError"]


class TooManyPairsError(ValueError):
    """The answer would have more pairs than `max_pairs` allows: use `deduplicate`, or raise it."""


class RecallWarning(UserWarning):
    """The parameters work, but many dissimilar pairs will be compared in vain."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of fastlsh that led here."""
    level = 1
    while str(sys._getframe(level).f_globals.get("__name__")).split(".")[0] == "fastlsh":
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
