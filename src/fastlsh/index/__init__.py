"""Buckets that fill while documents come."""

from fastlsh.index.asking import known_documents
from fastlsh.index.memory import PackedTexts, packed
from fastlsh.index.online import Index
from fastlsh.index.publishing import finish_moves, published

__all__ = [
    "Index",
    "PackedTexts",
    "finish_moves",
    "known_documents",
    "packed",
    "published",
]
