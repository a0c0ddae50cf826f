"""`Index`: documents can be added, removed and looked up at any time."""

from fastlsh.index.api import Index, found_texts, known_documents
from fastlsh.index.documents import IndexDocuments, PackedTexts, packed
from fastlsh.index.opening import NewIndex as NewIndex
from fastlsh.index.opening import check_kept_texts, check_new_index, new_index
from fastlsh.index.publishing import (
    check_counted,
    count_of_names,
    exists,
    finish_outputs,
    forget,
    location_of,
    published,
    shown,
)
from fastlsh.index.redis.server import is_address
from fastlsh.index.settings import refusal_of_id
from fastlsh.index.stored_counts import Arrivals, Counted

__all__ = [
    "Arrivals",
    "Counted",
    "Index",
    "IndexDocuments",
    "PackedTexts",
    "check_counted",
    "check_kept_texts",
    "check_new_index",
    "count_of_names",
    "exists",
    "finish_outputs",
    "forget",
    "found_texts",
    "is_address",
    "known_documents",
    "location_of",
    "new_index",
    "packed",
    "published",
    "refusal_of_id",
    "shown",
]
