"""`Index`: documents can be added, removed and looked up at any time."""

from fastlsh.index.api import Index, found_texts, known_documents
from fastlsh.index.memory import IndexDocuments, PackedTexts, packed
from fastlsh.index.publishing import (
    exists,
    finish_outputs,
    forget,
    location_of,
    published,
    shown,
)
from fastlsh.index.redis import is_address

__all__ = [
    "Index",
    "IndexDocuments",
    "PackedTexts",
    "exists",
    "finish_outputs",
    "forget",
    "found_texts",
    "is_address",
    "known_documents",
    "location_of",
    "packed",
    "published",
    "shown",
]
