"""Buckets that fill while documents come."""

from fastlsh.index.online import Index

__all__ = ["Index"]
