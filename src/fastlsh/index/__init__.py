"""Buckets that fill while documents come."""

from fastlsh.index.keep import Decisions, keep_or_drop

__all__ = ["Decisions", "keep_or_drop"]
