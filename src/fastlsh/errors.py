"""What fastlsh raises and warns of, besides TypeError and ValueError; checks of numbers."""

import sys
import warnings
from numbers import Integral, Real
from typing import Any

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


def check_number(value: Any, name: str) -> float:
    """Return an argument as a float, or raise TypeError."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_integer(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return an argument as an int; raise TypeError if it is none, ValueError if out of range."""
    if not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if most is not None and not least <= number <= most:
        raise ValueError(f"{name} must be between {least:,} and {most:,}, got {number}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number
