"""The stages of every search: sign, and decide on what shares buckets."""

from fastlsh.stages.decide import Decisions, keep_or_drop
from fastlsh.stages.sign import Signed

__all__ = ["Decisions", "Signed", "keep_or_drop"]
