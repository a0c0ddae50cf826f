"""Buckets that fill while documents come."""

from fastlsh.index.keep import Decisions, keep_or_drop
from fastlsh.index.online import Index

__all__ = ["Decisions", "Index", "keep_or_drop"]
